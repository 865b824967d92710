"""The world, connected. Everybody else is handed what they need."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pkgutil import iter_modules

import redis

import workers
from nous.app.from_settings import deadline_of, embedder, excerpts, indexes_of, patience_of, policy
from nous.app.llm import Mind, ModelBooks, books_of, matter, mind_of
from nous.bus.accounting import DeadLetters, Ledger
from nous.bus.base import Bus, Subscription
from nous.bus.delivery_state import Patience
from nous.bus.redis.accounting import RedisLedger
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.dead_letters import RedisDeadLetters
from nous.bus.redis.erasure import RedisTombstones
from nous.bus.redis.keys import BusKeys
from nous.bus.tombstones import Tombstones
from nous.domain.errors import NotAllowed, NotFound
from nous.domain.events import SessionEvent
from nous.embedding.cache import Remembered
from nous.jobs.base import JobNames, Jobs
from nous.jobs.rq.queue import RqJobs
from nous.pipeline.worker import Kit, Worker
from nous.redis_server.client import connect, connect_rq
from nous.redis_server.safety_check import refuse_unsafe
from nous.runtime.attempt import Attempts
from nous.runtime.lease_renewal import LeaseKeeper
from nous.services.session_intake import Handover
from nous.settings.model import Settings
from nous.store.fact_cache import FactMemory
from nous.store.keys import StoreKeys
from nous.store.redis.calibrations import RedisCalibrations
from nous.store.redis.decisions import RedisDecisions
from nous.store.redis.episodes import RedisEpisodes
from nous.store.redis.fact_log import RedisFactLog
from nous.store.redis.plans import plan_for
from nous.store.redis.sessions import RedisAnchors, RedisCourses
from nous.store.redis.uploads import RedisUploads
from nous.store.transcript_source import StoredTranscripts, Uploads, upload_of

DECISION_KEEPER = "decision-keeper"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything there is, connected."""

    settings: Settings
    client: redis.Redis
    rq_client: redis.Redis
    workers: Mapping[str, Worker]
    bus: Bus
    ledger: Ledger
    dead: DeadLetters
    tombstones: Tombstones
    jobs: Jobs
    kit: Kit
    handover: Handover
    patience: Patience
    leases: LeaseKeeper
    attempts: Attempts
    model_books: ModelBooks
    mind: Mind
    calibrations: RedisCalibrations

    def check_model(self) -> None:
        """Raises `Misconfigured` where a model is set that cannot be asked: who works without it would do so unseen."""
        if self.mind.problem:
            raise self.mind.problem

    def subscription(self, worker: str) -> Subscription:
        """Raises `NotFound` when there is no such worker."""
        if worker not in self.workers:
            raise NotFound(f"there is no worker {worker!r}; there are {', '.join(sorted(self.workers))}")
        return Subscription(worker, self.workers[worker].consumes)

    @property
    def job_names(self) -> JobNames:
        return JobNames(self.settings.prefix)

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        return tuple(self.subscription(name) for name in self.workers)


def build(settings: Settings, *, also: Iterable[Worker] = ()) -> World:
    """Connect to the server that *settings* name, starting an embedded one if need be, and build the world on it.

    *also* are workers beside those that are found in the package `workers`.

    Raises:
        Misconfigured: the server, its configuration or the settings do not do.
        Unavailable: the server does not answer.
    """
    client, rq_client = connect(settings), connect_rq(settings)
    refuse_unsafe(client, allow=settings.allow_unsafe_redis)
    found = discover() | {worker.name: worker for worker in also}
    bus_keys, store_keys = BusKeys(settings.prefix), StoreKeys(settings.prefix)
    bus = _bus(client, settings, found.values(), bus_keys=bus_keys, store_keys=store_keys)
    uploads = RedisUploads(client)
    books, clock = books_of(client, settings), partial(datetime.now, UTC)
    mind = mind_of(settings, books, excerpts=excerpts(settings.excerpt), clock=clock)
    kit = _kit(client, settings, uploads, keys=store_keys, bus_keys=bus_keys, mind=mind, books=books)
    patience, names = patience_of(settings), JobNames(settings.prefix)
    leases = LeaseKeeper(bus, lease=patience.lease, deadline=deadline_of(settings))
    return World(
        settings=settings,
        client=client,
        rq_client=rq_client,
        workers=found,
        bus=bus,
        ledger=RedisLedger(client, bus_keys),
        dead=RedisDeadLetters(client, bus_keys, marker_ttl=settings.retention.marker_ttl),
        tombstones=RedisTombstones(client, bus_keys),
        jobs=_jobs(rq_client, names, settings),
        kit=kit,
        handover=_handover(uploads, settings, RedisLedger(client, bus_keys), found.values(), kit=kit),
        patience=patience,
        leases=leases,
        attempts=Attempts(found, bus=bus, kit=kit, patience=patience, leases=leases, names=names),
        model_books=books,
        mind=mind,
        calibrations=RedisCalibrations(client, store_keys),
    )


