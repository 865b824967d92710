"""A session as it was shown to a model, by turns, ready to be asked where something was said."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from nous.domain.episode import Trust
from nous.domain.summary_input import Brief
from nous.summary.llm.literals import HardToken, Told, hard_tokens, plain
from nous.text.language import words
from nous.transcript.model import WEB_TOOLS

MOST = 0.6
"""Which share of a statement's words is most of it."""

_DECISION = "Decision"
_PERSONAL = frozenset({"User", _DECISION})
_MOST_TURNS = 3
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s|e|'s)\Z")
_STEM, _SHORTEST = 6, 3
_UNSPACED = "\u2e80"
"""From here on are the scripts that put no space between words; there, pairs of characters stand for them."""

_SPEAKERS = frozenset({"user", "assistant", "agent"})


def content_of(text: str) -> frozenset[str]:
    """The words of *text* that say something, without their endings."""
    empty = words().sets["stopwords"] | _SPEAKERS
    found = (word for word in _WORD.findall(plain(text)) if word not in empty)
    return frozenset(stem for word in found for stem in _stems(word))


def _stems(word: str) -> Iterable[str]:
    if word[0] >= _UNSPACED:
        return {word[at : at + 2] for at in range(max(1, len(word) - 1))}
    return (_ENDING.sub("", word)[:_STEM],) if len(word) >= _SHORTEST else ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, and what has to be found of it where it was said."""

    tokens: frozenset[HardToken]
    content: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Claim":
        return cls(hard_tokens(text), content_of(text))

    def share_in(self, content: frozenset[str]) -> float:
        """Which share of its words is in *content*."""
        return len(self.content & content) / len(self.content) if self.content else 0.0


class Heard:
    """A text of a session, and whose it is."""

    def __init__(self, text: str, role: str = "") -> None:
        self.text = text
        self.role = role

    @property
    def is_personal(self) -> bool:
        """Whether a person speaks, and not a program or a model."""
        return self.role in _PERSONAL

    @cached_property
    def told(self) -> Told:
        return Told(self.text)

    @cached_property
    def content(self) -> frozenset[str]:
        return content_of(self.text)

    def has_all_of(self, claim: Claim) -> bool:
        """Whether it has the words of *claim* that cannot be replaced."""
        return all(self.told.says(token) for token in claim.tokens)

    def says(self, claim: Claim, share: float = MOST) -> bool:
        """Whether it has those, and *share* of the others."""
        return claim.share_in(self.content) >= share and self.has_all_of(claim)


class Session:
    """What of a session was shown, by turns."""

    def __init__(self, passages: Mapping[int, Sequence[Heard]]) -> None:
        self._passages = passages
        self.turns = {number: Heard("\n".join(one.text for one in heard)) for number, heard in passages.items()}

    @classmethod
    def of(cls, brief: Brief) -> "Session":
        """The turns of *brief*. A decision is said in the turns that show it."""
        passages: defaultdict[int, list[Heard]] = defaultdict(list)
        for passage in brief.passages:
            if passage.turn:
                passages[passage.turn].append(Heard(passage.text, passage.role))
        for decision in brief.decisions:
            for turn in decision.turns:
                passages[turn].append(Heard(decision.description, _DECISION))
        return cls(passages)

    @cached_property
    def content(self) -> frozenset[str]:
        return frozenset[str]().union(*(turn.content for turn in self.turns.values()))

    def passages(self, turns: Iterable[int] | None = None) -> Iterable[Heard]:
        """What was said in *turns*, or in all of them."""
        return (heard for turn in (self._passages if turns is None else turns) for heard in self._passages[turn])

    def says(self, token: HardToken) -> bool:
        return any(turn.told.says(token) for turn in self.turns.values())

    def turns_saying(self, claim: Claim) -> tuple[int, ...]:
        """The few turns that say *claim* best, each by itself; none if none does."""
        saying = [number for number, turn in self.turns.items() if turn.says(claim)]
        best = max((claim.share_in(self.turns[number].content) for number in saying), default=0.0)
        return tuple(sorted(n for n in saying if claim.share_in(self.turns[n].content) == best)[:_MOST_TURNS])

    def turns_with_parts_of(self, claim: Claim, cited: Iterable[int]) -> tuple[int, ...]:
        """Turns that say *claim* together: those of *cited* that have any of its tokens, and one for each other token.

        None if a token is in no turn, or if together they do not say half of it.
        """
        taken = {number for number in cited if any(self.turns[number].told.says(token) for token in claim.tokens)}
        for token in sorted(claim.tokens):
            if not any(self.turns[number].told.says(token) for number in taken):
                having = [number for number in sorted(self.turns) if self.turns[number].told.says(token)]
                if not having:
                    return ()
                taken.add(max(having, key=lambda number: claim.share_in(self.turns[number].content)))
        together = frozenset[str]().union(*(self.turns[number].content for number in taken))
        return tuple(sorted(taken)) if claim.share_in(together) >= MOST else ()


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
