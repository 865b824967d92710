"""Drop candidate facts whose numbers, paths or names no turn has, and prompt injections.

A fact stays only if the turns that it cites contain its numbers, paths and names. Wrong citations are corrected if
another turn contains them. The session decides whose statement a fact is.

Echoes of the prompt and injected instructions are dropped. A person's request to remember something is legitimate. The
same request in a file, a page or a tool's output is not, and neither is anything near it.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from nous.domain.episode import CandidateFact, Category, Trust
from nous.domain.summary_input import MOST_CANDIDATES, SummaryInput
from nous.redaction.redactor import tells_secret
from nous.summary.llm.source_index import MOST, CitedStatement, SourceIndex, SourceTurn, content_of, plain, trust_of
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
    PLANTED = "planted instruction"
    UNSUPPORTED = "no turn supports it"
    NOT_SAID = "not said in the cited turns"
    TWICE = "said twice"
    OVER_CAP = "over the cap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    facts: tuple[CandidateFact, ...]
    dropped: tuple[tuple[str, int], ...] = ()


def grounded(facts: Iterable[CandidateFact], summary_input: SummaryInput, *, canary: str, prompt: str) -> Grounded:
    """Return the *facts* that *summary_input* supports, without echoes of *prompt*. Idempotent."""
    session = SourceIndex(summary_input)
    dropped: Counter[str] = Counter()
    kept: dict[str, CandidateFact] = {}
    for fact in facts:
        judged = _judged(fact, session, _letters(canary), prompt)
        if isinstance(judged, Dropped):
            dropped[judged] += 1
        elif (form := plain(judged.text).replace('"', "").rstrip(" .!;:")) in kept:
            dropped[Dropped.TWICE] += 1
        else:
            kept[form] = judged
    surest = _surest(list(kept.values()))
    if len(surest) < len(kept):
        dropped[Dropped.OVER_CAP] = len(kept) - len(surest)
    return Grounded(facts=surest, dropped=tuple(sorted((str(reason), count) for reason, count in dropped.items())))


def _judged(fact: CandidateFact, session: SourceIndex, canary: str, prompt: str) -> CandidateFact | Dropped:
    if reason := _unfit(fact, canary):
        return reason
    claim = CitedStatement.of(fact.text)
    if _is_echo(claim, prompt, session):
        return Dropped.ECHO
    is_asked = any(segment.is_personal and segment.says(claim) for segment in session.segments())
    if _OVERRIDES.search(fact.text) or (is_instruction(fact.text) and not is_asked):
        return Dropped.PLANTED
    turns = _citation(fact, claim, session)
    if isinstance(turns, Dropped):
        return turns
    if is_planted(claim, turns, session):
        return Dropped.PLANTED
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


_ASSISTANT = "Assistant"
_KEEP = r"(?:remember|memori[sz]e|store|save|record|retain|note down|keep in mind)"
_MODEL = r"(?:you|the (?:assistant|model|agent|ai|llm|memory|summari[sz]er)|(?:any |an? )?(?:ai|llm|assistant|agent)s?)"
_WHAT_IS_KEPT = r"(?:facts?|rules?|memor(?:y|ies)|preferences?|candidate_facts?|knowledge)"

_OVERRIDES = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b(?: \w+){0,4} (?:instructions?|prompts?|guidelines)\b"
    r"|<\|?/?(?:system|im_start|im_end)\b|\[/?INST\]|\bsystem (?:prompt|message|override)\s*[:=]"
    r"|\bnew (?:system prompt|instructions)\s*[:=]"
    r"|\b(?:reveal|print|repeat|output|leak|show)\b[^.\n]{0,30}\bsystem prompt|\byou are now (?:an? |the |in )\w+",
    re.IGNORECASE,
)
_TO_MEMORY = re.compile(
    rf"\b{_MODEL} (?:must|should|shall|need to|needs to|have to|has to|will)(?: \w+)? {_KEEP}\b"
    rf"|\b{_KEEP}\b(?: \w+){{0,4}} (?:as an? |as |in(?:to)? |to )(?:\w+ ){{0,3}}{_WHAT_IS_KEPT}\b"
    rf"|\b{_KEEP} (?:this|the|these|the following)(?: \w+)? {_WHAT_IS_KEPT}\b"
    rf"|\badd\b(?: \w+){{0,4}} (?:in)?to (?:your|the|long-term|its)(?: \w+)? (?:memory|{_WHAT_IS_KEPT})\b"
    rf"|\b{_KEEP} (?:this|the following)\s*:|\bcandidate_facts\b",
    re.IGNORECASE,
)
"""Instructions that say what a memory has to keep."""

_TO_READER = re.compile(
    rf"(?:^|[.!:;>\"'*(\n\]]\s*|\b(?:please|must|should|always|now)\s+){_KEEP}"
    r" (?:that|this|these|the following|it|forever)\b"
    r"|\bsystem prompt\b|\b(?:important|note|attention)\b[^.\n]{0,40}\b(?:ai|llm|assistant|agent|model)s?\b\s*[:,]",
    re.IGNORECASE,
)
"""Instructions to the reader: legitimate from an agent to its user, but not in a tool's output."""


def is_instruction(text: str) -> bool:
    """Return whether *text* instructs a model, or says what a memory has to keep."""
    return bool(_OVERRIDES.search(text) or _TO_MEMORY.search(text))


def is_planted(claim: CitedStatement, turns: Iterable[int], session: SourceIndex) -> bool:
    """Return whether *claim* comes from an injected instruction, and from no person as well.

    So it does if an instruction in any turn says it, or contains more of it than everything else in *turns*.
    """
    if any(segment.is_personal and segment.says(claim) for segment in session.segments()):
        return False
    saying = [segment for segment in session.segments() if segment.says(claim)]
    near = list(session.segments(turns))
    most = max((claim.share_in(segment.content) for segment in near), default=0.0)
    nearest = [segment for segment in near if claim.share_in(segment.content) == most]
    if any(segment.is_personal for segment in nearest):
        nearest = []
    return any(_plants(segment, claim) for segment in [*saying, *nearest])


def _plants(segment: SourceTurn, claim: CitedStatement) -> bool:
    """Return whether an instruction is near *claim*; an agent's text is checked by sentences."""
    if segment.role != _ASSISTANT:
        return is_instruction(segment.text) or _TO_READER.search(segment.text) is not None
    if not is_instruction(segment.text):
        return False
    spans = list(sentences(segment.text))
    around = (
        segment.text[spans[max(0, at - 1)][0] : spans[min(len(spans) - 1, at + 1)][1]]
        for at, (start, end) in enumerate(spans)
        if is_instruction(segment.text[start:end])
    )
    return any(claim.share_in(content_of(text)) >= MOST for text in around)
