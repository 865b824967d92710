"""Dependency container: lazily build clients, bus and stores; discover worker plug-ins."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import redis

import workers
from nous.domain.errors import Misconfigured, NotAllowed, NotFound
from nous.domain.plug_ins import PlugIns
from nous.domain.scope import Scope
from nous.redis_server.client import connect, connect_rq, refuse_unsafe
from nous.settings import Settings, load_settings
from nous.store.keys import StoreKeys

if TYPE_CHECKING:
    from nous.app.llm import LlmStack
    from nous.bus.base import Bus, Subscription
    from nous.bus.delivery_state import RetryPolicy
    from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
    from nous.bus.redis.erasure import RedisTombstones
    from nous.bus.redis.keys import BusKeys
    from nous.domain.events import SessionEvent
    from nous.jobs.base import JobNames, Jobs
    from nous.llm.state import LlmStores
    from nous.pipeline.worker import Worker, WorkerContext
    from nous.runtime.attempt import Attempts, LeaseKeeper
    from nous.services.redaction import RedactionService
    from nous.services.session_intake import SessionIntake
    from nous.services.workspace import SessionScopes
    from nous.store.fact_cache import Memory
    from nous.store.redis.transcripts import RedisRedactions, RedisUploads

DECISION_KEEPER = "decision-keeper"
WORKERS = PlugIns(workers, attribute="WORKER", group="nous.workers")


@dataclass(frozen=True, eq=False, kw_only=True)
class Container:
    """Dependency container of one process: settings, clients, stores and services.

    A part is imported and built when it is first used, so that a command pays for what it uses. *also* are workers
    beside those found in the package `workers`.
    """

    settings: Settings
    client: redis.Redis
    also: tuple["Worker", ...] = ()

    def replaced(self, **parts: Any) -> Self:
        """Return a copy with other *parts*; it builds from them what is not built yet."""
        other = copy(self)
        other.__dict__.update(parts)
        return other

    def close(self) -> None:
        self.client.close()
        if "rq_client" in self.__dict__:
            self.rq_client.close()

    @cached_property
    def rq_client(self) -> redis.Redis:
        return connect_rq(self.settings)

    @cached_property
    def bus_keys(self) -> "BusKeys":
        from nous.bus.redis.keys import BusKeys

        return BusKeys(self.settings.prefix)

    @cached_property
    def store_keys(self) -> StoreKeys:
        return StoreKeys(self.settings.prefix)

    @cached_property
    def clock(self) -> Callable[[], datetime]:
        return partial(datetime.now, UTC)

    @cached_property
    def workers(self) -> Mapping[str, "Worker"]:
        return discover() | {worker.name: worker for worker in self.also}

    @cached_property
    def worker_names(self) -> frozenset[str]:
        """The names of all workers. Unlike `workers`, it imports none of them."""
        return frozenset({*map(worker_name, WORKERS.names()), *(worker.name for worker in self.also)})

    @cached_property
    def groups(self) -> tuple["Subscription", ...]:
        """The subscriptions of workers that the server has; imports all workers if one has none."""
        from nous.domain.events import kinds

        WORKERS.of_others()  # they may define kinds of events
        found = self.delivery_stats.groups(kinds().values())
        if not self.worker_names <= {each.group for each in found} and self.workers:  # so may built-in workers
            found = self.delivery_stats.groups(kinds().values())
        return tuple(each for each in found if each.group in self.worker_names)

    @property
    def subscriptions(self) -> tuple["Subscription", ...]:
        return tuple(self.subscription(name) for name in self.workers)

    def subscription(self, worker: str) -> "Subscription":
        """Return the subscription of a worker. Raises `NotFound` if there is no such worker."""
        from nous.bus.base import Subscription

        if worker not in self.workers:
            raise NotFound(f"there is no worker {worker!r}; there are {', '.join(sorted(self.workers))}")
        return Subscription(worker, self.workers[worker].consumes)

    @cached_property
    def bus(self) -> "Bus":
        from nous.bus.redis.bus import RedisBus
        from nous.store.redis.plans import plan_for
        from nous.store.transcript_source import upload_of

        return RedisBus(
            self.client,
            plan_of=partial(plan_for, keys=self.store_keys),
            keys=self.bus_keys,
            subscriptions=self.subscriptions,
            upload_of=partial(upload_of, keys=self.store_keys),
            marker_ttl=self.settings.retention.marker_ttl,
            gate=self.redaction.record,
        )

    @cached_property
    def redactions(self) -> "RedisRedactions":
        from nous.store.redis.transcripts import RedisRedactions

        return RedisRedactions(self.client, self.store_keys)

    @cached_property
    def redaction(self) -> "RedactionService":
        from nous.app.from_settings import redactor
        from nous.services.redaction import RedactionService

        return RedactionService(redactor(self.settings.redact, self.redactions.key), self.redactions.count)

    @cached_property
    def delivery_stats(self) -> "RedisDeliveryStats":
        from nous.bus.redis.accounting import RedisDeliveryStats

        return RedisDeliveryStats(self.client, self.bus_keys)

    @cached_property
    def dead_letters(self) -> "RedisDeadLetterQueue":
        from nous.bus.redis.accounting import RedisDeadLetterQueue

        return RedisDeadLetterQueue(self.client, self.bus_keys, marker_ttl=self.settings.retention.marker_ttl)

    @cached_property
    def tombstones(self) -> "RedisTombstones":
        from nous.bus.redis.erasure import RedisTombstones

        return RedisTombstones(self.client, self.bus_keys)

    @cached_property
    def memory(self) -> "Memory":
        from nous.app.memory import memory_of

        return memory_of(self.client, self.settings, self.store_keys)

    @cached_property
    def uploads(self) -> "RedisUploads":
        from nous.store.redis.transcripts import RedisUploads

        return RedisUploads(self.client, self.store_keys)

    @cached_property
    def llm_stores(self) -> "LlmStores":
        from nous.llm.state import CircuitStore, LlmKeys, LlmStores, ResponseStore, TokenUsageStore, UsageCounters

        client, keys = self.client, LlmKeys(self.settings.prefix)
        return LlmStores(
            responses=ResponseStore(client, keys, answer_ttl=self.settings.retention.answer_ttl),
            token_usage=TokenUsageStore(client, keys),
            circuits=CircuitStore(client, keys),
            counters=UsageCounters(client, keys),
        )

    @cached_property
    def llm(self) -> "LlmStack":
        from nous.app.from_settings import excerpts
        from nous.app.llm import llm_stack

        return llm_stack(self.settings, self.llm_stores, excerpts=excerpts(self.settings), clock=self.clock)

    def check_model(self) -> None:
        """Raise `Misconfigured` if a model is configured that cannot be used.

        Otherwise workers would silently fall back to extractive summaries.
        """
        if self.llm.problem:
            raise self.llm.problem

    @cached_property
    def context(self) -> "WorkerContext":
        from nous.app.from_settings import policy
        from nous.app.llm import cache_subject
        from nous.pipeline.worker import WorkerContext
        from nous.store.redis.decisions import RedisDecisions
        from nous.store.transcript_source import StoredTranscripts

        memory, llm, keys, responses = self.memory, self.llm, self.store_keys, self.llm_stores.responses
        return WorkerContext(
            episodes=memory.episodes,
            decisions=RedisDecisions(self.client, keys, bus_keys=self.bus_keys, group=DECISION_KEEPER),
            facts=memory.facts,
            fact_cache=memory.fact_cache,
            transcripts=StoredTranscripts(
                self.uploads, keys, readable=self.settings.worker.readable, redact=self.redaction.transcript
            ),
            redacted=partial(self.redaction.record, where="event"),
            embedder=memory.embedder,
            clock=self.clock,
            anchored_summaries=memory.anchored_summaries,
            session_states=memory.session_states,
            summarizer=llm.summarizer,
            fact_extractor=llm.fact_extractor,
            adjudicator=llm.adjudicator,
            anchored_summarizer=llm.anchored_summarizer,
            excerpts=llm.anchored_summarizer.excerpts,
            policy=policy(self.settings),
            suppressed=self.tombstones.forms,
            cache_subject=partial(cache_subject, responses=responses, tombstones=self.tombstones),
        )

    @cached_property
    def session_scopes(self) -> "SessionScopes":
        from nous.services.workspace import NotesFolder, SessionScopes

        notes = NotesFolder(self.settings.data_dir / "context")
        return SessionScopes(always=scope_of(self.settings), known=partial(_scopes_of, self.memory), seen=notes.see)

    @cached_property
    def session_intake(self) -> "SessionIntake":
        from nous.services.session_intake import SessionIntake

        return SessionIntake(
            self.uploads,
            self.store_keys,
            inline_limit=self.settings.publish.inline_limit,
            clock=self.clock,
            redact=self.redaction.content,
            needs_upload=partial(_needs_upload, self.delivery_stats, self.subscriptions),
            scopes=self.session_scopes,
        )

    @cached_property
    def job_names(self) -> "JobNames":
        from nous.jobs.base import JobNames

        return JobNames(self.settings.prefix)

    @cached_property
    def jobs(self) -> "Jobs":
        from nous.app.from_settings import deadline_of
        from nous.jobs.rq.queue import RqJobs

        return RqJobs(
            self.rq_client,
            self.job_names,
            deadline=deadline_of(self.settings),
            result_ttl=self.settings.retention.job_result_ttl,
            failure_ttl=self.settings.retention.job_failure_ttl,
        )

    @cached_property
    def retry_policy(self) -> "RetryPolicy":
        from nous.bus.delivery_state import RetryPolicy

        worker = self.settings.worker
        return RetryPolicy(
            lease=worker.lease,
            max_attempts=worker.max_attempts,
            backoff_base=worker.backoff_base,
            backoff_cap=worker.backoff_cap,
            crashes_before_quarantine=worker.crashes_before_quarantine,
            deaths_before_dead_letter=worker.deaths_before_burial,
        )

    @cached_property
    def leases(self) -> "LeaseKeeper":
        from nous.app.from_settings import deadline_of
        from nous.runtime.attempt import LeaseKeeper

        return LeaseKeeper(self.bus, lease=self.retry_policy.lease, deadline=deadline_of(self.settings))

    @cached_property
    def attempts(self) -> "Attempts":
        from nous.runtime.attempt import Attempts

        return Attempts(
            self.workers,
            bus=self.bus,
            context=self.context,
            retry_policy=self.retry_policy,
            leases=self.leases,
            names=self.job_names,
        )


def scope_of(settings: Settings) -> Scope | None:
    """Return the scope that the settings give to everything; None for the working directory's."""
    return Scope.parse(settings.scope) if settings.scope else None


