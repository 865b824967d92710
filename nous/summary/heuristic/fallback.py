"""Facts of an episode that brought none, without a model: what its user states, and key points that stand alone."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from nous.brief import Brief, Passage
from nous.episode import CandidateFact, Category, Summary, Trust
from nous.language import words
from nous.prose import sentences
from nous.summary.grounding import grounded
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.sentences import PASTED, alike, content_words, names
from nous.summary.heuristic.statements import stated
from nous.summary.planted import is_instruction
from nous.transcript.model import Entry, Kind, Transcript

LEAST, MOST = 0.6, 0.7
"""The confidence of key points, and the most that any such fact gets."""

_FEWEST_WORDS = 4
_KINDS = {"User": Kind.USER, "Assistant": Kind.ASSISTANT, "Decision": Kind.DECISION}
_LABEL = re.compile(r"\A\[[^\]\n]+\]\s")
_MARK = re.compile(r"\[\.\.\.(?: (\d{1,9}) characters \.\.\.)?\]")
_GAP = "\ufffc"
"""Stands for the mark of a gap, whose dots would end a sentence."""

_DANGLES = re.compile(r"(?:this|that|these|those|it|they|he|she|both|here|there|such|which)\b", re.IGNORECASE)


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
        if not (is_less or _DANGLES.match(point)) and len(content_words(point)) >= _FEWEST_WORDS:
            found = names(point)
            category = Category.TECHNICAL if found else Category.CONCEPT
            yield CandidateFact(text=point, category=category, subject=found[0] if found else "", confidence=LEAST)


def _shown(brief: Brief) -> Transcript:
    """Return the session as far as *brief* shows it."""
    entries = tuple(
        Entry(kind=_kind(passage), text=_said(passage), id=str(at), turn=passage.turn)
        for at, passage in enumerate(brief.passages)
        if passage.role
    )
    return Transcript(format="", entries=entries, digest="", bytes=0)


def _kind(passage: Passage) -> Kind:
    """Return the speaker; of a pasted document that is shown in part there is none."""
    omitted = sum(int(found[1] or 0) for found in _MARK.finditer(passage.text))
    return _KINDS.get(passage.role, Kind.TOOL_RESULT) if omitted < PASTED else Kind.TOOL_RESULT


def _said(passage: Passage) -> str:
    """Return the words of *passage* without its label and without sentences that are shown in part."""
    text = _MARK.sub(_GAP, _LABEL.sub("", passage.text))
    spans = (text[start:end] for start, end in sentences(text))
    return "\n".join(span for span in spans if _GAP not in span)


def _sound(facts: Iterable[CandidateFact], brief: Brief) -> Iterator[CandidateFact]:
    for fact in grounded(facts, brief, canary="", prompt="").facts:
        yield replace(fact, confidence=min(fact.confidence, MOST))
