"""Summarize a session by LLM, window by window; return summary and grounded facts."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from nous.domain.episode import CandidateFact, QuarantinedFact, Summary, Tokens
from nous.domain.errors import BadInput
from nous.domain.scope import CacheSubject
from nous.domain.summary_input import Segment, SummaryInput
from nous.llm.base import AnswerUnusable, Failure, Model, ModelMisconfigured, ModelPaused, ModelRefused, Question
from nous.llm.state import UsageCounters
from nous.llm.structured_output import Parser, StructuredAnswer, ask
from nous.summary.heuristic.summarize import Extracted, merged
from nous.summary.llm import response
from nous.summary.llm.grounding import grounded
from nous.summary.llm.prompt import PromptTemplate, decisions_block, fenced
from nous.summary.llm.source_index import SourceIndex
from nous.summary.llm.vetting import Vetting

_NAME = "episode"

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
        answers: list[StructuredAnswer[response.ModelSummary]] = []
        for segments in summary_input.windows:
            before = answers[-1].value.summary.summary if answers else ""
            question = self._question(segments, summary_input, before=before, matter=matter)
            answers.append(ask(self.model, question, self._reading(segments), counters=self.counters))
        return self._joined(answers, summary_input)

    def _reading(self, segments: Sequence[Segment]) -> Parser[response.ModelSummary]:
        """Return a parser for answers about *segments* that rejects the prompt's own example."""
        canary = self.prompt.canary.casefold()
        is_said = any(canary in segment.text.casefold() for segment in segments)

        def read(text: str, /, *, is_whole: bool, coerce: bool) -> response.ModelSummary:
            found = response.read(text, is_whole=is_whole, coerce=coerce)
            words = " ".join((found.summary.title, found.summary.summary, *found.summary.key_points)).casefold()
            if canary and canary in words and not is_said:
                raise BadInput("The answer tells of the example in the instructions; tell of the session alone.")
            return found

        return read

    def _waits(self, pause: ModelPaused) -> bool:
        if pause.failure is Failure.QUOTA:
            return self.waits_for_quota
        lasts = pause.failure is Failure.OTHER  # until an operator changes something, which may take days
        return not lasts and self.clock() - pause.since < self.max_wait

    def _question(
        self, segments: Sequence[Segment], summary_input: SummaryInput, *, before: str, matter: CacheSubject
    ) -> Question:
        earlier = f"The session up to this part, in short:\n{before}\n\n" if before else ""
        return Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(
                decisions=decisions_block(summary_input.decisions), before=earlier, transcript=fenced(segments)
            ),
            name=_NAME,
            schema=response.schema(),
            most_tokens=self.prompt.most_tokens,
        )

    def _joined(
        self, answers: Sequence[StructuredAnswer[response.ModelSummary]], summary_input: SummaryInput
    ) -> SummaryResult:
        dropped: Counter[str] = Counter()
        parts: list[Extracted] = []
        apart: list[QuarantinedFact] = []
        vetting = Vetting(SourceIndex(summary_input))
        for summary, facts in (each.value for each in answers):
            sound = grounded(facts, summary_input, canary=self.prompt.canary, prompt=self.prompt.system)
            told = vetting.held_back(summary)
            dropped.update(dict(sound.dropped))
            dropped.update(told.dropped)
            apart += sound.quarantined
            if off := {f"off_{name}": 1 for name in response.off_size(summary)}:
                self.counters.count(self.model.id, **off)
            parts.append(Extracted(summary=told.summary, candidate_facts=sound.facts, files_touched=(), is_sure=True))
        whole = parts[0] if len(parts) == 1 else merged(parts, overview=parts[-1].summary.summary)
        if dropped:
            log.info("candidate_facts.dropped", model=self.model.id, dropped=dict(dropped))
        return SummaryResult(
            summary=whole.summary,
            candidate_facts=whole.candidate_facts,
            tokens=sum((each.tokens for each in answers), Tokens()),
            dropped=tuple(sorted(dropped.items())),
            quarantined=tuple(apart),
        )
