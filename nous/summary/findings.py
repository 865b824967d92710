"""What the agent has found out: causes, constraints, settings, and what a service does for nobody."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.candidate import by_agent
from nous.summary.evidence import Evidence
from nous.summary.lessons import begins_as_event, is_bound, is_lesson, name_in, standing_alone
from nous.summary.names import code_of, is_named, subject_of
from nous.summary.policies import accords, ruling
from nous.summary.stale import is_changed, is_gone, is_history, is_mended, is_of_the_moment, is_rewritten
from nous.summary.statements import Statement, is_of_work, is_proposed, terms
from nous.transcript.model import Kind

_RESERVED = re.compile(r"\b[A-Z\d]{6,}\b")
_NAMES_SOMETHING = 2
"""How many words, but for the most frequent, an objection has that says to what it objects."""

_TO_BE_MEANT = 2
"""How many words the agent has to use again of what it takes back later."""

_LABEL = re.compile(r"^(?:`[^`]+`|[\w. -]{2,60}?)(?:: | [\u2013\u2014-] )")


def findings(evidence: Evidence) -> Iterator[CandidateFact]:
    """What the agent states as found out and still holds, more surely in its last words than on the way."""
    last, admitted = set(evidence.answer), list(_admitted(evidence))
    for one in _taught(evidence) if not evidence.is_conversation else ():
        text = standing_alone(one.text)
        is_over = _is_over(one, text, evidence) or _is_taken_back(one, admitted)
        if is_over or _is_about_the_work(one, text) or not _can_be_told(one, text, evidence):
            continue
        subject, sure = subject_of(text), 0.75 if one in last else 0.7
        if name_in(text):
            yield by_agent(text, one.turn, Category.TECHNICAL, subject=subject, confidence=sure)
        elif words().says("constraint", text) or words().says("policy", text):
            yield by_agent(text, one.turn, Category.CONCEPT, subject=subject, confidence=0.65)


def _taught(evidence: Evidence) -> Sequence[Statement]:
    """What teaches something; what a service must or must not do is worth it by itself."""
    if not evidence.is_service:
        return evidence.taught
    said = (one for one in evidence.said if one.speaker is Kind.ASSISTANT)
    ruled = (one if is_lesson(one) else ruling(one) for one in said)
    return [one for one in ruled if one and accords(one.text, evidence)]


def _is_about_the_work(one: Statement, text: str) -> bool:
    """Whether *text* tells what was done, seen or meant to be done, and not how things are."""
    known = words()
    is_deed = begins_as_event(_LABEL.sub("", text)) or known.says("shows_change", text) or is_of_work(one)
    is_past = known.says("observed", text) or is_of_the_moment(text) or is_history(text)
    return is_deed or is_proposed(one) or is_past


def _can_be_told(one: Statement, text: str, evidence: Evidence) -> bool:
    """Whether somebody who was not there could tell what *text* is about."""
    is_item_of_nothing = bool(_LABEL.match(one.text) and one.under) and name_in(one.under[-1]) is None
    return is_named(text) and not (is_item_of_nothing or is_bound(text) or _is_of_one_matter(text, evidence))


def _is_of_one_matter(text: str, evidence: Evidence) -> bool:
    """Whether a service says *text* of something of its user's, and not which."""
    has_number = code_of(text) or _RESERVED.search(text)
    return words().opens("one_matter", text) and not has_number and evidence.is_service


def _is_over(one: Statement, text: str, evidence: Evidence) -> bool:
    """Whether what *text* says was given up at once, or put right, changed or taken away after it was said."""
    if _is_given_up(one, evidence.said_in.get(one.turn + 1, ())):
        return True
    known = words()
    is_applied = known.says("demands", text) or not is_rewritten(text, one.place, evidence)
    is_other_now = is_changed(one, evidence) and not (known.says("constraint", text) and is_applied)
    return is_other_now or is_mended(one, evidence) or is_gone(text, one.place, evidence)


def _is_given_up(one: Statement, said: Sequence[Statement]) -> bool:
    """Whether the user objected to *one* in what was *said* next, and was agreed with."""
    known = words()
    objected = [each for each in said if each.speaker is Kind.USER and known.says("objects", each.text)]
    agreed = [each for each in said if each.speaker is Kind.ASSISTANT and _gives_in(each)]
    about = {term for each in (*objected, *agreed) for term in terms(known.contains["concedes"].sub("", each.text))}
    is_about_it = len(about) < _NAMES_SOMETHING or not about.isdisjoint(terms(one.text))
    return bool(objected) and bool(agreed) and is_about_it


def _admitted(evidence: Evidence) -> Iterator[tuple[int, set[str]]]:
    """Where the agent says that it was wrong, with the words of that sentence and of the next one."""
    told = [one for one in evidence.said if one.speaker is Kind.ASSISTANT]
    for one, after in pairwise((*told, *told[-1:])):
        if words().says("admits", one.text):
            yield one.place, terms(one.text) | terms(after.text)


def _is_taken_back(one: Statement, admitted: Sequence[tuple[int, set[str]]]) -> bool:
    """Whether the agent *admitted* later that it was wrong in *one*, in some words of it."""
    named = terms(one.text)
    return any(place > one.place and len(about & named) >= _TO_BE_MEANT for place, about in admitted)


def _gives_in(one: Statement) -> bool:
    return any(words().says(name, one.text) for name in ("concedes", "admits"))
