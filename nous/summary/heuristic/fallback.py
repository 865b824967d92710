"""Facts of an episode that brought none, without a model: what its user states, and key points that stand alone."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nous.domain.episode import CandidateFact, Category, Summary, Trust
from nous.domain.summary_input import Brief
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.sentences import POINTS_BACK, alike, content_words, names
from nous.summary.heuristic.statements import stated, subject_of
from nous.summary.llm.grounding import grounded
from nous.summary.llm.response_checks import is_instruction
from nous.summary.segments import transcript_of
from nous.text.language import words
from nous.transcript.model import Transcript

LEAST, MOST = 0.6, 0.7
"""The confidence of key points, and the most that any such fact gets."""

_FEWEST_WORDS = 4
_GAP = "[..."
"""Begins the mark of what an excerpt leaves out."""


def facts_of(summary: Summary, brief: Brief | None) -> tuple[CandidateFact, ...]:
    """Return what *summary* and the user's words in *brief* teach, the surest first.

    Each is held to what was said, as a model's facts are. Without *brief* no turn can be named.
    """
    points = list(_points(summary))
    if brief is None:
        return tuple(point for point in points if not is_instruction(point.text))
    own = (replace(fact, trust=Trust.USER) for fact in _sound(stated(SessionRecord(_shown(brief))), brief))
    found: list[CandidateFact] = []
    for fact in (*own, *_sound(points, brief)):
        if not any(alike(fact.text, other.text) for other in found):
            found.append(fact)
    return tuple(found)


def _points(summary: Summary) -> Iterator[CandidateFact]:
    """Return the key points that a reader who was not there understands, and that are no events or guesses."""
    known = words()
    for point in summary.key_points:
        is_less = known.says("hedge", point) or known.opens("deed", point) or known.opens("wish", point)
        if not (is_less or POINTS_BACK.match(point)) and len(content_words(point)) >= _FEWEST_WORDS:
            category = Category.TECHNICAL if names(point) else Category.CONCEPT
            yield CandidateFact(text=point, category=category, subject=subject_of(point), confidence=LEAST)


def _shown(brief: Brief) -> Transcript:
    """Return the session as far as *brief* shows it, without what a person's words are shown of in part."""
    return transcript_of([each for each in brief.passages if each.role != "User" or _GAP not in each.text])


def _sound(facts: Iterable[CandidateFact], brief: Brief) -> Iterator[CandidateFact]:
    for fact in grounded(facts, brief, canary="", prompt="").facts:
        yield replace(fact, confidence=min(fact.confidence, MOST))
