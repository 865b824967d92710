"""What runs in a worker process, of a world that is built."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial
from secrets import token_hex

from nous.app.container import World
from nous.app.from_settings import deadline_of
from nous.bus.redis.keys import BusKeys
from nous.bus.redis.trimming import RedisTrimming
from nous.domain.events import EpisodeOutdated, SessionTouched, kinds
from nous.jobs.base import Line
from nous.jobs.rq.pool_worker import PoolWorker
from nous.jobs.rq.queue import queue_named
from nous.redis_server.safety_check import dangers
from nous.runtime.dispatch_loop import Clerk, Dispatcher
from nous.runtime.maintenance import Auditor, Housekeeper, Tender, Upgrader
from nous.runtime.sweeper import Sweeper
from nous.runtime.worker_process import Fleet, Post
from nous.services.session_lifecycle import Finisher

SESSION_KEEPER = "session-keeper"
EPISODE_SUMMARIZER = "episode-summarizer"


def finisher(world: World) -> Finisher:
    return Finisher(
        kit=world.kit,
        bus=world.bus,
        ledger=world.ledger,
        dead=world.dead,
        touches=world.subscription(SESSION_KEEPER),
        ends=world.subscription(EPISODE_SUMMARIZER),
        idle=timedelta(seconds=world.settings.sessions.idle),
    )


_SWEEPS = 12
"""Sweeps between two looks at the accounts: a minute, as they are set if nobody says otherwise."""
_SELDOM = 12
"""Looks for idle sessions, at least, between two for what was left lying: all dead letters are read for that."""
_TIDY = 3600.0
"""Seconds between two looks at what is old enough to go."""


def fleet(
    world: World, names: Iterable[str], *, open_quarantine: Callable[[str], None], also: Iterable[Post] = ()
) -> Fleet:
    """What runs the named workers in this process, and what is to run beside them.

    Raises:
        NotFound: one of them does not exist.
        Misconfigured: the model that is set cannot be asked.
    """
    world.check_model()
    posts: list[Post] = [*also]
    subscriptions = [world.subscription(name) for name in names]
    for name in (each.group for each in subscriptions):
        posts += [clerk(world, name, open_quarantine=open_quarantine), pool(world, name)]
        posts += [*upgraders(world, name), *tenders(world, name)]
    sweep = world.settings.worker.sweep_interval
    found = tuple if world.settings.allow_unsafe_redis else partial(dangers, world.client)
    posts.append(Auditor(subscriptions, ledger=world.ledger, interval=_SWEEPS * sweep, again=2 * sweep, dangers=found))
    return Fleet([*posts, housekeeper(world)], last=[world.leases])


def housekeeper(world: World) -> Housekeeper:
    """Who bounds the streams, of whichever workers."""
    settings = world.settings
    trimming = RedisTrimming(world.client, BusKeys(settings.prefix), subscriptions=world.subscriptions)
    return Housekeeper(trimming, kinds=kinds().values(), keep=settings.retention.events, interval=_TIDY)


def upgraders(world: World, name: str) -> Iterator[Upgrader]:
    """Who offers episodes to a model, beside the worker *name* that has it make them anew."""
    author, settings = world.kit.author, world.settings
    if author and settings.llm.upgrade and world.subscription(name).kind is EpisodeOutdated:
        yield Upgrader(
            world.subscription(name),
            kit=world.kit,
            bus=world.bus,
            ledger=world.ledger,
            by=author.by,
            ahead=settings.worker.queue_ahead,
            interval=settings.worker.sweep_interval,
        )


def tenders(world: World, name: str) -> Iterator[Tender]:
    """Who looks after sessions that nobody ends, beside the worker *name* that notes how far they come."""
    if world.subscription(name).kind is SessionTouched:
        interval, idle = world.settings.worker.sweep_interval, world.settings.sessions.idle
        yield Tender(finisher(world), interval=interval, recover_every=max(interval * _SELDOM, idle))


def clerk(world: World, name: str, *, open_quarantine: Callable[[str], None]) -> Clerk:
    subscription, settings = world.subscription(name), world.settings.worker
    return Clerk(
        name,
        dispatcher=Dispatcher(
            subscription, bus=world.bus, jobs=world.jobs, ahead=settings.queue_ahead, lease=settings.lease
        ),
        sweeper=Sweeper(
            subscription, bus=world.bus, jobs=world.jobs, patience=world.patience, ahead=settings.queue_ahead
        ),
        jobs=world.jobs,
        sweep_interval=settings.sweep_interval,
        open_quarantine=open_quarantine,
    )


def pool(world: World, name: str) -> PoolWorker:
    settings, known_as = world.settings.worker, world.job_names.own(name)
    return PoolWorker(
        [queue_named(line.queue(known_as), world.rq_client) for line in (Line.LIVE, Line.BULK)],
        # A container that is started again has the same host and pid as the one that died a moment ago.
        name=f"{known_as}-{socket.gethostname()}-{os.getpid()}-{token_hex(2)}",
        connection=world.rq_client,
        runner=world.attempts,
        concurrency=settings.concurrency,
        # The lease that was renewed at its deadline has ended by then, and its event is another attempt's.
        give_up_after=deadline_of(world.settings) + settings.lease,
    )
