"""What an episode without candidates may have taught, without a model: lessons of its summary, words of its user.

They are held to what was said, as a model's facts are. Where that leaves nothing, there is nothing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from nous.brief import Brief, Passage
from nous.episode import CandidateFact, Category, Summary, Trust
from nous.language import words
from nous.prose import sentences
from nous.summary.decisions import LEAST_SURE
from nous.summary.evidence import Evidence
from nous.summary.facts import Source, choices, identities, preferences
from nous.summary.grounding import grounded
from nous.summary.lasting import lasts, outlasts
from nous.summary.lessons import is_durable, name_in, standing_alone
from nous.summary.names import subject_of
from nous.summary.people import people
from nous.summary.planted import is_instruction
from nous.summary.repeats import distinct
from nous.summary.rules import standing_rules
from nous.summary.stale import is_of_the_moment
from nous.summary.stated import circumstances, customs
from nous.summary.statements import DOCUMENT, Statement
from nous.transcript.model import Entry, Kind, Transcript

LEAST, MOST = 0.6, 0.7
"""How sure such facts are: what was said in passing, and what the user has said of themselves or decided."""

_KINDS = {"User": Kind.USER, "Assistant": Kind.ASSISTANT, "Decision": Kind.DECISION}
_LABEL = re.compile(r"\A\[[^\]\n]+\]\s")
_MARK = re.compile(r"\[\.\.\.(?: (\d{1,9}) characters \.\.\.)?\]")
_GAP = "\ufffc"
"""What stands for the mark of a gap, whose dots would end a sentence."""

_BEGINS = re.compile(r"[\w`\"“]")
"""What is no sign of a list."""

_POINTS_BACK = re.compile(r"(?:\w+\W+){1,4}(?:here|it|this|these|those|they|them)\b")
_OF_USER: tuple[Source, ...] = (standing_rules, preferences, identities, choices, people)


def facts_of(summary: Summary, brief: Brief | None) -> tuple[CandidateFact, ...]:
    """What *summary* and the words of the user in *brief* teach, the surest first.

    Without *brief* nobody can say in which turn.
    """
    points = _points(summary)
    if brief is None:
        return tuple(distinct(point for point in points if not is_instruction(point.text)))
    evidence = Evidence(_shown(brief))
    own = (fact for source in _OF_USER for fact in source(evidence) if fact.trust is Trust.USER)
    told = (replace(fact, confidence=LEAST) for fact in chain(circumstances(evidence), customs(evidence)))
    said = (replace(fact, trust=Trust.USER) for fact in _sound((*filter(lasts, own), *told), brief))
    return tuple(distinct((*_sound(filter(lasts, _decided(brief)), brief), *said, *_sound(points, brief))))


def _points(summary: Summary) -> Iterator[CandidateFact]:
    """The key points that somebody who was not there understands, and that are no events."""
    for point in summary.key_points:
        is_whole = is_durable(Statement(text=point, speaker=Kind.ASSISTANT, turn=0))
        is_whole = is_whole and outlasts(point) and not words().opens("wish", point)
        is_whole = is_whole and not (is_of_the_moment(point) or _is_diagnosis(point))
        if is_whole and _BEGINS.match(point) and not _POINTS_BACK.match(point):
            category = Category.TECHNICAL if name_in(point) else Category.CONCEPT
            text = standing_alone(point)
            yield CandidateFact(text=text, category=category, subject=subject_of(text), confidence=LEAST)


def _is_diagnosis(point: str) -> bool:
    """Whether *point* says why something went wrong, and nothing that holds."""
    known = words()
    is_fault = known.says("faulty", point) and not known.says("holds_anyway", point)
    is_lasting = known.says("constraint", point) or known.says("decision", point)
    return is_fault or (known.says("cause", point) and not is_lasting)


def _decided(brief: Brief) -> Iterator[CandidateFact]:
    """What the session shows to have been decided; recorded decisions are facts already."""
    for decision in brief.decisions:
        if decision.turns and decision.confidence >= LEAST_SURE:
            yield CandidateFact(
                text=decision.description,
                category=Category.DECISION,
                subject=subject_of(decision.description, decision.category),
                confidence=decision.confidence,
                turns=decision.turns,
            )


def _shown(brief: Brief) -> Transcript:
    """The session as far as *brief* shows it. Whatever nobody said stands for the work that was done."""
    entries = tuple(
        Entry(kind=_kind(passage), text=_said(passage), id=str(at), turn=passage.turn)
        for at, passage in enumerate(brief.passages)
        if passage.role
    )
    return Transcript(format="", entries=entries, digest="", bytes=0)


def _kind(passage: Passage) -> Kind:
    """Who speaks; in a document that was pasted, and of which a part is shown, nobody does."""
    omitted = sum(int(found[1] or 0) for found in _MARK.finditer(passage.text))
    return _KINDS.get(passage.role, Kind.TOOL_RESULT) if omitted < DOCUMENT else Kind.TOOL_RESULT


def _said(passage: Passage) -> str:
    """What somebody said in *passage*: without its label, and without the sentences that are shown in part."""
    text = _MARK.sub(_GAP, _LABEL.sub("", passage.text))
    spans = (text[start:end] for start, end in sentences(text))
    return "\n".join(span for span in spans if _GAP not in span)


def _sound(facts: Iterable[CandidateFact], brief: Brief) -> Iterator[CandidateFact]:
    """Those of *facts* that *brief* says, none too sure."""
    for fact in grounded(facts, brief, canary="", prompt="").facts:
        yield replace(fact, confidence=min(fact.confidence, MOST))
