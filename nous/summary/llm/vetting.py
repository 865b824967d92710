"""Hold back statements that come from instructions planted in a session.

These are orders of a tool, of a page, or of an agent that repeats them.

What a person typed is never held back. A statement is, if it instructs, or if a sentence of the session that instructs
says most of it in any words. What only a tool or a page says is held back where any of them speaks to a reader.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from operator import itemgetter
from typing import NamedTuple

from nous.domain.episode import CandidateFact, Lesson, QuarantinedFact, Summary, Trust
from nous.summary.llm.source_index import (
    BRIEF,
    PASTED,
    REPORTED,
    TYPED,
    CitedStatement,
    SourceIndex,
    SourceTurn,
    content_of,
    speaker,
    without_label,
)
from nous.text.injection import Aim, addresses, aims, is_disguised, is_english, unmasked, unquoted
from nous.text.pasted import split
from nous.text.sentences import sentences
from nous.transcript.model import Kind, Transcript

# Least shares of a statement's words: to count as said; as an instruction's; as near; as a person's topic.
_SAID, _PLANTED, _NEAR, _HINT = 0.5, 0.6, 0.3, 0.1
_ANNOUNCES = frozenset({Aim.ADDRESS_AGENT, Aim.CHANGE_MEMORY})  # the order may stand in the next sentence
_RISKY = frozenset(Aim) - {Aim.SPEAKS_FOR_USER, Aim.FUTURE_ORDER}  # only if a person ordered it, not only mentioned it
_SELF = frozenset({"Assistant", "Plan", REPORTED})  # roles in which only the agent of the session speaks
UNCHECKED = "no person says so, and it is in a language that is not checked"
DISGUISED = "hidden or disguised text"
BESIDE = "neither a person nor the agent says so, and a tool or a page gives instructions"
UNCONFIRMED = "only a tool or a page says so"
UNFOUNDED = "the session has no such turn, number, path or name"
_OUTPUTS = frozenset({Kind.TOOL_RESULT, Kind.ERROR})
_MOST_SHOWN = 4_000  # characters of an output whose words are known: more of them would say any sentence
UNTITLED = "A session without a title that could be kept"


class Heard(NamedTuple):
    """Shares of a statement's words that a person, the agent, and a tool or a page said."""

    typed: float
    agent: float
    doubted: float

    @property
    def is_typed(self) -> bool:
        return self.typed >= _SAID and self.typed >= self.doubted

    @property
    def is_doubted(self) -> bool:
        return self.doubted > max(self.typed, self.agent) and self.doubted >= _NEAR


class Sorting(ABC):
    """Sorts the statements about one session by whether they may be stored."""

    @abstractmethod
    def objection(self, statement: str) -> str | None:
        """Return why *statement* is held back; None if it is not."""

    def doubt(self, _: str, /) -> str | None:
        """Return why a statement is doubted. A quotation is not."""
        return None

    def unfounded(self, _: str, /) -> str | None:
        """Return why a statement has no ground in the session. A quotation has."""
        return None

    def shown(self, turns: Iterable[int], /) -> tuple[int, ...]:
        """Return those of *turns* that the session has. A quotation's are its own."""
        return tuple(turns)

    def sorted_out(
        self, facts: Iterable[CandidateFact]
    ) -> tuple[tuple[CandidateFact, ...], tuple[QuarantinedFact, ...]]:
        """Return the *facts* that may be learned, and those to keep apart."""
        judged = [(fact, self.objection(fact.text)) for fact in facts]
        apart = (QuarantinedFact(candidate=fact, reason=reason) for fact, reason in judged if reason)
        return tuple(fact for fact, reason in judged if not reason), tuple(apart)

    def held_back(self, summary: Summary) -> tuple[Summary, Counter[str]]:
        """Return *summary* without what is held back, doubted or unfounded; count it by reason."""
        dropped: Counter[str] = Counter()

        def sound(texts: Iterable[str]) -> tuple[str, ...]:
            judged = [(text, self.objection(text) or self.doubt(text) or self.unfounded(text)) for text in texts]
            dropped.update(reason for _, reason in judged if reason)
            return tuple(text for text, reason in judged if not reason)

        kept = replace(
            summary,
            title=" ".join(sound([summary.title])) or UNTITLED,
            summary=" ".join(sound(_sentences(summary.summary))),
            outcome_rationale=" ".join(sound(_sentences(summary.outcome_rationale))),
            open_threads=sound(summary.open_threads),
            topics=sound(summary.topics),
        )
        points = (Lesson(text, self.shown(turns)) for text, turns in summary.lessons if sound([text]))
        return kept.teaching(points), dropped


