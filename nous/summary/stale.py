"""What was said of things that the session then went on to change: it was true when it was said."""

import re

from nous.language import words
from nous.summary.evidence import Evidence
from nous.summary.names import names_in
from nous.summary.statements import Statement
from nous.transcript.model import Kind

_WORD = re.compile(r"[\w'\u2019]+")


def is_of_the_moment(text: str) -> bool:
    """Whether *text* says what is before its reader just now."""
    known = words()
    return known.opens("of_the_moment", text) or known.opens("on_show", text) or known.says("new_here", text)


def is_history(text: str) -> bool:
    """Whether *text* tells only what a thing did, and not what it does."""
    known = words()
    told = {word.lower().replace("\u2019", "'") for word in _WORD.findall(text)}
    return known.says("happened", text) and told.isdisjoint(known.sets["stating"] - known.sets["of_any_time"])


def is_mended(one: Statement, evidence: Evidence) -> bool:
    """Whether *one* says what was wrong and has been put right since.

    What is wrong is told with the words for it, or stands in the answer to somebody who complains.
    """
    known = words()
    if known.says("holds_anyway", one.text):
        return False
    is_fault = known.says("faulty", one.text) and _is_named_in_changes(one, evidence.begins[one.turn] - 1, evidence)
    is_cause = not known.says("constraint", one.text) and _answers_complaint(one, evidence)
    return is_fault or (is_cause and evidence.works_after(one.place))


def is_changed(one: Statement, evidence: Evidence) -> bool:
    """Whether a name in *one* is in what was changed after it was said."""
    return _is_named_in_changes(one, one.place, evidence)


def is_rewritten(text: str, place: int, evidence: Evidence) -> bool:
    """Whether code with a name of *text* in it was replaced after *place*; plain words stand in any code."""
    named = (name for name in names_in(text) if not (name.isalpha() and name.islower()))
    return any(evidence.changed.rewrites(name, place) for name in named)


def is_gone(text: str, place: int, evidence: Evidence) -> bool:
    """Whether a change after *place* took out of the code what *text* names, or took away the file."""
    changed = evidence.changed
    return any(changed.takes_out(name, place) or changed.takes_away(name, place) for name in names_in(text))


def _is_named_in_changes(one: Statement, after: int, evidence: Evidence) -> bool:
    return any(evidence.changed.has(name, after) for name in names_in(one.text) if name)


def _answers_complaint(one: Statement, evidence: Evidence) -> bool:
    """Whether the user said in the turn of *one* that something is wrong."""
    asked = (each for each in evidence.said_in[one.turn] if each.speaker is Kind.USER)
    return any(words().says("complaint", each.text) for each in asked)
