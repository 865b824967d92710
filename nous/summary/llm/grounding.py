"""Drop candidate facts whose numbers, paths or names no turn has; keep injected ones apart.

A fact stays only if the turns that it cites contain its numbers, paths and names. Wrong citations are corrected if
another turn contains them. The session decides whose statement a fact is.

Echoes of the prompt are dropped. What a planted instruction may have made is kept apart (`nous.summary.llm.vetting`).
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from nous.domain.episode import CandidateFact, Category, QuarantinedFact, Trust
from nous.domain.summary_input import MOST_CANDIDATES, SummaryInput
from nous.redaction.redactor import tells_secret
from nous.summary.llm.source_index import MOST, CitedStatement, SourceIndex, content_of, plain, trust_of
from nous.summary.llm.vetting import UNCONFIRMED, Vetting
from nous.text.sentences import sentences

LONGEST = 4_000
"""The most characters of a fact: anything longer is no single statement."""

_RULE_SHARE = 0.5
"""The share of a rule's words that its user must have said; the rest is paraphrase."""


class Dropped(StrEnum):
    BLANK = "says nothing"
    TOO_LONG = "too long"
    SECRET = "looks like a secret"  # noqa: S105 - a reason
    LEAK = "leak of the example"
    ECHO = "echo of the prompt"
    UNSUPPORTED = "no turn supports it"
    NOT_SAID = "not said in the cited turns"
    TWICE = "said twice"
    OVER_CAP = "over the cap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    facts: tuple[CandidateFact, ...]
    dropped: tuple[tuple[str, int], ...] = ()
    quarantined: tuple[QuarantinedFact, ...] = ()


def grounded(facts: Iterable[CandidateFact], summary_input: SummaryInput, *, canary: str, prompt: str) -> Grounded:
    """Return the *facts* that *summary_input* supports, without echoes of *prompt*. Idempotent."""
    session = SourceIndex(summary_input)
    vetting = Vetting(session)
    dropped: Counter[str] = Counter()
    kept: dict[str, CandidateFact] = {}
    apart: list[QuarantinedFact] = []
    for fact in facts:
        judged = _judged(fact, session, _letters(canary), prompt)
        if isinstance(judged, Dropped):
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


def _judged(fact: CandidateFact, session: SourceIndex, canary: str, prompt: str) -> CandidateFact | Dropped:
    if reason := _unfit(fact, canary):
        return reason
    claim = CitedStatement.of(fact.text)
    if _is_echo(claim, prompt, session):
        return Dropped.ECHO
    turns = _citation(fact, claim, session)
    if isinstance(turns, Dropped):
        return turns
    trust = trust_of(claim, session.segments(turns), enough=_RULE_SHARE if fact.category is Category.RULE else MOST)
    is_no_rule = fact.category is Category.RULE and trust is not Trust.USER
    return replace(fact, turns=turns, category=Category.CONCEPT if is_no_rule else fact.category, trust=trust)


def _unfit(fact: CandidateFact, canary: str) -> Dropped | None:
    if len(fact.text) > LONGEST:
        return Dropped.TOO_LONG
    if not any(character.isalnum() for character in fact.text):
        return Dropped.BLANK
    if tells_secret(fact.text) or tells_secret(fact.subject):
        return Dropped.SECRET
    return Dropped.LEAK if canary and canary in _letters(f"{fact.text} {fact.subject}") else None


def _citation(fact: CandidateFact, claim: CitedStatement, session: SourceIndex) -> tuple[int, ...] | Dropped:
    """Return the turns that support *fact*: those it cites, if they contain all its literals."""
    cited = tuple(sorted({turn for turn in fact.turns if turn in session.turns}))
    if not cited:
        return session.turns_saying(claim) or Dropped.UNSUPPORTED
    if all(any(session.turns[turn].has(token) for turn in cited) for token in claim.tokens):
        return cited
    return session.turns_saying(claim) or Dropped.NOT_SAID


def _surest(facts: list[CandidateFact]) -> tuple[CandidateFact, ...]:
    if len(facts) <= MOST_CANDIDATES:
        return tuple(facts)
    by_surety = sorted(range(len(facts)), key=lambda at: -facts[at].confidence)
    return tuple(facts[at] for at in sorted(by_surety[:MOST_CANDIDATES]))


_ECHOED, _FEWEST_ECHOED = 0.8, 5
"""Share of a fact's words, and how many of them, that a sentence of the prompt has if the fact echoes it."""

_NO_LETTER = re.compile(r"[\W_]+")


def _is_echo(claim: CitedStatement, prompt: str, session: SourceIndex) -> bool:
    is_ours = any(
        len(claim.content & sentence) >= _FEWEST_ECHOED and claim.share_in(sentence) >= _ECHOED
        for sentence in _sentences_of(prompt)
    )
    return is_ours and not any(claim.share_in(turn.content) >= _ECHOED for turn in session.turns.values())


@cache
def _sentences_of(prompt: str) -> list[frozenset[str]]:
    return [content_of(prompt[start:end]) for start, end in sentences(prompt)]


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", plain(text))
