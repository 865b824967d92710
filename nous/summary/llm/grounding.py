"""Grounding check: keep a model's facts only if the session's turns support them.

A fact stays only if the turns that it cites contain its numbers, paths and names. Wrong citations are corrected if
another turn contains them. Dropped facts are counted by reason. The session decides whose statement a fact is.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from nous.domain.episode import CandidateFact, Category, Trust
from nous.domain.summary_input import MOST_CANDIDATES, SummaryInput
from nous.redaction.secrets import looks_secret
from nous.summary.llm.literals import plain
from nous.summary.llm.response_checks import PromptEcho, is_instruction, is_planted, overrides
from nous.summary.llm.source_index import MOST, CitedStatement, SourceIndex, trust_of

LONGEST = 4_000
"""The most characters of a fact. Anything longer is no single statement."""

_RULE_SHARE = 0.5
"""The share of a rule's words that its user must have said; the rest is paraphrase."""


class Dropped(StrEnum):
    """The reason why a fact was dropped."""

    BLANK = "says nothing"
    TOO_LONG = "too long"
    SECRET = "looks like a secret"  # noqa: S105 - a reason
    LEAK = "leak of the example"
    ECHO = "echo of the prompt"
    PLANTED = "planted instruction"
    UNSUPPORTED = "no turn supports it"
    NOT_SAID = "not said in the cited turns"
    TWICE = "said twice"
    OVER_CAP = "over the cap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """The supported facts, in order, and the counts of the dropped ones by reason."""

    facts: tuple[CandidateFact, ...]
    dropped: tuple[tuple[str, int], ...] = ()


def grounded(facts: Iterable[CandidateFact], summary_input: SummaryInput, *, canary: str, prompt: str) -> Grounded:
    """Return the *facts* that *summary_input* supports, without echoes of *prompt*. Idempotent."""
    session = SourceIndex.of(summary_input)
    ours = PromptEcho(prompt, canary, session)
    dropped: Counter[str] = Counter()
    kept: dict[str, CandidateFact] = {}
    for fact in facts:
        judged = _judged(fact, session, ours)
        if isinstance(judged, Dropped):
            dropped[judged] += 1
        elif (form := _form(judged.text)) in kept:
            dropped[Dropped.TWICE] += 1
        else:
            kept[form] = judged
    surest = _surest(list(kept.values()))
    if len(surest) < len(kept):
        dropped[Dropped.OVER_CAP] = len(kept) - len(surest)
    return Grounded(facts=surest, dropped=tuple(sorted((str(reason), count) for reason, count in dropped.items())))


def _judged(fact: CandidateFact, session: SourceIndex, ours: PromptEcho) -> CandidateFact | Dropped:
    if reason := _unfit(fact):
        return reason
    claim = CitedStatement.of(fact.text)
    if reason := _foreign(fact, claim, session, ours):
        return reason
    turns = _citation(fact, claim, session)
    if isinstance(turns, Dropped):
        return turns
    if is_planted(claim, turns, session):
        return Dropped.PLANTED
    trust = trust_of(claim, session.segments(turns), enough=_RULE_SHARE if fact.category is Category.RULE else MOST)
    return replace(fact, turns=turns, category=_category(fact, trust), trust=trust)


def _unfit(fact: CandidateFact) -> Dropped | None:
    if len(fact.text) > LONGEST:
        return Dropped.TOO_LONG
    if not any(character.isalnum() for character in fact.text):
        return Dropped.BLANK
    return Dropped.SECRET if looks_secret(fact.text) or looks_secret(fact.subject) else None


def _foreign(fact: CandidateFact, claim: CitedStatement, session: SourceIndex, ours: PromptEcho) -> Dropped | None:
    if ours.is_leak(f"{fact.text} {fact.subject}", claim):
        return Dropped.LEAK
    if ours.is_echo(claim):
        return Dropped.ECHO
    is_asked = any(segment.is_personal and segment.says(claim) for segment in session.segments())
    if overrides(fact.text) or (is_instruction(fact.text) and not is_asked):
        return Dropped.PLANTED
    return None


def _citation(fact: CandidateFact, claim: CitedStatement, session: SourceIndex) -> tuple[int, ...] | Dropped:
    """Return the turns that support *fact*: those it cites, if they contain all its literals."""
    cited = tuple(sorted({turn for turn in fact.turns if turn in session.turns}))
    if not cited:
        return session.turns_saying(claim) or Dropped.UNSUPPORTED
    if all(any(session.turns[turn].literals.says(token) for turn in cited) for token in claim.tokens):
        return cited
    return session.turns_saying(claim) or Dropped.NOT_SAID


def _category(fact: CandidateFact, trust: Trust) -> Category:
    return Category.CONCEPT if fact.category is Category.RULE and trust is not Trust.USER else fact.category


def _form(text: str) -> str:
    return plain(text).replace('"', "").rstrip(" .!;:")


def _surest(facts: list[CandidateFact]) -> tuple[CandidateFact, ...]:
    """Return the facts with the highest confidence up to the cap, in order."""
    if len(facts) <= MOST_CANDIDATES:
        return tuple(facts)
    by_surety = sorted(range(len(facts)), key=lambda at: -facts[at].confidence)
    return tuple(facts[at] for at in sorted(by_surety[:MOST_CANDIDATES]))
