"""Whether a session is two people who talk."""

import re

from nous.language import words
from nous.transcript.model import Kind, Transcript

_FEWEST_TURNS = 3
_FEWEST_OF_SOFTWARE = 3
"""Words of the trade from which people talk of their work."""

_BALANCED = 4.0
"""How many times as much as the other each of two people says, at most."""

_WORD = re.compile(r"\w+")


def is_talk(transcript: Transcript) -> bool:
    """Whether two people talk: turns of like size, no results of tools, no code, and not of making software."""
    sizes = {kind: sum(len(e.text) for e in transcript if e.kind is kind) for kind in (Kind.USER, Kind.ASSISTANT)}
    if not all(sizes.values()) or len(transcript.turns) < _FEWEST_TURNS:
        return False
    is_balanced = max(sizes.values()) <= _BALANCED * min(sizes.values())
    has_results = any(entry.kind is Kind.TOOL_RESULT for entry in transcript)
    told = " ".join(entry.text for entry in transcript)
    return is_balanced and not has_results and "```" not in told and not _is_of_software(told)


def _is_of_software(told: str) -> bool:
    return len({*_WORD.findall(told.lower())} & words().sets["of_software"]) >= _FEWEST_OF_SOFTWARE