@dataclass(frozen=True, eq=False)
class Vetting(Sorting):
    session: SourceIndex

    def objection(self, statement: str) -> str | None:
        claim = CitedStatement.of(unmasked(statement))
        heard = self._heard(claim)
        is_mixed = heard.is_typed and self._adds_to_typed(claim)
        if heard.is_typed and not is_mixed:
            risks = aims(statement) & _RISKY
            return f"instruction: {min(risks)}" if risks and not _is_ordered(statement, claim, self._by_hand) else None
        ordered = self._instruction(statement, heard, is_mixed=is_mixed) or self._repetition(claim, heard)
        return ordered or self._unconfirmed(statement, claim, heard)

    def doubt(self, statement: str, /) -> str | None:
        claim = CitedStatement.of(unmasked(statement))
        heard = self._heard(claim)
        brief = max((claim.share_in(said.content) for said in self._doubted if said.role == BRIEF), default=0.0)
        is_unsaid = max(heard.typed, heard.agent, brief) < min(_NEAR, heard.doubted)
        # Of a person who types in another language, a model may have translated what was said: no turn has its words.
        is_foreign = self._types_foreign and not any(said.role == PASTED for said in self._doubted)
        may_be_translated = is_foreign and heard.doubted < _PLANTED and is_english(statement)
        return UNCONFIRMED if is_unsaid and not may_be_translated else None

    def unfounded(self, statement: str, /) -> str | None:
        return UNFOUNDED if self.session.lacks(statement) else None

    def shown(self, turns: Iterable[int], /) -> tuple[int, ...]:
        return tuple(turn for turn in turns if turn in self.session.turns)

    def _heard(self, claim: CitedStatement) -> Heard:
        def share(said: Iterable[SourceTurn]) -> float:
            return max((claim.share_in(segment.content) for segment in said), default=0.0)

        return Heard(share(self._typed), share(self._agent), share(self._doubted))

    def _instruction(self, statement: str, heard: Heard, *, is_mixed: bool) -> str | None:
        is_agents = not is_mixed and not heard.is_doubted and max(heard.agent, _PLANTED) > heard.doubted
        found = aims(statement, of_agent=is_agents)
        if heard.typed >= _HINT:
            found -= {Aim.SPEAKS_FOR_USER}
        # Of a person who types in another language, a model may have translated what was said.
        if self._types_foreign and not self._instructing and heard.doubted < _PLANTED:
            found -= {Aim.SPEAKS_FOR_USER, Aim.FUTURE_ORDER}
        return f"instruction: {min(found)}" if found else None

    def _adds_to_typed(self, claim: CitedStatement) -> bool:
        """Return whether an output or a page says what no person says of *claim*."""
        added = claim.content.difference(*(said.content for said in self._typed))
        literals = [each for each in claim.tokens if not any(said.has(each) for said in self._typed)]
        return any(
            2 * len(added & said.content) >= len(added) > 0 or any(map(said.has, literals)) for said in self._doubted
        )

    def _repetition(self, claim: CitedStatement, heard: Heard) -> str | None:
        shares = ((claim.share_in(content), aim) for content, aim in self._passages)
        share, aim = max(shares, key=itemgetter(0), default=(0.0, ""))
        return f"repeats an instruction: {aim}" if _PLANTED <= share > heard.typed else None

    def _unconfirmed(self, statement: str, claim: CitedStatement, heard: Heard) -> str | None:
        said = max(heard.typed, heard.agent)
        is_beside = any(claim.share_in(each.content) >= heard.doubted for each in self._instructing)
        if (heard.is_doubted and is_beside) or (self._instructing and said < _NEAR):
            return BESIDE
        if self._is_addressed and (doubt := self.doubt(statement)):
            return doubt
        is_known = (said if self._types_foreign else heard.typed) >= _NEAR and not heard.is_doubted
        return None if is_known or is_english(statement) else UNCHECKED

    @cached_property
    def _by_trust(self) -> Sequence[tuple[Trust, SourceTurn]]:
        return [(speaker(segment), segment) for segment in self.session.segments()]

    @cached_property
    def _typed(self) -> Sequence[SourceTurn]:
        return [segment for trust, segment in self._by_trust if trust is Trust.USER]

    @cached_property
    def _by_hand(self) -> Sequence[SourceTurn]:
        """Sentences that a person typed, without decisions: they quote what was asked."""
        return [
            SourceTurn(sentence)
            for trust, said in self._by_trust
            if trust is Trust.USER and said.role == TYPED
            for sentence in _sentences(unquoted(without_label(said.text)))
        ]

    @cached_property
    def _types_foreign(self) -> bool:
        """True if a person types in a language that is not checked: the agent answers in it."""
        return any(not is_english(said.text) for said in self._typed)

    @cached_property
    def _agent(self) -> Sequence[SourceTurn]:
        return [said for trust, said in self._by_trust if trust is Trust.ASSISTANT]

    @cached_property
    def _doubted(self) -> Sequence[SourceTurn]:
        doubted = (segment for trust, segment in self._by_trust if trust.is_doubted)
        return [SourceTurn(unmasked(segment.text), segment.role) for segment in doubted]

    @cached_property
    def _instructing(self) -> Sequence[SourceTurn]:
        """Outputs and pages that instruct or cannot be judged: they alone are not trusted."""

        def instructs(said: SourceTurn) -> bool:
            told = _sentences(without_label(said.text))
            return any(aims(sentence, of_agent=True) or not is_english(sentence) for sentence in told)

        return [said for said in self._doubted if said.role not in {BRIEF, REPORTED} and instructs(said)]

    @cached_property
    def _is_addressed(self) -> bool:
        """True if an output or a page speaks to a reader, as far as can be told."""

        def speaks(text: str) -> bool:
            return addresses(text) or not is_english(text) or any(map(aims, _sentences(text)))

        return self._types_foreign or any(speaks(without_label(said.text)) for said in self._doubted)

    @cached_property
    def _passages(self) -> Sequence[tuple[frozenset[str], str]]:
        """Return the content words of each sentence that instructs, and what it aims at."""
        doubted = (without_label(segment.text) for trust, segment in self._by_trust if trust.is_doubted)
        disguised = (line for text in doubted for line in text.splitlines() if is_disguised(line))
        found = [(content_of(unmasked(line)), DISGUISED) for line in disguised]
        for said in (*self._doubted, *self._agent):
            told = [*_sentences(without_label(said.text))]
            for sentence, following in zip_longest(told, told[1:], fillvalue=""):
                if aim := min(_aims_of(sentence, said), default=None):
                    reach = (sentence, following) if aim in _ANNOUNCES else (sentence,)
                    found += ((content_of(unmasked(each)), str(aim)) for each in reach)
        return found