def _bus(
    client: redis.Redis, settings: Settings, found: Iterable[Worker], *, bus_keys: BusKeys, store_keys: StoreKeys
) -> RedisBus:
    return RedisBus(
        client,
        plan_of=partial(plan_for, keys=store_keys),
        keys=bus_keys,
        subscriptions=[Subscription(worker.name, worker.consumes) for worker in found],
        upload_of=partial(upload_of, keys=store_keys),
        marker_ttl=settings.retention.marker_ttl,
    )


def _kit(
    client: redis.Redis,
    settings: Settings,
    uploads: Uploads,
    *,
    keys: StoreKeys,
    bus_keys: BusKeys,
    mind: Mind,
    books: ModelBooks,
) -> Kit:
    episodes, facts = RedisEpisodes(client, keys), RedisFactLog(client, keys)
    tombstones = RedisTombstones(client, bus_keys)
    return Kit(
        episodes=episodes,
        episode_vectors=episodes,
        briefs=episodes,
        decisions=RedisDecisions(client, keys, bus_keys=bus_keys, group=DECISION_KEEPER),
        facts=facts,
        memory=FactMemory(indexes=indexes_of(settings, facts, keys)),
        transcripts=StoredTranscripts(uploads, keys, readable=settings.worker.readable),
        embedder=Remembered(embedder(settings)),
        clock=partial(datetime.now, UTC),
        anchors=RedisAnchors(client, keys),
        courses=RedisCourses(client, keys),
        author=mind.author,
        extractor=mind.extractor,
        arbiter=mind.arbiter,
        anchorer=mind.anchorer,
        excerpts=mind.anchorer.excerpts,
        policy=policy(settings, RedisCalibrations(client, keys)),
        forgotten=tombstones.forms,
        matter=partial(matter, pins=books.pins, tombstones=tombstones),
    )


def _jobs(client: redis.Redis, names: JobNames, settings: Settings) -> RqJobs:
    return RqJobs(
        client,
        names,
        deadline=deadline_of(settings),
        result_ttl=settings.retention.job_result_ttl,
        failure_ttl=settings.retention.job_failure_ttl,
    )


def _handover(uploads: Uploads, settings: Settings, ledger: Ledger, found: Iterable[Worker], *, kit: Kit) -> Handover:
    return Handover(
        uploads,
        StoreKeys(settings.prefix),
        inline_limit=settings.publish.inline_limit,
        clock=kit.clock,
        needs_upload=partial(_needs_upload, ledger, found),
    )


def _needs_upload(ledger: Ledger, found: Iterable[Worker], event: SessionEvent) -> bool:
    """Whether *event* needs its transcript sent: always, but for who may not see what became of an event that is known.

    It waits for its worker already or was read, and who may not look may not remove what nobody reads either.
    """
    reader = next((Subscription(each.name, each.consumes) for each in found if each.consumes is type(event)), None)
    return reader is None or _may_locate(event, reader, ledger)


def _may_locate(event: SessionEvent, reader: Subscription, ledger: Ledger) -> bool:
    """Whether the server lets us see what became of *event*, as it does of one that is not known."""
    try:
        ledger.locate(event.id, reader)
    except NotAllowed:
        return False
    return True


def discover() -> dict[str, Worker]:
    """Every worker, by name, found by looking in the package `workers`."""
    modules = [import_module(f"workers.{module.name}") for module in iter_modules(workers.__path__)]
    found = [module.WORKER for module in modules if hasattr(module, "WORKER")]
    return {worker.name: worker for worker in found}
