"""A model that answers as it is told and every worker that asks it, in memory, with a clock that is moved by hand."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from builders.answers import SESSION, answer
from builders.kits import kit_of
from nous.app.llm import ModelBooks, in_order
from nous.bus.accounting import Account
from nous.bus.base import Bus, Lane, Subscription
from nous.bus.delivery_state import Patience
from nous.bus.memory.bus import MemoryBus
from nous.domain.anchored_summary import Anchor
from nous.domain.episode import Episode
from nous.domain.events import NAMESPACE, EpisodeOutdated, SessionCompacting, SessionEnded
from nous.domain.scope import Matter, Scope
from nous.jobs.base import Line, MemoryJobs
from nous.llm.base import Question
from nous.llm.fake import Answer, Scripted
from nous.llm.state_memory import MemoryAllowance, MemoryOutages, MemoryPins, MemoryTally
from nous.pipeline.llm_summarizer import Author
from nous.pipeline.worker import Worker
from nous.runtime.attempt import Attempts
from nous.runtime.dispatch_loop import Dispatcher
from nous.runtime.lease_renewal import LeaseKeeper
from nous.runtime.maintenance import Upgrader, outdated
from nous.runtime.sweeper import Sweeper
from nous.settings.model import LlmSettings
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore
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
        self.model = Scripted(self._answered)
        self.store = MemoryStore()
        self.books = ModelBooks(
            pins=MemoryPins(answer_ttl=7 * 86400, clock=self.clock),
            allowance=MemoryAllowance(),
            outages=MemoryOutages(clock=self.clock),
            tally=MemoryTally(),
        )
        self.bus = MemoryBus(self.store.apply, clock=self.clock)
        self.jobs = MemoryJobs()
        self.use(self.author())

    def _answered(self, question: Question) -> Answer:
        return self.answers(question)

    def clock(self) -> float:
        return self.now

    def matter(self, scope: Scope, subject: UUID) -> Matter:
        return Matter(scope=scope, subject=subject, drops=self.books.pins.drops(scope, subject))

    def date(self) -> datetime:
        return datetime.fromtimestamp(self.now, tz=UTC)

    def author(self, *, version: str | None = None) -> Author:
        """The model behind all that spares it, with the prompt of that version, or the one there is."""
        prompt = built_in("episode")
        return Author(
            model=in_order(self.model, self.llm, self.books, clock=self.date),
            prompt=replace(prompt, version=version, system=f"{prompt.system} ({version})") if version else prompt,
            tally=self.books.tally,
            clock=self.date,
            patience=timedelta(seconds=self.llm.patience),
            waits_for_quota=self.llm.when_exhausted == "defer",
        )

    def use(self, author: Author | None, *workers: Worker) -> None:
        """Start the process anew, with *author* and, instead of all, with *workers*."""
        self.workers = {worker.name: worker for worker in workers or (SUMMARIZER, REVISER, EXTRACTOR, ANCHORER, KEEPER)}
        self.kit = kit_of(
            self.store,
            transcripts=StoredTranscripts(self.store, StoreKeys()),
            clock=self.date,
            author=author,
            matter=self.matter,
        )
        self.patience = Patience(lease=LEASE)
        leases = LeaseKeeper(self.bus, lease=LEASE, deadline=600)
        self.attempts = Attempts(self.workers, bus=self.bus, kit=self.kit, patience=self.patience, leases=leases)

    def publish(self, session: str = "s1", text: str = SESSION, **fields: Any) -> SessionEnded:
        event_id = uuid5(NAMESPACE, f"{session}\n{text}")
        event = SessionEnded(
            id=event_id,
            time=fields.pop("time", self.date()),
            source="tests",
            scope=fields.pop("scope", Scope()),
            agent_id="tester",
            session_id=session,
            trace_id=event_id,
            transcript=text,
            **fields,
        )
        self.bus.publish(event)
        return event

    def compact(self, text: str, session: str = "s1") -> SessionCompacting:
        """Publish that the session is about to lose its beginning; *text* is its transcript so far."""
        event_id = uuid5(NAMESPACE, f"compacting\n{session}\n{text}")
        event = SessionCompacting(
            id=event_id,
            time=self.date(),
            source="tests",
            scope=Scope(),
            agent_id="tester",
            session_id=session,
            trace_id=event_id,
            transcript=text,
        )
        self.bus.publish(event)
        return event

    def anchor(self, session: str = "s1") -> Anchor:
        """The session's anchored summary, which has to be there."""
        found = self.store.anchor(Scope(), agent_id="tester", session_id=session)
        assert found is not None
        return found

    def work(self, seconds: float = 0.0, *, step: float = 1.0) -> None:
        """Do all that can be done now, and then each *step* until *seconds* have passed."""
        ends = self.now + seconds
        self._work()
        while self.now < ends:
            self.now += step
            self._work()

    def offer(self, bus: Bus | None = None) -> int:
        """Offer extractive episodes to the model, on *bus* if it is another; returns how many."""
        author = self.kit.author
        assert author is not None
        reviser = Subscription(REVISER.name, REVISER.consumes)
        upgrader = Upgrader(
            reviser, kit=self.kit, bus=bus or self.bus, ledger=self.bus, by=author.by, ahead=64, interval=1
        )
        return upgrader.offer()

    def _work(self) -> None:
        for name, worker in self.workers.items():
            subscription = Subscription(name, worker.consumes)
            Sweeper(subscription, bus=self.bus, jobs=self.jobs, patience=self.patience, ahead=64).sweep()
            Dispatcher(subscription, bus=self.bus, jobs=self.jobs, ahead=1000, lease=LEASE).dispatch()
            for lane in Lane:
                self.jobs.run(self.attempts, name, Line.of(lane))

    @property
    def episodes(self) -> list[Episode]:
        return list(self.store.recent(Scope(), limit=1000))

    @property
    def tiers(self) -> list[str]:
        return sorted(str(episode.tier) for episode in self.episodes)

    @property
    def counts(self) -> dict[str, int]:
        """What came of the calls to the model."""
        return dict(self.books.tally.counts().get(self.model.id, {}))

    def account(self, worker: str) -> Account:
        return self.bus.account(Subscription(worker, self.workers[worker].consumes))


def outdated_by(world: ModelWorld, by: str) -> EpisodeOutdated:
    """That *by* is to make the only episode anew."""
    (episode,) = world.episodes
    return outdated(episode, by=by, reason="test", kit=world.kit)


def _good(_: Question) -> str:
    return answer()
