"""Who sweeps folders for sessions of which nobody has told, of a world that is built."""

import socket
import time
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid5

import structlog

from nous.app.container import World, build
from nous.bus.base import Lane
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.domain.events import NAMESPACE, SessionEvent
from nous.domain.scope import Scope
from nous.domain.session_state import IDLE
from nous.facts.events import unembedded
from nous.jobs.rq.erasure import RqErasure
from nous.llm.redis.keys import LlmKeys
from nous.llm.redis.state import RedisPins
from nous.services.erasure import Forgetter
from nous.services.erasure_targets import Stores
from nous.services.folder_watch import HandOver, Journal, Told, Watcher
from nous.services.folder_watch_rules import Rules, Sent
from nous.services.publisher import Producer
from nous.services.session_intake import About
from nous.settings import load_settings
from nous.store.folder_state import Place, Untouched, Watched
from nous.store.keys import StoreKeys
from nous.store.redis.erasure import RedisErasure
from nous.store.redis.folder_state import RedisWatched


def stores_of(world: World) -> Stores:
    """All places in which something may have to be forgotten."""
    prefix, retention = world.settings.prefix, world.settings.retention
    return Stores(
        tombstones=world.tombstones,
        bus=RedisBusErasure(world.client, BusKeys(prefix), marker_ttl=retention.marker_ttl),
        jobs=RqErasure(world.rq_client, world.job_names),
        store=RedisErasure(world.client, StoreKeys(prefix)),
        pins=RedisPins(world.client, LlmKeys(prefix), answer_ttl=retention.answer_ttl),
        indexes=world.kit.memory.indexes,
    )


def forgetter(world: World) -> Forgetter:
    """Who removes what was learned, from all places."""

    def mend(scope: Scope) -> None:
        """Have workers embed the facts that are told in other words now, or whose turn went with a session."""
        state = f"{world.kit.facts.read(scope, embedder='none').version} {world.kit.embedder.id}"
        world.bus.publish(unembedded(scope, state=state, at=world.kit.clock()))

    return Forgetter(stores_of(world), clock=world.kit.clock, on_rewritten=mend)


def producer_of(world: World) -> Producer:
    readers = [each for each in world.subscriptions if issubclass(each.kind, SessionEvent)]
    return Producer(world.bus, world.ledger, world.dead, world.handover, readers=readers, tombstones=world.tombstones)


@cache
def default_producer() -> Producer:
    """The producer for the settings of this process; one connection serves every call."""
    return producer_of(build(load_settings()))


_log = structlog.stdlib.get_logger(__name__)


def watcher(world: World, *, told: Told, upload: bool = False) -> Watcher:
    """Who hands over what lies in the folders that are set, and with *upload* sends along what the files say."""
    return _watcher(world, watched=_watched(world), hand_over=_handing_over(world, upload=upload), told=told)


def onlooker(world: World, *, told: Told) -> Watcher:
    """Who only says what would be handed over: no file is read, and nothing is remembered."""
    return _watcher(world, watched=Untouched(_watched(world)), hand_over=_not_now, told=told)


def watchers(world: World) -> Iterator[Watcher]:
    """Who sweeps the folders that are set, and logs it, if any are."""
    if world.settings.watch.folders:
        yield watcher(world, told=Journal())


def _watcher(world: World, *, watched: Watched, hand_over: HandOver, told: Told) -> Watcher:
    settings = world.settings.watch
    scope, host = Scope.parse(settings.scope), socket.gethostname()
    return Watcher(
        [Place(scope, host, folder.resolve()) for folder in dict.fromkeys(settings.folders)],
        watched=watched,
        hand_over=hand_over,
        rules=Rules(idle=world.settings.sessions.idle, since=settings.since, release=_release()),
        clock=time.time,
        interval=settings.interval,
        told=told,
    )


def _watched(world: World) -> RedisWatched:
    prefix = world.settings.prefix
    return RedisWatched(world.client, StoreKeys(prefix), bus_keys=BusKeys(prefix))


def _handing_over(world: World, *, upload: bool) -> HandOver:
    """Publishes as `nous publish` does, so that what a hook has told of too is the same event."""
    producer, about = producer_of(world), About(scope=Scope.parse(world.settings.watch.scope), reason=IDLE)

    def hand_over(path: Path, *, lane: Lane) -> Iterator[Sent]:
        for each in producer.publish(path, about, upload=upload, lane=lane, warn=_log.warning):
            yield Sent(each.event.session_id, each.event.id, each.receipt.fresh)

    return hand_over


def _not_now(path: Path, *, lane: Lane) -> Iterator[Sent]:
    del lane
    yield Sent(path.name, uuid5(NAMESPACE, path.name), is_new=True)


def _release() -> str:
    """Which release of nous this is; of a copy that nobody has installed, it cannot be told."""
    try:
        return version("nous")
    except PackageNotFoundError:
        return "unknown"
