"""Keep the facts of a model that its session supports; keep injected ones apart.

A fact stays only if its quotes and the turns that it cites support it (`nous.summary.llm.evidence`). The speaker of the
quotes decides whose statement it is.

Echoes of the prompt are dropped. What a planted instruction may have made is kept apart (`nous.summary.llm.vetting`).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from nous.domain.episode import CandidateFact, Category, QuarantinedFact, Trust
from nous.domain.summary_input import MOST_CANDIDATES
from nous.redaction.redactor import tells_secret
from nous.summary.llm.evidence import Unsupported, supported
from nous.summary.llm.source_index import CitedStatement, SourceIndex, content_of, plain
from nous.summary.llm.vetting import UNCONFIRMED, Vetting
from nous.text.sentences import sentences

LONGEST = 4_000  # the most characters of a fact: anything longer is no single statement


class Dropped(StrEnum):
    """Reason why a fact is dropped that does not depend on its quotes."""

    BLANK = "says nothing"
    TOO_LONG = "too long"
    SECRET = "looks like a secret"  # noqa: S105 - a reason
    ECHO = "echo of the prompt"
    TWICE = "said twice"
    OVER_CAP = "over the cap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    facts: tuple[CandidateFact, ...]
    dropped: tuple[tuple[str, int], ...] = ()
    quarantined: tuple[QuarantinedFact, ...] = ()

    @property
    def counts(self) -> Counter[str]:
        """How many facts were kept, and dropped by reason, under the names of counters."""
        fates = {"kept": len(self.facts), "kept apart": len(self.quarantined), **dict(self.dropped)}
        return Counter({f"facts {fate}": count for fate, count in fates.items() if count})


def grounded(facts: Iterable[CandidateFact], session: SourceIndex, *, prompt: str) -> Grounded:
    """Return the *facts* that *session* supports, without echoes of *prompt*. Idempotent."""
    vetting = Vetting(session)
    dropped: Counter[str] = Counter()
    kept: dict[str, CandidateFact] = {}
    apart: list[QuarantinedFact] = []
    for fact in facts:
        judged = _judged(fact, session, prompt)
        if not isinstance(judged, CandidateFact):
            dropped[judged] += 1
        elif (reason := vetting.objection(judged.text)) == UNCONFIRMED:
            dropped[reason] += 1
        elif reason:
            apart.append(QuarantinedFact(candidate=judged, reason=reason))
        elif (form := plain(judged.text).replace('"', "").rstrip(" .!;:")) in kept:
            dropped[Dropped.TWICE] += 1
        else:
            kept[form] = judged
    surest = _surest(list(kept.values()))
    if len(surest) < len(kept):
        dropped[Dropped.OVER_CAP] = len(kept) - len(surest)
    counted = tuple(sorted((str(reason), count) for reason, count in dropped.items()))
    return Grounded(facts=surest, dropped=counted, quarantined=tuple(apart))


def _judged(fact: CandidateFact, session: SourceIndex, prompt: str) -> CandidateFact | Dropped | Unsupported:
    if reason := _unfit(fact):
        return reason
    if _is_echo(CitedStatement.of(fact.text), prompt, session):
        return Dropped.ECHO
    found = supported(fact, session)
    if isinstance(found, CandidateFact) and found.category is Category.RULE and found.trust is not Trust.USER:
        return replace(found, category=Category.CONCEPT)
    return found


def _unfit(fact: CandidateFact) -> Dropped | None:
    if len(fact.text) > LONGEST:
        return Dropped.TOO_LONG
    if not any(character.isalnum() for character in fact.text):
        return Dropped.BLANK
    return Dropped.SECRET if tells_secret(fact.text) or tells_secret(fact.subject) else None


def _surest(facts: list[CandidateFact]) -> tuple[CandidateFact, ...]:
    if len(facts) <= MOST_CANDIDATES:
        return tuple(facts)
    by_surety = sorted(range(len(facts)), key=lambda at: -facts[at].confidence)
    return tuple(facts[at] for at in sorted(by_surety[:MOST_CANDIDATES]))


_ECHOED, _FEWEST_ECHOED = 0.8, 5
"""Share of a fact's words, and how many of them, that a sentence of the prompt has if the fact echoes it."""


def _is_echo(claim: CitedStatement, prompt: str, session: SourceIndex) -> bool:
    is_ours = any(
        len(claim.content & sentence) >= _FEWEST_ECHOED and claim.share_in(sentence) >= _ECHOED
        for sentence in _sentences_of(prompt)
    )
    return is_ours and not any(claim.share_in(turn.content) >= _ECHOED for turn in session.turns.values())


@cache
def _sentences_of(prompt: str) -> list[frozenset[str]]:
    return [content_of(prompt[start:end]) for start, end in sentences(prompt)]
