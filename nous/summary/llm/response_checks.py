"""Detect prompt echoes and prompt injection in a model's facts, and oversized summaries.

A person's request to remember something is legitimate. The same request in a file, a page or a tool's output is not,
and neither is anything near it.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from nous.domain.episode import Summary
from nous.summary.llm.literals import literals_in, plain
from nous.summary.llm.source_index import MOST, CitedStatement, SourceIndex, SourceTurn, content_of
from nous.text.sentences import sentences

_MOST = 0.8
_FEWEST = 5
_FEWEST_OF_EXAMPLE, _MOST_OF_EXAMPLE = 3, 0.5
_NO_LETTER = re.compile(r"[\W_]+")


class PromptEcho:
    """Detector of text from our own prompt; no session holds *canary* of its example."""

    def __init__(self, prompt: str, canary: str, session: SourceIndex) -> None:
        self._prompt = prompt
        self._canary = canary.strip()
        self._session = session

    def is_echo(self, claim: CitedStatement) -> bool:
        """Return whether a sentence of the prompt has most of *claim*, and no turn of the session."""
        is_ours = any(
            len(claim.content & sentence) >= _FEWEST and claim.share_in(sentence) >= _MOST
            for sentence in self._sentences
        )
        return is_ours and not any(claim.share_in(turn.content) >= _MOST for turn in self._session.turns.values())

    def is_leak(self, text: str, claim: CitedStatement) -> bool:
        """Return whether *text* has the canary in any spelling, or other words of the example alone."""
        if not _letters(self._canary):
            return False
        return (
            _letters(self._canary) in _letters(text)
            or not self._tokens.isdisjoint(claim.tokens)
            or any(self._is_of(example, claim) for example in self._examples)
        )

    def _is_of(self, example: SourceTurn, claim: CitedStatement) -> bool:
        own = (claim.content & example.content) - self._session.content
        return len(own) >= _FEWEST_OF_EXAMPLE and len(own) >= _MOST_OF_EXAMPLE * len(claim.content)

    @cached_property
    def _sentences(self) -> list[frozenset[str]]:
        return [content_of(self._prompt[start:end]) for start, end in sentences(self._prompt)]

    @cached_property
    def _examples(self) -> list[SourceTurn]:
        """The lines with the canary."""
        return [SourceTurn(line) for line in self._prompt.splitlines() if _letters(self._canary) in _letters(line)]

    @cached_property
    def _tokens(self) -> frozenset[object]:
        tokens = (token for example in self._examples for token in literals_in(example.text))
        return frozenset(token for token in tokens if not self._session.says(token))


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
"""Instructions that override the model's prompt."""

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


def overrides(text: str) -> bool:
    """Return whether *text* tries to override a model's prompt; this never belongs in a memory."""
    return _OVERRIDES.search(text) is not None


def is_planted(claim: CitedStatement, turns: Iterable[int], session: SourceIndex) -> bool:
    """Return whether *claim* comes from an injected instruction.

    So it does if an instruction in any turn says it, or contains more of it than everything else in *turns*. A claim
    that a person states as well is not planted.
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


TITLE, SUMMARY = (5, 10), (100, 150)
"""The fewest and the most words."""


def off_size(summary: Summary) -> Iterator[str]:
    """Yield the parts that are not of the requested size; a summary may be shorter."""
    fewest, most = TITLE
    if not fewest <= len(summary.title.split()) <= most:
        yield "title"
    if len(summary.summary.split()) > SUMMARY[1]:
        yield "summary"
    if len(list(sentences(summary.outcome_rationale))) != 1:
        yield "rationale"
