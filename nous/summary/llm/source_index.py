"""Index of a session's turns as a model saw them; finds the turns that support a statement."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from nous.domain.episode import Trust
from nous.domain.summary_input import SummaryInput
from nous.summary.llm.literals import Literal, LiteralSource, literals_in, plain
from nous.text.language import words
from nous.transcript.model import WEB_TOOLS

MOST = 0.6
"""The share of a statement's words that counts as most of it."""

_DECISION = "Decision"
_PERSONAL = frozenset({"User", _DECISION})
_MOST_TURNS = 3
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s|e|'s)\Z")
_STEM, _SHORTEST = 6, 3
_UNSPACED = "\u2e80"
"""Scripts from this character on have no spaces between words; there, character pairs stand for words."""

_SPEAKERS = frozenset({"user", "assistant", "agent"})


def content_of(text: str) -> frozenset[str]:
    """Return the stems of the content words of *text*."""
    empty = words().sets["stopwords"] | _SPEAKERS
    found = (word for word in _WORD.findall(plain(text)) if word not in empty)
    return frozenset(stem for word in found for stem in _stems(word))


def _stems(word: str) -> Iterable[str]:
    if word[0] >= _UNSPACED:
        return {word[at : at + 2] for at in range(max(1, len(word) - 1))}
    return (_ENDING.sub("", word)[:_STEM],) if len(word) >= _SHORTEST else ()


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A statement, as the literals and content words that its source must contain."""

    tokens: frozenset[Literal]
    content: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "CitedStatement":
        return cls(literals_in(text), content_of(text))

    def share_in(self, content: frozenset[str]) -> float:
        """Return the share of its words that is in *content*."""
        return len(self.content & content) / len(self.content) if self.content else 0.0


class SourceTurn:
    """A text of a session, and its speaker's role."""

    def __init__(self, text: str, role: str = "") -> None:
        self.text = text
        self.role = role

    @property
    def is_personal(self) -> bool:
        """Return whether a person speaks, and not a program or a model."""
        return self.role in _PERSONAL

    @cached_property
    def literals(self) -> LiteralSource:
        return LiteralSource(self.text)

    @cached_property
    def content(self) -> frozenset[str]:
        return content_of(self.text)

    def has_all_of(self, claim: CitedStatement) -> bool:
        """Return whether it contains all literals of *claim*."""
        return all(self.literals.says(token) for token in claim.tokens)

    def says(self, claim: CitedStatement, share: float = MOST) -> bool:
        """Return whether it contains all literals of *claim*, and *share* of its words."""
        return claim.share_in(self.content) >= share and self.has_all_of(claim)


class SourceIndex:
    """The shown segments of a session, by turn."""

    def __init__(self, segments: Mapping[int, Sequence[SourceTurn]]) -> None:
        self._segments = segments
        self.turns = {number: SourceTurn("\n".join(one.text for one in said)) for number, said in segments.items()}

    @classmethod
    def of(cls, summary_input: SummaryInput) -> "SourceIndex":
        """Build the index of *summary_input*. A decision belongs to the turns that show it."""
        segments: defaultdict[int, list[SourceTurn]] = defaultdict(list)
        for segment in summary_input.segments:
            if segment.turn:
                segments[segment.turn].append(SourceTurn(segment.text, segment.role))
        for decision in summary_input.decisions:
            for turn in decision.turns:
                segments[turn].append(SourceTurn(decision.description, _DECISION))
        return cls(segments)

    @cached_property
    def content(self) -> frozenset[str]:
        return frozenset[str]().union(*(turn.content for turn in self.turns.values()))

    def segments(self, turns: Iterable[int] | None = None) -> Iterable[SourceTurn]:
        """Return the segments of *turns*, or of all turns."""
        return (segment for turn in (self._segments if turns is None else turns) for segment in self._segments[turn])

    def says(self, token: Literal) -> bool:
        return any(turn.literals.says(token) for turn in self.turns.values())

    def turns_saying(self, claim: CitedStatement) -> tuple[int, ...]:
        """Return the few turns that each support *claim* best; none if none does."""
        saying = [number for number, turn in self.turns.items() if turn.says(claim)]
        best = max((claim.share_in(self.turns[number].content) for number in saying), default=0.0)
        return tuple(sorted(n for n in saying if claim.share_in(self.turns[n].content) == best)[:_MOST_TURNS])


_AGENTS = frozenset({"Assistant", "Plan", "Summary", "Sub-agent", "Teammate", "Task"})
_OUTPUT_OF = re.compile(r"\[Output of ([^\]\n]+)\]")
_RANKS = {trust: rank for rank, trust in enumerate(Trust)}


def trust_of(claim: CitedStatement, segments: Iterable[SourceTurn], *, enough: float = MOST) -> Trust:
    """Return the trust in the most trusted speaker of *segments* who says *claim*.

    A person says it with *enough* of its words. If no speaker says it alone, a model has combined it: then it has the
    trust of the least trusted speaker among the nearest segments, and never that of the user.
    """
    speakers = [(_speaker(one), claim.share_in(one.content), one.has_all_of(claim)) for one in segments]
    saying = [
        trust for trust, share, is_exact in speakers if is_exact and share >= (enough if trust is Trust.USER else MOST)
    ]
    if saying:
        return min(saying, key=_RANKS.__getitem__)
    most = max((share for _, share, _ in speakers), default=0.0)
    nearest = [Trust.ASSISTANT, *(trust for trust, share, _ in speakers if share == most)]
    return max(nearest, key=_RANKS.__getitem__)


def _speaker(segment: SourceTurn) -> Trust:
    """Return the trust in a segment's speaker; calls and failures come from programs."""
    if segment.is_personal:
        return Trust.USER
    if segment.role in _AGENTS:
        return Trust.ASSISTANT
    named = _OUTPUT_OF.match(segment.text)
    return Trust.WEB if named and named[1] in WEB_TOOLS else Trust.TOOL
