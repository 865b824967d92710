"""Extract candidate facts from a summary and excerpt: by LLM, or by heuristics as fallback."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import structlog

from nous.domain.episode import CandidateFact, Summary
from nous.domain.scope import CacheSubject
from nous.domain.summary_input import BETWEEN, Segment, SummaryInput
from nous.llm.base import AnswerUnusable, Model, ModelRefused, Question
from nous.llm.state import UsageCounters
from nous.llm.structured_output import Improvable, ask
from nous.summary.heuristic.statements import facts_of
from nous.summary.llm.evidence import missing_quotes
from nous.summary.llm.grounding import grounded
from nous.summary.llm.prompt import PromptTemplate, fenced
from nous.summary.llm.response import facts_schema, read_facts
from nous.summary.llm.source_index import SourceIndex

MOST_SHOWN = 16_000
"""Characters of an excerpt that are shown, from its beginning; the episode was made from all of it."""

LEAST_SURE = 0.6
MOST, MOST_DATED = 5, 30  # the most facts of an episode; dated ones apart: a session may recount a long history
_NAME = "facts"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmFactExtractor:
    """Extract facts from an episode with a second model call; without *model*, heuristically."""

    prompt: PromptTemplate
    model: Model | None = None
    counters: UsageCounters | None = None

    def extract(
        self, summary: Summary, summary_input: SummaryInput | None, *, matter: CacheSubject
    ) -> tuple[CandidateFact, ...]:
        """Return the facts in *summary* and *summary_input*; heuristic without a usable answer.

        Raises `ModelTimeout` and `ModelUnreachable` (retry), `ModelPaused`, `ModelQuota` and `ModelBusy` (ask later),
        and `ModelMisconfigured` (until the operator has changed something).
        """
        if self.model is None or self.counters is None or summary_input is None:
            return self.by_itself(summary, summary_input)
        session = SourceIndex(summary_input)
        try:
            question = self._question(summary, summary_input, matter)
            said = ask(self.model, question, partial(_read, session=session), counters=self.counters)
        except (AnswerUnusable, ModelRefused) as error:
            log.warning("fact_extraction.model_fallback", failure=error.failure, reason=str(error))
            return self.by_itself(summary, summary_input)
        sure = [fact for fact in said.value if fact.confidence >= LEAST_SURE]
        sound = grounded(sure, session, prompt=self.prompt.system)
        self.counters.count(self.model.id, **sound.counts)
        unsure = len(said.value) - len(sure)
        if unsure or sound.dropped or sound.quarantined:
            dropped = Counter(dict(sound.dropped)) + Counter(each.reason for each in sound.quarantined)
            log.info("fact_extraction.facts_dropped", unsure=unsure, dropped=dict(dropped))
        return _capped(sound.facts)

    def by_itself(self, summary: Summary, summary_input: SummaryInput | None) -> tuple[CandidateFact, ...]:
        return _capped(facts_of(summary, summary_input))

    def _question(self, summary: Summary, summary_input: SummaryInput, matter: CacheSubject) -> Question:
        told = (summary.title, summary.summary, *(f"- {point}" for point in summary.key_points))
        return Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(
                summary=fenced([Segment("\n".join(told))], name="summary"),
                transcript=fenced(_beginning(list(summary_input.segments))),
            ),
            name=_NAME,
            schema=facts_schema(),
            most_tokens=self.prompt.most_tokens,
        )


def _read(text: str, /, *, is_whole: bool, coerce: bool, session: SourceIndex) -> tuple[CandidateFact, ...]:
    found = read_facts(text, is_whole=is_whole, coerce=coerce)
    if not coerce and (complaint := missing_quotes(found, session)):
        raise Improvable(complaint, value=found)
    return found


def _beginning(segments: Sequence[Segment]) -> Sequence[Segment]:
    """Return the leading *segments* that may be shown; if the first is too long, its beginning."""
    lengths = accumulate(len(segment.text) + len(BETWEEN) for segment in segments)
    fitting = sum(length <= MOST_SHOWN for length in lengths)
    return segments[:fitting] or [segment._replace(text=segment.text[:MOST_SHOWN]) for segment in segments[:1]]


def _capped(facts: Sequence[CandidateFact]) -> tuple[CandidateFact, ...]:
    """Return the facts with the highest confidence, in their original order."""
    ranked = sorted(facts, key=lambda fact: -fact.confidence)
    dated = [fact for fact in ranked if fact.event_date]
    undated = [fact for fact in ranked if not fact.event_date]
    cut = len(dated[MOST_DATED:]) + len(undated[MOST:])
    if cut:
        log.warning("fact_extraction.facts_capped", cut=cut)
    kept = {id(fact) for fact in (*dated[:MOST_DATED], *undated[:MOST])}
    return tuple(fact for fact in facts if id(fact) in kept)
