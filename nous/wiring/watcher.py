"""Who sweeps folders for sessions of which nobody has told, of a world that is built."""

import socket
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid5

import structlog

from nous.bus.base import Lane
from nous.bus.keys import BusKeys
from nous.course import IDLE
from nous.events import NAMESPACE
from nous.runtime.publish import About
from nous.runtime.watch import HandOver, Journal, Told, Watcher
from nous.runtime.watching import Rules, Sent
from nous.scope import Scope
from nous.store.keys import StoreKeys
from nous.store.redis_watched import RedisWatched
from nous.store.watched import Place, Untouched, Watched
from nous.wiring.producer import producer_of
from nous.wiring.world import World

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
