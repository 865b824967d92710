"""Summarize a session by LLM, window by window; return summary and grounded facts."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog

from nous.domain.episode import CandidateFact, Decision, QuarantinedFact, Summary, Tokens
from nous.domain.scope import CacheSubject
from nous.domain.summary_input import Segment, SummaryInput
from nous.llm.base import AnswerUnusable, Failure, Model, ModelMisconfigured, ModelPaused, ModelRefused, Question
from nous.llm.state import UsageCounters
from nous.llm.structured_output import Improvable, StructuredAnswer, ask
from nous.summary.heuristic.merge import WindowSummary, merged
from nous.summary.llm import response
from nous.summary.llm.evidence import has_quote, missing_quotes
from nous.summary.llm.grounding import grounded
from nous.summary.llm.prompt import PromptTemplate, decisions_block, fenced
from nous.summary.llm.source_index import SourceIndex
from nous.summary.llm.vetting import Vetting

_NAME = "episode"
NO_LIST = "the answer has no list of facts"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryResult:
    summary: Summary
    candidate_facts: tuple[CandidateFact, ...]
    tokens: Tokens
    dropped: tuple[tuple[str, int], ...]
    quarantined: tuple[QuarantinedFact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """The decision to summarize without a model; `reason` begins with the kind of failure."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSummarizer:
    """Summarize sessions with a model.

    While it is unavailable, a session waits at most *max_wait*, counted from the first failure of the outage; if
    *waits_for_quota*, as long as the provider asks for.
    """

    model: Model
    prompt: PromptTemplate
    counters: UsageCounters
    clock: Callable[[], datetime]
    max_wait: timedelta
    waits_for_quota: bool = True

    @property
    def by(self) -> str:
        """Model and prompt version. One author returns the same summary for the same input."""
        return f"{self.model.id} {self.prompt.version}"

    def try_to_summarize(self, summary_input: SummaryInput, *, matter: CacheSubject) -> SummaryResult | Fallback:
        """Return the model's summary, or a `Fallback` if the session must do without one.

        Raises `ModelTimeout` or `ModelUnreachable` if it may answer when asked again, and `ModelPaused` if it may be
        asked later and the session can wait that long.
        """
        try:
            return self.summarize(summary_input, matter=matter)
        except ModelPaused as pause:
            if self._waits(pause):
                raise
            return Fallback(reason=f"{pause.failure}: {pause}")
        except (AnswerUnusable, ModelRefused, ModelMisconfigured) as error:
            return Fallback(reason=f"{error.failure}: {error}")

    def summarize(self, summary_input: SummaryInput, *, matter: CacheSubject) -> SummaryResult:
        """Summarize each window, given the summary so far; merge them. Raises what `ask` raises."""
        session = SourceIndex(summary_input)
        answers: list[StructuredAnswer[response.ModelSummary]] = []
        for at in range(len(summary_input.windows)):
            before = answers[-1].value.summary if answers else None
            question = self._question(at, summary_input, before=before, matter=matter)
            answers.append(ask(self.model, question, partial(_read, session=session), counters=self.counters))
        return self._joined(answers, summary_input, session)

    def _waits(self, pause: ModelPaused) -> bool:
        if pause.failure is Failure.QUOTA:
            return self.waits_for_quota
        lasts = pause.failure is Failure.OTHER  # until an operator changes something, which may take days
        return not lasts and self.clock() - pause.since < self.max_wait

    def _question(
        self, at: int, summary_input: SummaryInput, *, before: Summary | None, matter: CacheSubject
    ) -> Question:
        segments = summary_input.windows[at]
        heading = (Segment(summary_input.heading),) if summary_input.heading else ()
        return Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(
                decisions=decisions_block(_decided(at, summary_input)),
                before=_so_far(before, part=at + 1, of=len(summary_input.windows)) if before else "",
                transcript=fenced((*heading, *segments)),
            ),
            name=_NAME,
            schema=response.schema(),
            most_tokens=self.prompt.most_tokens,
        )

    def _joined(
        self,
        answers: Sequence[StructuredAnswer[response.ModelSummary]],
        summary_input: SummaryInput,
        session: SourceIndex,
    ) -> SummaryResult:
        counts: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        windows: list[WindowSummary] = []
        apart: list[QuarantinedFact] = []
        vetting = Vetting(session)
        for answer, segments in zip(answers, summary_input.windows, strict=True):
            sound = grounded(_quoted(answer, session), session, prompt=self.prompt.system)
            told, held_back = vetting.held_back(answer.value.summary)
            dropped.update(dict(sound.dropped))
            dropped.update(held_back)
            dropped.update([] if answer.value.has_facts else [NO_LIST])
            apart += sound.quarantined
            counts.update(f"off_{name}" for name in response.off_size(answer.value.summary))
            counts.update(sound.counts)
            windows.append(WindowSummary(told, sound.facts, segments))
        summary, facts = merged(windows)
        self.counters.count(self.model.id, **counts)
        if dropped:
            log.info("candidate_facts.dropped", model=self.model.id, dropped=dict(dropped))
        return SummaryResult(
            summary=summary,
            candidate_facts=facts,
            tokens=sum((each.tokens for each in answers), Tokens()),
            dropped=tuple(sorted(dropped.items())),
            quarantined=tuple(apart),
        )


def _read(text: str, /, *, is_whole: bool, coerce: bool, session: SourceIndex) -> response.ModelSummary:
    """Parse an answer; one with facts that quote nothing of *session* is poor."""
    found = response.read(text, is_whole=is_whole, coerce=coerce)
    if not coerce and (complaint := missing_quotes(found.facts, session)):
        raise Improvable(complaint, value=found)
    return found


def _quoted(answer: StructuredAnswer[response.ModelSummary], session: SourceIndex) -> Sequence[CandidateFact]:
    """Return the facts of an answer, or those of its draft if more of them have a quote."""
    drafts = [answer.value.facts, *([answer.draft.facts] if answer.draft else [])]
    return max(drafts, key=lambda facts: sum(has_quote(fact, session) for fact in facts))


def _decided(at: int, summary_input: SummaryInput) -> Sequence[Decision]:
    """Return the decisions up to the end of a window; those of no turn belong to the last."""
    latest = max((segment.turn for segment in summary_input.windows[at]), default=0)
    is_last = at == len(summary_input.windows) - 1
    return [each for each in summary_input.decisions if (max(each.turns) <= latest if each.turns else is_last)]


def _so_far(before: Summary, *, part: int, of: int) -> str:
    """Return what came before a part of a session, and what to do with it."""
    threads = [f"open: {thread}" for thread in before.open_threads]
    told = fenced([Segment("\n".join((before.title, before.summary, *threads)))], name="before")
    return (
        f"This is part {part} of {of} of a long session. The parts before it, in short:\n{told}\n\n"
        "Answer for the whole session so far, this part included: its title, all that was done in it, its lessons, its "
        "outcome, and what is open at the end of this part, without what was settled. Take facts from this part "
        "alone.\n\n"
    )
