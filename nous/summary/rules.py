"""What the user wants to hold beyond the task at hand."""

import re
from collections.abc import Iterator

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.candidate import by_user
from nous.summary.evidence import Evidence
from nous.summary.lessons import standing_alone
from nous.summary.names import code_of
from nous.summary.stale import is_changed
from nous.summary.statements import Statement, is_wish, terms
from nous.transcript.model import Kind

_COMMAND = re.compile(r"^/\S+ (?=\w)")
"""A command of the agent's own, before what it is given."""


def standing_rules(evidence: Evidence) -> Iterator[CandidateFact]:
    """What the user wants always, never, or from now on, and has not taken back."""
    withdrawn = [one for one in evidence.own_words if words().says("withdraws", one.text)]
    for one, order in _told(evidence):
        if not (_is_of_the_task(one, evidence) or _is_withdrawn(one, withdrawn)):
            yield order


def orders(evidence: Evidence) -> Iterator[CandidateFact]:
    """The same, and what the user wants in such words for the task at hand."""
    return (order for _, order in _told(evidence))


def _told(evidence: Evidence) -> Iterator[tuple[Statement, CandidateFact]]:
    for one in evidence.stated if not evidence.is_conversation else ():
        said = _COMMAND.sub("", one.text)
        text = standing_alone(said)
        is_of_one = evidence.is_service and not words().says("each_time", text)
        if _is_rule(said, text) and not is_of_one:
            yield one, by_user(text, one.turn, Category.RULE, confidence=0.9, subject=code_of(text, "user"))


def _is_rule(said: str, text: str) -> bool:
    """Whether what was *said*, or its *text* without what ties it to what stood before, is an order for all times."""
    known = words()
    is_order = known.says("standing_rule", said) and any(known.opens("directive", each) for each in (said, text))
    return is_order or known.says("obliges", said)


def _is_of_the_task(one: Statement, evidence: Evidence) -> bool:
    """Whether an order is part of a task or tells of its code; what is to be so each time rarely is."""
    known = words()
    if known.says("for_good", one.text):
        return False
    said = [each for each in evidence.said_in[one.turn] if each.speaker is Kind.USER and each is not one]
    is_prompt = any(known.says("persona", each.text) for each in said)
    is_listed = any(known.says("of_a_task", lead) or _leads_to_task(lead) for lead in one.under)
    if is_prompt or is_listed or known.says("of_new", one.text):
        return True
    wanted = (each for each in said if is_wish(each) or known.says("wants_mending", each.text))
    has_task = any(not known.opens("directive", each.text) for each in wanted)
    is_of_this = known.says("of_this_task", one.text)
    if known.says("each_time", one.text):
        return has_task and not known.says("of_agents", one.text)
    if known.says("of_each", one.text) and not is_of_this:
        return False
    return has_task or is_of_this or is_changed(one, evidence)


def _leads_to_task(lead: str) -> bool:
    return lead.endswith(":") and words().opens("wish", lead)


def _is_withdrawn(one: Statement, withdrawn: list[Statement]) -> bool:
    named = terms(one.text)
    return any(each.turn > one.turn and named & terms(each.text) for each in withdrawn)
