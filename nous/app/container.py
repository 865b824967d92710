"""Dependency container: every adapter and service, connected once from the settings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import redis

import workers
from nous.app.from_settings import deadline_of, excerpts, policy, retry_policy_of
from nous.app.llm import LlmStack, LlmStores, cache_subject, llm_stack, stores_of
from nous.app.memory import embedder, indexes_of
from nous.bus.accounting import DeadLetterQueue, DeliveryStats, EventStatus
from nous.bus.base import Bus, Subscription
from nous.bus.delivery_state import RetryPolicy
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.dead_letters import RedisDeadLetterQueue
from nous.bus.redis.erasure import RedisTombstones
from nous.bus.redis.keys import BusKeys
from nous.bus.tombstones import Tombstones
from nous.domain.errors import Misconfigured, NotAllowed, NotFound
from nous.domain.events import SessionEvent
from nous.domain.plug_ins import PlugIns
from nous.embedding.cache import CachedEmbedder
from nous.jobs.base import JobNames, Jobs
from nous.jobs.rq.queue import RqJobs
from nous.pipeline.worker import Worker, WorkerContext
from nous.redis_server.client import connect, connect_rq
from nous.redis_server.safety_check import refuse_unsafe
from nous.runtime.attempt import Attempts
from nous.runtime.lease_renewal import LeaseKeeper
from nous.services.session_intake import SessionIntake
from nous.settings.model import Settings
from nous.store.fact_cache import FactCache
from nous.store.keys import StoreKeys
from nous.store.redis.calibrations import RedisCalibrations
from nous.store.redis.decisions import RedisDecisions
from nous.store.redis.episodes import RedisEpisodes
from nous.store.redis.fact_log import RedisFactLog
from nous.store.redis.plans import plan_for
from nous.store.redis.sessions import RedisAnchoredSummaries, RedisSessionStates
from nous.store.redis.transcripts import RedisUploads
from nous.store.transcript_source import StoredTranscripts, Uploads, upload_of

WORKERS = PlugIns(workers, attribute="WORKER", group="nous.workers")
DECISION_KEEPER = "decision-keeper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """Dependency container of one process: settings, clients, stores and services."""

    settings: Settings
    client: redis.Redis
    rq_client: redis.Redis
    workers: Mapping[str, Worker]
    bus: Bus
    delivery_stats: DeliveryStats
    dead_letters: DeadLetterQueue
    tombstones: Tombstones
    jobs: Jobs
    context: WorkerContext
    session_intake: SessionIntake
    retry_policy: RetryPolicy
    leases: LeaseKeeper
    attempts: Attempts
    llm_stores: LlmStores
    llm: LlmStack
    calibrations: RedisCalibrations

    def check_model(self) -> None:
        """Fail fast if a model is configured that cannot be used.

        Otherwise workers would silently fall back to extractive summaries.

        Raises:
            Misconfigured: why the model cannot be used.
        """
        if self.llm.problem:
            raise self.llm.problem

    def subscription(self, worker: str) -> Subscription:
        """Return the subscription of a worker.

        Raises:
            NotFound: there is no such worker.
        """
        if worker not in self.workers:
            raise NotFound(f"there is no worker {worker!r}; there are {', '.join(sorted(self.workers))}")
        return Subscription(worker, self.workers[worker].consumes)

    @property
    def job_names(self) -> JobNames:
        return JobNames(self.settings.prefix)

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        return tuple(self.subscription(name) for name in self.workers)


def build(settings: Settings, *, also: Iterable[Worker] = ()) -> Container:
    """Connect to the server that *settings* name, and build the application on it.

    An embedded server is started if it does not run. *also* are workers beside those found in the package `workers`.

    Raises:
        Misconfigured: the server, its configuration or the settings are unsuitable.
        Unavailable: the server does not answer.
    """
    client, rq_client = connect(settings), connect_rq(settings)
    refuse_unsafe(client, allow=settings.allow_unsafe_redis)
    found = discover() | {worker.name: worker for worker in also}
    bus_keys, store_keys = BusKeys(settings.prefix), StoreKeys(settings.prefix)
    bus = _bus(client, settings, found.values(), bus_keys=bus_keys, store_keys=store_keys)
    uploads, stats = RedisUploads(client), RedisDeliveryStats(client, bus_keys)
    llm_stores, clock = stores_of(client, settings), partial(datetime.now, UTC)
    llm = llm_stack(settings, llm_stores, excerpts=excerpts(settings.excerpt), clock=clock)
    context = _context(client, settings, uploads, keys=store_keys, bus_keys=bus_keys, llm=llm, llm_stores=llm_stores)
    retry_policy, names = retry_policy_of(settings), JobNames(settings.prefix)
    leases = LeaseKeeper(bus, lease=retry_policy.lease, deadline=deadline_of(settings))
    return Container(
        settings=settings,
        client=client,
        rq_client=rq_client,
        workers=found,
        bus=bus,
        delivery_stats=stats,
        dead_letters=RedisDeadLetterQueue(client, bus_keys, marker_ttl=settings.retention.marker_ttl),
        tombstones=RedisTombstones(client, bus_keys),
        jobs=_jobs(rq_client, names, settings),
        context=context,
        session_intake=_session_intake(uploads, settings, stats, found.values(), context=context),
        retry_policy=retry_policy,
        leases=leases,
        attempts=Attempts(found, bus=bus, context=context, retry_policy=retry_policy, leases=leases, names=names),
        llm_stores=llm_stores,
        llm=llm,
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


def _context(
    client: redis.Redis,
    settings: Settings,
    uploads: Uploads,
    *,
    keys: StoreKeys,
    bus_keys: BusKeys,
    llm: LlmStack,
    llm_stores: LlmStores,
) -> WorkerContext:
    episodes, facts = RedisEpisodes(client, keys), RedisFactLog(client, keys)
    tombstones = RedisTombstones(client, bus_keys)
    return WorkerContext(
        episodes=episodes,
        episode_vectors=episodes,
        summary_inputs=episodes,
        decisions=RedisDecisions(client, keys, bus_keys=bus_keys, group=DECISION_KEEPER),
        facts=facts,
        fact_cache=FactCache(indexes=indexes_of(settings, facts, keys)),
        transcripts=StoredTranscripts(uploads, keys, readable=settings.worker.readable),
        embedder=CachedEmbedder(embedder(settings)),
        clock=partial(datetime.now, UTC),
        anchored_summaries=RedisAnchoredSummaries(client, keys),
        session_states=RedisSessionStates(client, keys),
        summarizer=llm.summarizer,
        fact_extractor=llm.fact_extractor,
        adjudicator=llm.adjudicator,
        anchored_summarizer=llm.anchored_summarizer,
        excerpts=llm.anchored_summarizer.excerpts,
        policy=policy(settings, RedisCalibrations(client, keys)),
        suppressed=tombstones.forms,
        cache_subject=partial(cache_subject, responses=llm_stores.responses, tombstones=tombstones),
    )


def _jobs(client: redis.Redis, names: JobNames, settings: Settings) -> RqJobs:
    return RqJobs(
        client,
        names,
        deadline=deadline_of(settings),
        result_ttl=settings.retention.job_result_ttl,
        failure_ttl=settings.retention.job_failure_ttl,
    )


def _session_intake(
    uploads: Uploads,
    settings: Settings,
    delivery_stats: DeliveryStats,
    found: Iterable[Worker],
    *,
    context: WorkerContext,
) -> SessionIntake:
    return SessionIntake(
        uploads,
        StoreKeys(settings.prefix),
        inline_limit=settings.publish.inline_limit,
        clock=context.clock,
        needs_upload=partial(_needs_upload, delivery_stats, found),
    )


def _needs_upload(delivery_stats: DeliveryStats, found: Iterable[Worker], event: SessionEvent) -> bool:
    """Return whether the transcript of *event* has to be uploaded: a worker will read it.

    No worker reads an event that is known and not dead. A user who may not see its state may see that of an unknown
    one.
    """
    reader = next((Subscription(each.name, each.consumes) for each in found if each.consumes is type(event)), None)
    try:
        where = delivery_stats.locate(event.id, reader).where if reader else EventStatus.UNKNOWN
    except NotAllowed:
        return False
    return where in {EventStatus.UNKNOWN, EventStatus.DEAD}


def discover() -> dict[str, Worker]:
    """Return every worker by name.

    Workers are the modules in the package `workers`, and entry points of the group `nous.workers`.

    Raises:
        Misconfigured: a plug-in cannot be imported, is no worker, or has the name of another worker.
    """
    found: dict[str, Worker] = {}
    for name, worker in WORKERS.all().items():
        if not isinstance(worker, Worker):
            raise Misconfigured(f"the plug-in {name!r} of {WORKERS.group} is no Worker: {worker!r}")
        if worker.name in found:
            raise Misconfigured(f"two plug-ins of {WORKERS.group} are workers called {worker.name}")
        found[worker.name] = worker
    return found
