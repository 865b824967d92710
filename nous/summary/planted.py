"""Instructions to a model or to its memory that somebody has put into a session.

What a person says to be remembered is meant to be. What a file, a page or a tool's output says to be remembered is not,
and neither is anything else that it says in the same breath.
"""

import re
from collections.abc import Iterable

from nous.prose import sentences
from nous.summary.heard import MOST, Claim, Heard, Session, content_of

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
