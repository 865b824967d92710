"""Heuristic facts for an episode without facts: user statements and key points."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nous.domain.episode import CandidateFact, Category, Summary, Trust
from nous.domain.summary_input import MOST_CANDIDATES, SummaryInput
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.sentences import POINTS_BACK, content_words, distinct, names
from nous.summary.heuristic.statements import fact_of, stated
from nous.summary.llm.grounding import grounded, is_instruction
from nous.summary.segments import transcript_of
from nous.text.language import words
from nous.transcript.model import Transcript

LEAST, MOST = 0.6, 0.7
"""The confidence of key points, and the highest confidence of any such fact."""

_FEWEST_WORDS = 4
_GAP = "[..."
"""Begins the mark of a gap in an excerpt."""


def facts_of(summary: Summary, summary_input: SummaryInput | None) -> tuple[CandidateFact, ...]:
    """Return grounded facts in *summary* and the user's words, surest first."""
    points = list(_points(summary))
    if summary_input is None:
        return tuple(point for point in points if not is_instruction(point.text))
    own = (
        replace(fact, trust=Trust.USER) for fact in _sound(stated(SessionRecord(_shown(summary_input))), summary_input)
    )
    return tuple(distinct((*own, *_sound(points, summary_input)), MOST_CANDIDATES, lambda fact: fact.text))


def _points(summary: Summary) -> Iterator[CandidateFact]:
    """Yield the key points that are clear without context, and are no events or guesses."""
    known = words()
    for point in summary.key_points:
        is_less = known.says("hedge", point) or known.opens("deed", point) or known.opens("wish", point)
        if not (is_less or POINTS_BACK.match(point)) and len(content_words(point)) >= _FEWEST_WORDS:
            category = Category.TECHNICAL if names(point) else Category.CONCEPT
            yield fact_of(point, category, LEAST)


def _shown(summary_input: SummaryInput) -> Transcript:
    """Return the shown session as a transcript, without partially shown user messages."""
    return transcript_of([each for each in summary_input.segments if each.role != "User" or _GAP not in each.text])


def _sound(facts: Iterable[CandidateFact], summary_input: SummaryInput) -> Iterator[CandidateFact]:
    for fact in grounded(facts, summary_input, canary="", prompt="").facts:
        yield replace(fact, confidence=min(fact.confidence, MOST))
