"""What a model has from its own instructions and not from the session: their sentences, and their example.

What a person says to be remembered is meant to be. What a file, a page or a tool's output says to be remembered is not,
and neither is anything else that it says in the same breath.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from nous.domain.episode import Summary
from nous.summary.llm.literals import Told, hard_tokens, plain
from nous.summary.llm.source_index import MOST, Claim, Heard, Session, content_of
from nous.text.sentences import sentences

_MOST = 0.8
_FEWEST = 5
_FEWEST_OF_EXAMPLE, _MOST_OF_EXAMPLE = 3, 0.5
_SHORTEST = 5
_NO_LETTER = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")


class Ours:
    """The text of a prompt, and the *canary*: a word of its example that no session can hold."""

    def __init__(self, prompt: str, canary: str, session: Session) -> None:
        self._prompt = prompt
        self._canary = canary.strip()
        self._session = session

    def is_echo(self, claim: Claim) -> bool:
        """Whether most of *claim* stands in one sentence of the prompt, and in no turn of the session."""
        is_ours = any(
            len(claim.content & sentence) >= _FEWEST and claim.share_in(sentence) >= _MOST
            for sentence in self._sentences
        )
        return is_ours and not any(claim.share_in(turn.content) >= _MOST for turn in self._session.turns.values())

    def is_leak(self, text: str, claim: Claim) -> bool:
        """Whether *text* has the canary, however it is written, or what else only its example says."""
        if not _letters(self._canary):
            return False
        told = Told(text)
        return (
            _letters(self._canary) in _letters(text)
            or any(f" {word} " in told.words for word in self._words_of_canary)
            or not self._tokens.isdisjoint(claim.tokens)
            or any(self._is_of(example, claim) for example in self._examples)
        )

    def _is_of(self, example: Heard, claim: Claim) -> bool:
        own = (claim.content & example.content) - self._session.content
        return len(own) >= _FEWEST_OF_EXAMPLE and len(own) >= _MOST_OF_EXAMPLE * len(claim.content)

    @cached_property
    def _sentences(self) -> list[frozenset[str]]:
        return [content_of(self._prompt[start:end]) for start, end in sentences(self._prompt)]

    @cached_property
    def _examples(self) -> list[Heard]:
        """The lines with the canary."""
        return [Heard(line) for line in self._prompt.splitlines() if _letters(self._canary) in _letters(line)]

    @cached_property
    def _tokens(self) -> frozenset[object]:
        tokens = (token for example in self._examples for token in hard_tokens(example.text))
        return frozenset(token for token in tokens if not self._session.says(token))

    @cached_property
    def _words_of_canary(self) -> list[str]:
        """The parts of the canary that the session does not know."""
        parts = (part for part in _WORD.findall(plain(self._canary)) if len(part) >= _SHORTEST)
        return [part for part in parts if not content_of(part) <= self._session.content]


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
"""Takes the place of what the model was told."""

_TO_MEMORY = re.compile(
    rf"\b{_MODEL} (?:must|should|shall|need to|needs to|have to|has to|will)(?: \w+)? {_KEEP}\b"
    rf"|\b{_KEEP}\b(?: \w+){{0,4}} (?:as an? |as |in(?:to)? |to )(?:\w+ ){{0,3}}{_WHAT_IS_KEPT}\b"
    rf"|\b{_KEEP} (?:this|the|these|the following)(?: \w+)? {_WHAT_IS_KEPT}\b"
    rf"|\badd\b(?: \w+){{0,4}} (?:in)?to (?:your|the|long-term|its)(?: \w+)? (?:memory|{_WHAT_IS_KEPT})\b"
    rf"|\b{_KEEP} (?:this|the following)\s*:|\bcandidate_facts\b",
    re.IGNORECASE,
)
"""Says what a memory has to keep."""

_TO_READER = re.compile(
    rf"(?:^|[.!:;>\"'*(\n\]]\s*|\b(?:please|must|should|always|now)\s+){_KEEP}"
    r" (?:that|this|these|the following|it|forever)\b"
    r"|\bsystem prompt\b|\b(?:important|note|attention)\b[^.\n]{0,40}\b(?:ai|llm|assistant|agent|model)s?\b\s*[:,]",
    re.IGNORECASE,
)
"""What an agent may say to its user, but a tool's output has no business to say."""


def is_instruction(text: str) -> bool:
    """Whether *text* tells a model what to do, or a memory what to keep."""
    return bool(_OVERRIDES.search(text) or _TO_MEMORY.search(text))


def overrides(text: str) -> bool:
    """Whether *text* takes the place of what a model was told; nobody's memory is the place for that."""
    return _OVERRIDES.search(text) is not None


def is_planted(claim: Claim, turns: Iterable[int], session: Session) -> bool:
    """Whether such an instruction says *claim*, in any turn, or says more of it than all else in *turns*.

    What a person says as well is not planted.
    """
    if any(heard.is_personal and heard.says(claim) for heard in session.passages()):
        return False
    saying = [heard for heard in session.passages() if heard.says(claim)]
    near = list(session.passages(turns))
    most = max((claim.share_in(heard.content) for heard in near), default=0.0)
    nearest = [heard for heard in near if claim.share_in(heard.content) == most]
    if any(heard.is_personal for heard in nearest):
        nearest = []
    return any(_plants(heard, claim) for heard in [*saying, *nearest])


def _plants(heard: Heard, claim: Claim) -> bool:
    """Whether *heard* is an instruction near *claim*. What an agent says is looked at by sentences, the rest whole."""
    if heard.role != _ASSISTANT:
        return is_instruction(heard.text) or _TO_READER.search(heard.text) is not None
    if not is_instruction(heard.text):
        return False
    spans = list(sentences(heard.text))
    around = (
        heard.text[spans[max(0, at - 1)][0] : spans[min(len(spans) - 1, at + 1)][1]]
        for at, (start, end) in enumerate(spans)
        if is_instruction(heard.text[start:end])
    )
    return any(claim.share_in(content_of(text)) >= MOST for text in around)


TITLE, SUMMARY = (5, 10), (100, 150)
"""The fewest and the most words."""


def off_size(summary: Summary) -> Iterator[str]:
    """The names of what is not of the size that was asked for. A summary may be shorter: some sessions say little."""
    fewest, most = TITLE
    if not fewest <= len(summary.title.split()) <= most:
        yield "title"
    if len(summary.summary.split()) > SUMMARY[1]:
        yield "summary"
    if len(list(sentences(summary.outcome_rationale))) != 1:
        yield "rationale"