def _scopes_of(memory: "Memory", session_id: str) -> Sequence[Scope]:
    try:
        return memory.episodes.scopes_of(session_id)
    except NotAllowed:  # a user that may only publish
        return ()


def _needs_upload(
    delivery_stats: "RedisDeliveryStats", readers: Iterable["Subscription"], event: "SessionEvent"
) -> bool:
    """Return whether a worker will read the transcript of *event*: it is unknown, or dead."""
    from nous.bus.accounting import EventStatus

    reader = next((each for each in readers if each.kind is type(event)), None)
    try:
        where = delivery_stats.locate(event.id, reader).where if reader else EventStatus.UNKNOWN
    except NotAllowed:  # of an unknown event the state may be seen
        return False
    return where in {EventStatus.UNKNOWN, EventStatus.DEAD}


def build(settings: Settings, *, also: Iterable["Worker"] = ()) -> Container:
    """Connect to the server that *settings* name, and return the application on it.

    An embedded server is started if it does not run. *also* are workers beside those found in the package `workers`.

    Raises:
        Misconfigured: the server, its configuration or the settings are unsuitable.
        Unavailable: the server does not answer.
    """
    client = connect(settings)
    refuse_unsafe(client, allow=settings.allow_unsafe_redis)
    return Container(settings=settings, client=client, also=tuple(also))


@cache
def default_container() -> Container:
    """Return the application of this process, on one connection. Raises what `build` raises."""
    return build(load_settings())


def discover() -> dict[str, "Worker"]:
    """Return every worker by name.

    Workers are the modules in the package `workers`, and entry points of the group `nous.workers`.

    Raises:
        Misconfigured: a plug-in cannot be imported, is no worker, or has another name than its worker.
    """
    from nous.pipeline.worker import Worker

    found: dict[str, Worker] = {}
    for name, worker in WORKERS.all().items():
        if not isinstance(worker, Worker):
            raise Misconfigured(f"the plug-in {name!r} of {WORKERS.group} is no Worker: {worker!r}")
        if worker.name != worker_name(name):
            raise Misconfigured(
                f"the plug-in {name!r} of {WORKERS.group} is a worker called {worker.name}: give both the same name"
            )
        if worker.name in found:
            raise Misconfigured(f"two plug-ins of {WORKERS.group} are workers called {worker.name}")
        found[worker.name] = worker
    return found


def worker_name(plug_in: str) -> str:
    """Return the name of a plug-in's worker: it has `-` where the name of a module has `_`."""
    return plug_in.replace("_", "-")
