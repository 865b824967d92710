"""What a model says a session taught, held to what was said in it.

A fact stays only if the turns that it cites say its numbers, paths and names; turns that were cited wrongly are put
right where another turn says it. Whatever is dropped is counted, by reason. Whose words a fact is, the session shows.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from nous.domain.episode import CandidateFact, Category, Trust
from nous.domain.summary_input import MOST_CANDIDATES, Brief
from nous.redaction.secrets import looks_secret
from nous.summary.llm.literals import plain
from nous.summary.llm.response_checks import Ours, is_instruction, is_planted, overrides
from nous.summary.llm.source_index import MOST, Claim, Session, trust_of

LONGEST = 4_000
"""Characters of a fact. What is longer is no statement."""

_RULE_SHARE = 0.5
"""How much of a rule its user has to have said; the rest is how it is put."""


class Dropped(StrEnum):
    """Why a fact was dropped."""

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


class Changed(StrEnum):
    """What was put right in a fact that stayed."""

    TURNS = "cited turns corrected"
    RULE = "a rule that no person gave became a concept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """The facts that stayed, in order; how many were dropped, by reason, and changed, by what."""

    facts: tuple[CandidateFact, ...]
    dropped: tuple[tuple[str, int], ...] = ()
    changed: tuple[tuple[str, int], ...] = ()

    @property
    def cut(self) -> int:
        """How many of those that were dropped there was only no room for."""
        return dict(self.dropped).get(Dropped.OVER_CAP, 0)


def grounded(facts: Iterable[CandidateFact], brief: Brief, *, canary: str, prompt: str) -> Grounded:
    """Those of *facts* that *brief* says, and not only the *prompt* or its example, which *canary* marks.

    Doing so again changes nothing.
    """
    session = Session.of(brief)
    ours = Ours(prompt, canary, session)
    dropped: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    kept: dict[str, CandidateFact] = {}
    for fact in facts:
        judged = _judged(fact, session, ours)
        if isinstance(judged, Dropped):
            dropped[judged] += 1
        elif (form := _form(judged.text)) in kept:
            dropped[Dropped.TWICE] += 1
        else:
            kept[form] = judged
            changed.update(_changes(fact, judged))
    surest = _surest(list(kept.values()))
    if len(surest) < len(kept):
        dropped[Dropped.OVER_CAP] = len(kept) - len(surest)
    return Grounded(facts=surest, dropped=_counted(dropped), changed=_counted(changed))


def _judged(fact: CandidateFact, session: Session, ours: Ours) -> CandidateFact | Dropped:
    if reason := _unfit(fact):
        return reason
    claim = Claim.of(fact.text)
    if reason := _foreign(fact, claim, session, ours):
        return reason
    turns = _citation(fact, claim, session)
    if isinstance(turns, Dropped):
        return turns
    if is_planted(claim, turns, session):
        return Dropped.PLANTED
    trust = trust_of(claim, session.passages(turns), enough=_RULE_SHARE if fact.category is Category.RULE else MOST)
    return replace(fact, turns=turns, category=_category(fact, trust), trust=trust)


def _unfit(fact: CandidateFact) -> Dropped | None:
    """Whether *fact* is nothing to keep, whoever said it."""
    if len(fact.text) > LONGEST:
        return Dropped.TOO_LONG
    if not any(character.isalnum() for character in fact.text):
        return Dropped.BLANK
    return Dropped.SECRET if looks_secret(fact.text) or looks_secret(fact.subject) else None


def _foreign(fact: CandidateFact, claim: Claim, session: Session, ours: Ours) -> Dropped | None:
    """Whether *fact* is from our own prompt, or an instruction that no person gave."""
    if ours.is_leak(f"{fact.text} {fact.subject}", claim):
        return Dropped.LEAK
    if ours.is_echo(claim):
        return Dropped.ECHO
    is_asked = any(heard.is_personal and heard.says(claim) for heard in session.passages())
    if overrides(fact.text) or (is_instruction(fact.text) and not is_asked):
        return Dropped.PLANTED
    return None


def _citation(fact: CandidateFact, claim: Claim, session: Session) -> tuple[int, ...] | Dropped:
    """The turns that *fact* rests on: those that it cites, if they say what cannot be put in other words."""
    cited = tuple(sorted({turn for turn in fact.turns if turn in session.turns}))
    if not cited:
        return session.turns_saying(claim) or Dropped.UNSUPPORTED
    if all(any(session.turns[turn].told.says(token) for turn in cited) for token in claim.tokens):
        return cited
    return session.turns_saying(claim) or session.turns_with_parts_of(claim, cited) or Dropped.NOT_SAID


def _category(fact: CandidateFact, trust: Trust) -> Category:
    """Its category; a rule is one only if a person gave it."""
    return Category.CONCEPT if fact.category is Category.RULE and trust is not Trust.USER else fact.category


def _changes(before: CandidateFact, after: CandidateFact) -> Iterable[str]:
    if before.turns != after.turns:
        yield Changed.TURNS
    if before.category is not after.category:
        yield Changed.RULE


def _form(text: str) -> str:
    """The form in which two texts are the same."""
    return plain(text).replace('"', "").rstrip(" .!;:")


def _surest(facts: list[CandidateFact]) -> tuple[CandidateFact, ...]:
    """As many as there may be, in order."""
    if len(facts) <= MOST_CANDIDATES:
        return tuple(facts)
    by_surety = sorted(range(len(facts)), key=lambda at: -facts[at].confidence)
    return tuple(facts[at] for at in sorted(by_surety[:MOST_CANDIDATES]))


def _counted(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((str(reason), count) for reason, count in counts.items()))
