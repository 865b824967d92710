"""Run the workers' handlers on gold, each session and pair with an empty memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from nous.app.quality.gold import Gold, GoldPair, GoldSession, Quotes
from nous.app.quality.measures import Result
from nous.domain.effects import AppendFacts, DegradedResult, SaveEpisode
from nous.domain.episode import NAMESPACE, CandidateFact, Trust
from nous.domain.events import Event, SessionEnded, SessionEvent
from nous.domain.fact import LogVersion, Row, Source
from nous.domain.scope import Scope
from nous.domain.summary_input import SummaryInput
from nous.excerpt import fit
from nous.knowledge.candidate_filter import filter_candidates
from nous.pipeline.fact_learner import FactLearner
from nous.pipeline.worker import Handler, WorkerContext
from nous.redaction.redactor import Redaction, Redactor
from nous.store.base import LogSlice
from nous.summary.llm.evidence import supported
from nous.summary.llm.prompt import heading
from nous.summary.llm.source_index import SourceIndex
from nous.transcript.model import Transcript
from nous.transcript.redact import redact_transcript
from workers.episode_summarizer import EpisodeSummarizer
from workers.fact_extractor import FactExtractor

_EVERYTHING = 10_000_000  # a budget that no session fills


@dataclass
class Scratch:
    """All stores of a session in one, in memory: its transcript, its episode and its facts."""

    transcript: Transcript | None = None
    saved: SaveEpisode | None = None
    rows: tuple[Row, ...] = ()
    vectors: dict[UUID, Any] = field(default_factory=dict)

    def run(self, handler: Handler, event: Event) -> Sequence[Event]:
        """Keep what *handler* writes, on its last attempt; return the events that follow."""
        try:
            effects = handler(event)
        except DegradedResult as degraded:
            effects = degraded.effects
        for write in effects.writes:
            self.saved = write if isinstance(write, SaveEpisode) else self.saved
            if isinstance(write, AppendFacts):
                self.append(write)
        return effects.events

    def append(self, write: AppendFacts) -> None:
        self.rows += write.rows
        self.vectors |= write.vectors

    def read(self, of: SessionEvent | Scope, **_: Any) -> Any:
        is_log = isinstance(of, Scope)
        return LogSlice(version=LogVersion(), rows=self.rows, vectors=self.vectors) if is_log else self.transcript

    def get(self, *_: Any) -> Any:
        return self.saved and self.saved.episode

    def summary_input(self, *_: Any) -> Any:
        return self.saved and self.saved.summary_input

    def get_episode_decisions(self, *_: Any, **__: Any) -> Any:
        return ()

    def session_state(self, *_: Any, **__: Any) -> Any:
        return None

    anchored_summary = session_state


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflinePipeline:
    """The workers' handlers, with contexts by *context_over* a store, and a redactor of secrets."""

    context_over: Callable[[Any], WorkerContext]
    redactor: Redactor

    def result(self, file: str, gold: Gold) -> Result:
        transcript = redact_transcript(gold.transcript(file), Redaction(self.redactor))
        store = Scratch(transcript)
        context, event_id, scope = self.context_over(store), uuid5(NAMESPACE, file), Scope()
        names: Any = {"id": event_id, "trace_id": event_id, "source": "nous/quality", "agent_id": "default"}
        ended = SessionEnded(**names, session_id=file, scope=scope, time=context.clock())
        for summarized in store.run(EpisodeSummarizer(context), ended):
            store.run(FactExtractor(context), summarized)
        with context.fact_cache.current(context.facts, scope, context.embedder) as knowledge:
            facts = [known.fact.text for known in knowledge.current()]
        episode = store.saved.episode if store.saved else None
        candidates = episode.candidate_facts if episode else ()
        return Result(
            episode=episode,
            candidates=filter_candidates(candidates, cap=context.policy.cap).candidates,
            facts=facts,
            turns=frozenset(entry.turn for entry in transcript),
            true_facts=tuple(_checked_facts(file, gold, transcript)),
        )

    def verdict(self, pair: GoldPair) -> str:
        """Return the name of the verdict on the later statement, where the earlier one is known."""
        store, name = Scratch(), ""
        learner = FactLearner(self.context_over(store))
        for number, said in enumerate((pair.b, pair.a) if pair.newer == "a" else (pair.a, pair.b), start=1):
            candidate = CandidateFact(text=said.text, subject=said.subject, trust=Trust.USER)
            candidate = Redaction(self.redactor).record(candidate)
            at = learner.context.clock()
            names: Any = {"episode_id": UUID(int=number), "event_id": UUID(int=number), "session_id": str(number)}
            source = Source(**names, turns=(), said_at=at)
            learned = learner.ingest([candidate], scope=Scope(), source=source)
            store.append(learned.append)
            name = learned.fact_decisions[-1].verdict.name
        return name


def whole(transcript: Transcript) -> SourceIndex:
    """Index all that *transcript* shows, at any length."""
    date = f"{transcript.ended_at:%Y-%m-%d}" if transcript.ended_at else None
    segments = fit(transcript, _EVERYTHING).segments
    return SourceIndex(SummaryInput(windows=(segments,), heading=heading(date=date)))


def quoted_facts(row: GoldSession, quotes: Quotes, session: SourceIndex) -> Iterator[CandidateFact]:
    """Yield the facts of a session that have quotes, as a model would give them."""
    for place, fact in enumerate(row.facts):
        if given := quotes.get((row.file, place)):
            turns = {*fact.turns, *(quote.turn for quote in given)} & session.turns.keys()
            yield CandidateFact(text=fact.text, turns=tuple(sorted(turns)), quotes=tuple(given))


def _checked_facts(file: str, gold: Gold, transcript: Transcript) -> Iterator[bool]:
    """Yield for each true fact with quotes whether the checks of a model's facts keep it."""
    if any(name == file for name, _ in gold.quotes):
        session = whole(transcript)
        for row in (row for row in gold.sessions if row.file == file):
            for fact in quoted_facts(row, gold.quotes, session):
                yield isinstance(supported(fact, session), CandidateFact)
