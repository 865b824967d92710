"""Whose words a statement is, of those who speak in a session."""

import re
from collections.abc import Iterable

from nous.episode import Trust
from nous.summary.heard import MOST, Claim, Heard
from nous.transcript.model import WEB_TOOLS

_AGENTS = frozenset({"Assistant", "Plan", "Summary", "Sub-agent", "Teammate", "Task"})
_OUTPUT_OF = re.compile(r"\[Output of ([^\]\n]+)\]")
_RANKS = {trust: rank for rank, trust in enumerate(Trust)}


def trust_of(claim: Claim, heard: Iterable[Heard], *, enough: float = MOST) -> Trust:
    """The most trusted speaker of *heard* who says *claim*; a person says it with *enough* of its words.

    Where nobody says it alone, a model has put it together: of what was nearest to it, by the least trusted who said
    that. It is nobody's word then, so it is never the user's.
    """
    told = [(_speaker(one), claim.share_in(one.content), one.has_all_of(claim)) for one in heard]
    saying = [
        trust for trust, share, is_exact in told if is_exact and share >= (enough if trust is Trust.USER else MOST)
    ]
    if saying:
        return min(saying, key=_RANKS.__getitem__)
    most = max((share for _, share, _ in told), default=0.0)
    nearest = [Trust.ASSISTANT, *(trust for trust, share, _ in told if share == most)]
    return max(nearest, key=_RANKS.__getitem__)


def _speaker(heard: Heard) -> Trust:
    """On whose word what was *heard* stands. Lines of calls and failures are what programs have made of them."""
    if heard.is_personal:
        return Trust.USER
    if heard.role in _AGENTS:
        return Trust.ASSISTANT
    named = _OUTPUT_OF.match(heard.text)
    return Trust.WEB if named and named[1] in WEB_TOOLS else Trust.TOOL
