"""A session understood by a model: what it is asked, how its answers are taken, and what is made of its failures."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from nous.domain.episode import CandidateFact, Summary, Tokens
from nous.domain.errors import BadInput
from nous.domain.scope import Matter
from nous.domain.summary_input import Brief, Passage
from nous.llm.base import AnswerUnusable, Failure, Model, ModelMisconfigured, ModelPaused, ModelRefused, Question
from nous.llm.state import Tally
from nous.llm.structured_output import Answer, Reading, ask
from nous.summary.heuristic.summarize import Extracted
from nous.summary.llm import response
from nous.summary.llm.grounding import grounded
from nous.summary.llm.prompt import Prompt, decisions_block, fenced
from nous.summary.llm.response_checks import off_size
from nous.summary.windows import merged

_NAME = "episode"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """What a model made of a session, what it has cost, and, by reason, how many of its facts were not let through."""

    summary: Summary
    candidate_facts: tuple[CandidateFact, ...]
    tokens: Tokens
    dropped: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeDo:
    """A session has to do without a model for now; the reason begins with the kind of failure."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Makes a model understand sessions.

    A session waits for a model that is out, at most *patience* from when it was first found to be; and, if
    *waits_for_quota*, for one that has said when to come back, as long as it takes.
    """

    model: Model
    prompt: Prompt
    tally: Tally
    clock: Callable[[], datetime]
    patience: timedelta
    waits_for_quota: bool = True

    @property
    def by(self) -> str:
        """Who writes: the model and the prompt. The same author makes the same of the same brief."""
        return f"{self.model.id} {self.prompt.version}"

    def try_to_understand(self, brief: Brief, *, matter: Matter) -> Understood | MadeDo:
        """What the model makes of *brief*, or why the session has to do without.

        Raises:
            ModelTimeout, ModelUnreachable: it may answer if it is asked again.
            ModelPaused: it may be asked later, and the session can wait so long.
        """
        try:
            return self.understand(brief, matter=matter)
        except ModelPaused as pause:
            if self._waits(pause):
                raise
            return MadeDo(reason=f"{pause.failure}: {pause}")
        except (AnswerUnusable, ModelRefused, ModelMisconfigured) as error:
            return MadeDo(reason=f"{error.failure}: {error}")

    def understand(self, brief: Brief, *, matter: Matter) -> Understood:
        """What the model makes of *brief*: a question for each window, each told what the ones before have come to.

        Raises:
            ModelTimeout, ModelUnreachable, ModelPaused, ModelRefused, ModelMisconfigured, AnswerUnusable.
        """
        answers: list[Answer[response.Answer]] = []
        for passages in brief.windows:
            before = answers[-1].value.summary.summary if answers else ""
            question = self._question(passages, brief, before=before, matter=matter)
            answers.append(ask(self.model, question, self._reading(passages), tally=self.tally))
        return self._joined(answers, brief)

    def _reading(self, passages: Sequence[Passage]) -> Reading[response.Answer]:
        """How an answer about *passages* is read: one that tells of the prompt's example is none."""
        canary = self.prompt.canary.casefold()
        is_said = any(canary in passage.text.casefold() for passage in passages)

        def read(text: str, /, *, is_whole: bool, coerce: bool) -> response.Answer:
            found = response.read(text, is_whole=is_whole, coerce=coerce)
            told = " ".join((found.summary.title, found.summary.summary, *found.summary.key_points)).casefold()
            if canary and canary in told and not is_said:
                raise BadInput("The answer tells of the example in the instructions; tell of the session alone.")
            return found

        return read

    def _waits(self, pause: ModelPaused) -> bool:
        match pause.failure:
            case Failure.QUOTA:
                return self.waits_for_quota
            case Failure.OTHER:
                return False  # until somebody has changed something, which may take days
            case _:
                return self.clock() - pause.since < self.patience

    def _question(self, passages: Sequence[Passage], brief: Brief, *, before: str, matter: Matter) -> Question:
        told = f"The session up to this part, in short:\n{before}\n\n" if before else ""
        return Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(
                decisions=decisions_block(brief.decisions), before=told, transcript=fenced(passages)
            ),
            name=_NAME,
            schema=response.schema(),
            most_tokens=self.prompt.most_tokens,
        )

    def _joined(self, answers: Sequence[Answer[response.Answer]], brief: Brief) -> Understood:
        dropped: Counter[str] = Counter()
        parts: list[Extracted] = []
        for summary, facts, notes in (each.value for each in answers):
            if notes:
                log.info("the model's answer was repaired", model=self.model.id, repairs=notes)
            sound = grounded(facts, brief, canary=self.prompt.canary, prompt=self.prompt.system)
            dropped.update(dict(sound.dropped))
            if off := {f"off_{name}": 1 for name in off_size(summary)}:
                self.tally.count(self.model.id, **off)
            parts.append(_part(summary, sound.facts))
        whole = parts[0] if len(parts) == 1 else merged(parts, told=parts[-1].summary.summary)
        if dropped:
            log.info("candidate facts were not let through", model=self.model.id, dropped=dict(dropped))
        return Understood(
            summary=whole.summary,
            candidate_facts=whole.candidate_facts,
            tokens=sum((each.tokens for each in answers), Tokens()),
            dropped=tuple(sorted(dropped.items())),
        )


def _part(summary: Summary, facts: tuple[CandidateFact, ...]) -> Extracted:
    return Extracted(summary=summary, candidate_facts=facts, files_touched=(), is_sure=True)
