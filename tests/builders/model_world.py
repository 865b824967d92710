"""A scripted model, the workers that call it, and a manual clock."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from builders.answers import SESSION, answer
from builders.contexts import context_over
from builders.events import event_of
from builders.jobs import FakeJobs
from builders.llm_stores import fake_books
from builders.scripted_model import Answer, ScriptedModel
from builders.stores import WholeStore
from nous.app.llm import in_order
from nous.bus.accounting import GroupCounters
from nous.bus.base import Bus, Priority, Subscription
from nous.bus.delivery_state import RetryPolicy
from nous.domain.anchored_summary import StoredAnchoredSummary
from nous.domain.episode import Episode
from nous.domain.events import EpisodeOutdated, SessionCompacting, SessionEnded
from nous.domain.scope import CacheSubject, Scope
from nous.jobs.base import QueueKind
from nous.llm.base import Question
from nous.pipeline.llm_summarizer import LlmSummarizer
from nous.pipeline.worker import Worker
from nous.runtime.attempt import Attempts, LeaseKeeper
from nous.runtime.maintenance import Resummarizer, outdated
from nous.runtime.worker_process import Dispatcher
from nous.settings.model import LlmSettings
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
from nous.summary.llm.prompt import built_in
from workers.decision_keeper import WORKER as KEEPER
from workers.episode_reviser import WORKER as REVISER
from workers.episode_summarizer import WORKER as SUMMARIZER
from workers.fact_extractor import WORKER as EXTRACTOR
from workers.session_anchorer import WORKER as ANCHORER

LEASE = 60.0
START = 1_800_000_000.0


class ModelWorld:
    """One process with every worker, whose model answers with *answers*. `now` is in seconds since the epoch."""

    def __init__(self, answers: Callable[[Question], Answer] | None = None, **llm: Any) -> None:
        self.now = START
        self.llm = LlmSettings(**llm)
        self.answers: Callable[[Question], Answer] = answers or _good
        self.model = ScriptedModel(self._answered)
        self.store = WholeStore(clock=self.clock)
        self.books = fake_books(self.clock)
        self.bus = self.store.bus
        self.jobs = FakeJobs()
        self.use(self.summarizer())

    def _answered(self, question: Question) -> Answer:
        return self.answers(question)

    def clock(self) -> float:
        return self.now

    def matter(self, scope: Scope, subject: UUID) -> CacheSubject:
        return CacheSubject(
            scope=scope, subject=subject, invalidation_count=self.books.responses.invalidation_count(scope, subject)
        )

    def date(self) -> datetime:
        return datetime.fromtimestamp(self.now, tz=UTC)

    def summarizer(self, *, version: str | None = None) -> LlmSummarizer:
        """The model behind all that spares it, with the prompt of that version, or the one there is."""
        prompt = built_in("episode")
        return LlmSummarizer(
            model=in_order(self.model, self.llm, self.books, clock=self.date),
            prompt=replace(prompt, version=version, system=f"{prompt.system} ({version})") if version else prompt,
            counters=self.books.counters,
            clock=self.date,
            max_wait=timedelta(seconds=self.llm.patience),
            waits_for_quota=self.llm.when_exhausted == "defer",
        )

    def use(self, summarizer: LlmSummarizer | None, *workers: Worker) -> None:
        """Start the process anew, with *author* and, instead of all, with *workers*."""
        self.workers = {worker.name: worker for worker in workers or (SUMMARIZER, REVISER, EXTRACTOR, ANCHORER, KEEPER)}
        self.context = context_over(
            self.store,
            transcripts=StoredTranscripts(self.store, StoreKeys()),
            clock=self.date,
            summarizer=summarizer,
            cache_subject=self.matter,
        )
        self.retry_policy = RetryPolicy(lease=LEASE)
        self.attempts = self._made_attempts()

    def _made_attempts(self) -> Attempts:
        leases = LeaseKeeper(self.bus, lease=LEASE, deadline=600)
        return Attempts(self.workers, bus=self.bus, context=self.context, retry_policy=self.retry_policy, leases=leases)

    def publish(self, session: str = "s1", text: str = SESSION, **fields: Any) -> SessionEnded:
        told: dict[str, Any] = {"session_id": session, "transcript": text, "time": self.date(), **fields}
        event = event_of(SessionEnded, f"{session}\n{text}", **told)
        self.bus.publish(event)
        return event

    def compact(self, text: str, session: str = "s1") -> SessionCompacting:
        """Publish that the session is about to lose its beginning; *text* is its transcript so far."""
        name = f"compacting\n{session}\n{text}"
        event = event_of(SessionCompacting, name, time=self.date(), session_id=session, transcript=text)
        self.bus.publish(event)
        return event

    def anchor(self, session: str = "s1") -> StoredAnchoredSummary:
        """The session's anchored summary, which has to be there."""
        found = self.store.anchored_summary(Scope(), agent_id="tester", session_id=session)
        assert found is not None
        return found

    def work(self, seconds: float = 0.0, *, step: float = 1.0) -> None:
        """Do all that can be done now, and then each *step* until *seconds* have passed."""
        ends = self.now + seconds
        is_busy = self._work()
        while self.now < ends:
            self.now += step
            if is_busy or any(map(self._is_due, self.workers)):
                is_busy = self._work()

    def offer(self, bus: Bus | None = None) -> int:
        """Offer extractive episodes to the model, on *bus* if it is another; returns how many."""
        summarizer = self.context.summarizer
        assert summarizer is not None
        reviser = Subscription(REVISER.name, REVISER.consumes)
        upgrader = Resummarizer(
            reviser,
            context=self.context,
            bus=bus or self.bus,
            delivery_stats=self.bus,
            by=summarizer.by,
            ahead=64,
            interval=1,
        )
        return upgrader.offer()

    def _is_due(self, name: str) -> bool:
        return bool(self.bus.overdue(Subscription(name, self.workers[name].consumes), limit=1))

    def _work(self) -> bool:
        """Do what can be done now; return whether there was anything."""
        outcomes: list[str] = []
        for name, worker in self.workers.items():
            subscription = Subscription(name, worker.consumes)
            dispatcher = Dispatcher(
                subscription, bus=self.bus, jobs=self.jobs, retry_policy=self.retry_policy, ahead=1000
            )
            if self._is_due(name):
                dispatcher.sweep()
            dispatcher.dispatch()
            for priority in Priority:
                outcomes += self.jobs.run(self.attempts, name, QueueKind.of(priority))
        return bool(outcomes)

    @property
    def episodes(self) -> list[Episode]:
        return list(self.store.recent(Scope(), limit=1000))

    @property
    def tiers(self) -> list[str]:
        return sorted(str(episode.tier) for episode in self.episodes)

    @property
    def counts(self) -> dict[str, int]:
        """What came of the calls to the model."""
        return dict(self.books.counters.counts().get(self.model.id, {}))

    def account(self, worker: str) -> GroupCounters:
        return self.bus.counters(Subscription(worker, self.workers[worker].consumes))


def outdated_by(world: ModelWorld, by: str) -> EpisodeOutdated:
    """That *by* is to make the only episode anew."""
    (episode,) = world.episodes
    return outdated(episode, by=by, reason="test", context=world.context)


def _good(_: Question) -> str:
    return answer()
