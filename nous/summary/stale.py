"""What was said of things that the session then went on to change: it was true when it was said."""

from nous.language import words
from nous.summary.evidence import Evidence
from nous.summary.names import names_in
from nous.summary.statements import Statement


def is_mended(one: Statement, evidence: Evidence) -> bool:
    """Whether *one* says what is before its reader just now, or what is wrong with what was changed afterwards."""
    known = words()
    if known.opens("of_the_moment", one.text) or known.opens("on_show", one.text) or known.says("new_here", one.text):
        return True
    is_fault = known.says("faulty", one.text) and not known.says("holds_anyway", one.text)
    return is_fault and is_changed(one, evidence)


def is_changed(one: Statement, evidence: Evidence) -> bool:
    """Whether a name in *one* is in what was changed in its turn, or later."""
    return any(evidence.changed.has(name, one.turn) for name in names_in(one.text) if name)


def is_gone(text: str, turn: int, evidence: Evidence) -> bool:
    """Whether a turn after *turn* took out of the code what *text* names, or took away the file."""
    changed = evidence.changed
    return any(changed.takes_out(name, turn) or changed.takes_away(name, turn) for name in names_in(text))
