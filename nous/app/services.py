"""Build the application services: eraser, producer and folder watchers."""

import socket
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import structlog

from nous.app.container import Container
from nous.bus.base import Priority
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.events import SessionEvent
from nous.domain.scope import Scope
from nous.domain.session_state import IDLE
from nous.jobs.rq.erasure import RqErasure
from nous.knowledge.decision import unembedded
from nous.llm.state import LlmKeys, ResponseStore
from nous.services.erasure import Eraser
from nous.services.erasure_targets import Stores
from nous.services.folder_watch import FolderWatcher, PublishFile, SweepLog, Told, WatchRules
from nous.services.publisher import Producer, Published
from nous.services.session_intake import SessionMetadata
from nous.store.folder_state import WatchedFolder
from nous.store.keys import StoreKeys
from nous.store.redis.erasure import RedisErasure
from nous.store.redis.transcripts import RedisFolderState


def erasable_stores(container: Container) -> Stores:
    """Return every store that may hold erasable data."""
    prefix, retention = container.settings.prefix, container.settings.retention
    return Stores(
        tombstones=container.tombstones,
        bus=RedisBusErasure(container.client, BusKeys(prefix)),
        jobs=RqErasure(container.rq_client, container.job_names),
        store=RedisErasure(container.client, StoreKeys(prefix)),
        responses=ResponseStore(container.client, LlmKeys(prefix), answer_ttl=retention.answer_ttl),
        indexes=container.memory.fact_cache.indexes,
    )


def eraser(container: Container) -> Eraser:
    """Return the service that erases learned data from every store."""

    def embed_late(scope: Scope) -> None:
        """Queue the embedding of facts that an erasure has reworded or re-attributed."""
        state = f"{container.memory.facts.read(scope, embedder='none').version} {container.memory.embedder.id}"
        container.bus.publish(unembedded(scope, state=state, at=container.clock()))

    return Eraser(erasable_stores(container), clock=container.clock, on_rewritten=embed_late)


def producer_of(container: Container) -> Producer:
    readers = [each for each in container.subscriptions if issubclass(each.kind, SessionEvent)]
    return Producer(
        container.bus,
        container.delivery_stats,
        container.dead_letters,
        container.session_intake,
        readers=readers,
        tombstones=container.tombstones,
    )


_log = structlog.stdlib.get_logger(__name__)


def watcher(container: Container, *, told: Told, upload: bool = False) -> FolderWatcher:
    """Return the watcher that publishes sessions from the configured folders.

    With *upload* it uploads the contents of the files, too.
    """
    return _watcher(container, hand_over=_publishing(container, upload=upload), told=told)


def read_only_watcher(container: Container, *, told: Told) -> FolderWatcher:
    """Return a watcher for a dry run.

    It reports what it would publish, but reads no file and stores nothing.
    """
    return _watcher(container, hand_over=None, told=told)


def watchers(container: Container) -> Iterator[FolderWatcher]:
    """Yield the watcher of the configured folders, if there are any; it logs its sweeps."""
    if container.settings.watch.folders:
        yield watcher(container, told=SweepLog())


def _watcher(container: Container, *, hand_over: PublishFile | None, told: Told) -> FolderWatcher:
    settings = container.settings.watch
    scope, host, prefix = Scope.parse(settings.scope), socket.gethostname(), container.settings.prefix
    return FolderWatcher(
        [WatchedFolder(scope, host, folder.resolve()) for folder in dict.fromkeys(settings.folders)],
        watched=RedisFolderState(container.client, StoreKeys(prefix), bus_keys=BusKeys(prefix)),
        hand_over=hand_over,
        rules=WatchRules(idle=container.settings.sessions.idle, since=settings.since, release=_release()),
        clock=time.time,
        interval=settings.interval,
        told=told,
    )


def _publishing(container: Container, *, upload: bool) -> PublishFile:
    """Return a function that publishes a file as `nous publish` does.

    Event ids are the same, so a session that a hook has published, too, is deduplicated.
    """
    producer, about = (
        producer_of(container),
        SessionMetadata(scope=Scope.parse(container.settings.watch.scope), reason=IDLE),
    )

    def hand_over(path: Path, priority: Priority) -> Iterator[Published]:
        return producer.publish(path, about, upload=upload, priority=priority, warn=_log.warning)

    return hand_over


def _release() -> str:
    """Return the installed version of nous.

    "unknown" for a copy that is not installed.
    """
    try:
        return version("nous")
    except PackageNotFoundError:
        return "unknown"