def _aims_of(sentence: str, said: SourceTurn) -> frozenset[Aim]:
    """Return what a sentence aims at; the session's agent also tells of instructions."""
    if said.role in _SELF:
        return aims(sentence, of_agent=True)
    strong = aims(sentence, is_typed=True) if speaker(said).is_doubted else aims(sentence, of_agent=True)
    return strong | (aims(sentence) & {Aim.CHANGE_MEMORY})


@dataclass(frozen=True, eq=False)
class QuoteVetting(Sorting):
    """Judge of an extractive summary, whose statements are sentences of the session."""

    transcript: Transcript

    def objection(self, statement: str) -> str | None:
        statement = _ASKED.sub("", statement)
        found, risks = aims(statement, of_agent=True), aims(statement, is_typed=True) & _RISKY
        if not found and not risks:
            return None
        claim = CitedStatement.of(unmasked(statement))
        if not found and any(claim.share_in(content) >= _PLANTED for content in self._shown):
            found = risks
        if not found or _is_ordered(statement, claim, self._by_hand):
            return None
        return f"instruction: {min(found)}"

    @cached_property
    def _shown(self) -> Sequence[frozenset[str]]:
        outputs = (entry.text for entry in self.transcript if entry.kind in _OUTPUTS)
        pasted = (split(entry.text)[1] for entry in self.transcript if entry.kind is Kind.USER)
        return [content_of(text[:_MOST_SHOWN]) for text in (*outputs, *pasted)]

    @cached_property
    def _by_hand(self) -> Sequence[SourceTurn]:
        typed = (split(entry.text)[0] for entry in self.transcript if entry.kind is Kind.USER)
        return [SourceTurn(sentence) for text in typed for sentence in _sentences(unquoted(text))]


# Quotation of a person's question, which does not make its answer their word.
_ASKED = re.compile(r"^“[^”]*” was answered: |^The question of turn \d+ was answered: ")
_DENIAL = re.compile(
    r"(?<![-\w])(?:not?|never|none|nothing|without|cannot|stop|(?<!to )avoid\w*|dont|refus\w+|forb[aio]d\w*|prohibit\w*"
    r"|bad idea|wrong|told|says?)\b(?!-)|n['\u2019]t\b",
    re.IGNORECASE,
)


def _is_ordered(statement: str, claim: CitedStatement, by_hand: Iterable[SourceTurn]) -> bool:
    """Return whether a person typed *statement*; they must not deny what it urges, nor only ask."""
    shares = [(claim.share_in(said.content), said.text) for said in by_hand]
    most = max((share for share, _ in shares), default=0.0)
    is_denied = bool(_DENIAL.search(statement))
    if most < _SAID or not aims(statement, is_typed=True) & _RISKY:
        return most >= _SAID
    return any(
        share >= _SAID
        and (_POLITE.match(said) or not said.rstrip("\"')").endswith("?"))
        and any(is_denied or not _DENIAL.search(part) for part in _risky_parts(said))
        for share, said in shares
    )


_POLITE = re.compile(
    r"\W*(?:please |hey |so |ok(?:ay)? )?(?:can|could|would|will) you (?!explain|tell|say|show|describe|be\b)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[,;:]\s|\b(?:but|since|because|as|it)\b")


def _risky_parts(said: str) -> list[str]:
    """Return the clauses of a sentence that aim at something; the sentence, if none does alone."""
    parts = [part for part in _PARTS.split(said) if aims(part, is_typed=True) & _RISKY]
    return parts or [said]


def _sentences(text: str) -> Iterator[str]:
    return (text[start:end].strip() for start, end in sentences(text))
