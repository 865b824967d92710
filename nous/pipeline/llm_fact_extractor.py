"""Facts of an episode that has brought none: from its summary and from what was shown of its session."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import structlog

from nous.domain.episode import CandidateFact, Summary
from nous.domain.scope import Matter
from nous.domain.summary_input import BETWEEN, Brief, Passage
from nous.llm.base import AnswerUnusable, Model, ModelRefused, Question
from nous.llm.state import Tally
from nous.llm.structured_output import ask
from nous.summary.heuristic.fallback import facts_of
from nous.summary.llm.grounding import grounded
from nous.summary.llm.prompt import Prompt, fenced
from nous.summary.llm.response import facts_schema, read_facts

MOST_SHOWN = 16_000
"""Characters of an excerpt, from its beginning: the episode has been made from all of it."""

LEAST_SURE = 0.6
MOST, MOST_DATED = 5, 30
"""Facts of an episode. Those of a known day have room of their own: a session may well tell of a whole history."""

_NAME = "facts"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """Reads an episode again for what it may have taught; without *model* nobody is asked."""

    prompt: Prompt
    model: Model | None = None
    tally: Tally | None = None

    def extract(self, summary: Summary, brief: Brief | None, *, matter: Matter) -> tuple[CandidateFact, ...]:
        """What *summary* and *brief* teach, which are of *matter*.

        Where the model has no answer to this question, it is done without.

        Raises:
            ModelTimeout, ModelUnreachable: it may answer if it is asked again.
            ModelPaused, ModelQuota, ModelBusy: it may be asked later.
            ModelMisconfigured: it answers nobody, until the operator has changed something.
        """
        if self.model is None or self.tally is None or brief is None:
            return self.by_itself(summary, brief)
        try:
            said = ask(self.model, self._question(summary, brief, matter), read_facts, tally=self.tally)
        except (AnswerUnusable, ModelRefused) as error:
            log.warning("facts are extracted without the model", failure=error.failure, reason=str(error))
            return self.by_itself(summary, brief)
        sure = [fact for fact in said.value if fact.confidence >= LEAST_SURE]
        sound = grounded(sure, brief, canary=self.prompt.canary, prompt=self.prompt.system)
        unsure = len(said.value) - len(sure)
        if unsure or sound.dropped:
            log.info("extracted facts were not let through", unsure=unsure, dropped=dict(sound.dropped))
        return _capped(sound.facts)

    def by_itself(self, summary: Summary, brief: Brief | None) -> tuple[CandidateFact, ...]:
        """What they teach in their own words."""
        return _capped(facts_of(summary, brief))

    def _question(self, summary: Summary, brief: Brief, matter: Matter) -> Question:
        return Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(
                summary=fenced([Passage(_told(summary))], name="summary"),
                transcript=fenced(_beginning(list(brief.passages))),
            ),
            name=_NAME,
            schema=facts_schema(),
            most_tokens=self.prompt.most_tokens,
        )


def _told(summary: Summary) -> str:
    return "\n".join((summary.title, summary.summary, *(f"- {point}" for point in summary.key_points)))


def _beginning(passages: Sequence[Passage]) -> Sequence[Passage]:
    """As many of *passages* as may be shown, and of the first at least that much."""
    lengths = accumulate(len(passage.text) + len(BETWEEN) for passage in passages)
    fitting = sum(length <= MOST_SHOWN for length in lengths)
    return passages[:fitting] or [passage._replace(text=passage.text[:MOST_SHOWN]) for passage in passages[:1]]


def _capped(facts: Sequence[CandidateFact]) -> tuple[CandidateFact, ...]:
    """The surest, in order."""
    ranked = sorted(facts, key=lambda fact: -fact.confidence)
    dated = [fact for fact in ranked if fact.event_date]
    undated = [fact for fact in ranked if not fact.event_date]
    cut = len(dated[MOST_DATED:]) + len(undated[MOST:])
    if cut:
        log.warning("extracted facts cut", cut=cut)
    kept = {id(fact) for fact in (*dated[:MOST_DATED], *undated[:MOST])}
    return tuple(fact for fact in facts if id(fact) in kept)
