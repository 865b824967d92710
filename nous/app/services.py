"""Build the services that erase and redact data, publish sessions and watch folders."""

import socket
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from uuid import uuid4

import structlog

from nous.app.container import Container
from nous.bus.base import Priority
from nous.bus.redis.erasure import RedisBusErasure
from nous.domain.errors import Misconfigured
from nous.domain.events import EpisodesUnembedded, FactsUnembedded, SessionEvent
from nous.domain.scope import Scope
from nous.domain.session_state import IDLE
from nous.embedding.base import present
from nous.jobs.rq.queue import RqErasure
from nous.knowledge.decision import unembedded
from nous.services.erasure import Eraser, Stores
from nous.services.folder_watch import FolderWatcher, Progress, PublishFile, Told
from nous.services.publisher import Producer
from nous.services.redaction import StoredRedactor
from nous.services.session_intake import SessionMetadata
from nous.store.redis.erasure import RedisErasure
from nous.store.redis.transcripts import RedisFolderState, WatchedFolder


def erasable_stores(container: Container) -> Stores:
    return Stores(
        tombstones=container.tombstones,
        bus=RedisBusErasure(container.client, container.bus_keys),
        jobs=RqErasure(container.rq_client, container.job_names),
        store=RedisErasure(container.client, container.store_keys),
        responses=container.llm_stores.responses,
    )


def eraser(container: Container) -> Eraser:
    def embed_late(scope: Scope) -> None:
        """Queue the embedding of facts that an erasure has reworded or re-attributed."""
        state = f"{container.memory.facts.read(scope, embedder='none').version} {container.memory.embedder.id}"
        container.bus.publish(unembedded(FactsUnembedded, scope, state=state, at=container.clock()))

    return Eraser(erasable_stores(container), clock=container.clock, on_rewritten=embed_late)


def stored_redactor(container: Container) -> StoredRedactor:
    """Return the redactor of stored records. Raises `Misconfigured` if redaction is off."""
    if not container.settings.redact.enabled:
        raise Misconfigured("redact.enabled is false, so nothing counts as a secret: set it to true")
    count = partial(container.redactions.count, "stored")
    return StoredRedactor(stores=erasable_stores(container), redactor=container.redaction.redactor, count=count)


def embed_missing(container: Container, scope: Scope, *, dry_run: bool = False) -> tuple[int, int]:
    """Queue the facts and episodes of *scope* that lack a vector; return their numbers."""
    memory, at = container.memory, container.clock()
    with memory.fact_cache.current(memory.facts, scope, present(memory.embedder)) as knowledge:
        facts = sum(1 for _ in knowledge.without_vector())
    episodes = len(memory.episodes.without_vector(scope, embedder=memory.embedder.id))
    # Each request gets a new id: workers that still had another embedder may have skipped one for the same facts.
    request = str(uuid4())
    if facts and not dry_run:
        container.bus.publish(unembedded(FactsUnembedded, scope, state=request, at=at))
    if episodes and not dry_run:
        container.bus.publish(unembedded(EpisodesUnembedded, scope, state=request, at=at), priority=Priority.BULK)
    return facts, episodes


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


def watcher(
    container: Container,
    folders: Iterable[Path],
    *,
    told: Told,
    upload: bool = False,
    dry_run: bool = False,
    after: float = 0.0,
    progress: Progress = iter,
) -> FolderWatcher:
    """Return the watcher that publishes sessions in *folders* written after the time *after*.

    With *upload* it uploads the contents of the files, too. For a *dry_run* it reports what it would publish, but reads
    no file and stores nothing.
    """
    settings = container.settings.watch
    scope, host = Scope.parse(settings.scope or "default"), socket.gethostname()
    return FolderWatcher(
        [WatchedFolder(scope, host, folder.resolve()) for folder in dict.fromkeys(folders)],
        watched=RedisFolderState(container.client, container.store_keys, bus_keys=container.bus_keys),
        hand_over=None if dry_run else _publishing(container, upload=upload),
        idle=container.settings.sessions.idle,
        since=settings.since,
        after=after,
        clock=time.time,
        interval=settings.interval,
        told=told,
        progress=progress,
    )


def _publishing(container: Container, *, upload: bool) -> PublishFile:
    producer = producer_of(container)
    named = container.settings.watch.scope
    about = SessionMetadata(scope=Scope.parse(named) if named else None, reason=IDLE)
    return lambda path, priority: producer.publish(path, about, upload=upload, priority=priority, warn=_log.warning)
