"""What an agent at somebody's service did for them and told them, each with the number of the matter."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from nous.episode import CandidateFact, Category
from nous.language import words
from nous.summary.candidate import by_agent
from nous.summary.evidence import Evidence
from nous.summary.heard import content_of
from nous.summary.lessons import name_in
from nous.summary.matters import MATTER, Matters
from nous.summary.names import code_of
from nous.summary.people import FIRST_PERSON
from nous.summary.policies import accords
from nous.summary.statements import Statement, deeds, plain, says_done, terms
from nous.summary.third_person import of_the_user
from nous.transcript.model import Kind

_CANCELLED = "deed_cancel"
_MOST_TOLD = 5
_OWN_WORDS = 2
_MOST_LISTED = 16
_LONGEST_LIST = 300
_INTRODUCES = re.compile(r"(?:,? (?:to|as|as follows|with the following[^:]*|and here[^:]*))?:$")
_REPORTS = re.compile(
    r"\bsuccessfully\b|^(?:Your|The) (?:[\w#]+ ){0,3}(?:reservation|order|booking|flight|trip|ticket)s?(?: #?\w+)?"
    r" (?:has|have) (?:now )?been \w+ed\b"
    r"|^I(?:['\u2019]ve| have) (?:now |also )?\w+ed\b"
)
_BY_AGENT = re.compile(r"I(?:['\u2019]ve| have) (?:(?:successfully|now|also) )*(?=\w+ed\b)")
"""Stands before what an agent says that it has done itself."""

_OF_SOMEBODY = re.compile(r"(?P<name>[A-Z][a-z]+ [A-Z][a-z]+) (?=(?:has|have)\b)")
"""Says of one person what was done to a whole matter: agents make it of what they were asked, not of what they did."""

_AND_THEN = re.compile(r",? and (?=(?:an?|the|your|you) )")
"""What follows tells what will come of it."""

_WORD = re.compile(r"[\w'\u2019-]+")
_ABOUT_YOU = re.compile(r"(?:Your|You (?:have|are|can|will|may)|As an? [^,]+, you)\b", re.IGNORECASE)
_MAY = re.compile(r"You (?:can|will|may)\b", re.IGNORECASE)
"""How a right begins that somebody has in the case before them, and not as what they are."""

_AS_A = re.compile(r"As an? ", re.IGNORECASE)
_OF_A_MATTER = re.compile(rf"\b(?:the|this|your) (?:\w+ ){{0,2}}{MATTER}s?\b", re.IGNORECASE)
_RECORDED = re.compile(rf"Your (?:\w+ ){{0,2}}(?:balance|{MATTER})(?: #?[A-Z\d]+)? is\b", re.IGNORECASE)
"""How begins what the record of a matter says, which is looked up anew and changes."""

_PROPER = re.compile(
    r"(?<=[a-z,] )\(?(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b|ID\b)[A-Z]\w"
    r"|\b(?=\w*\d)(?=\d*[A-Z])[A-Z\d]+\b"
)
"""A name, a place or a number with letters; a date is none, because much happens on one day."""


def services_done(evidence: Evidence) -> Iterator[CandidateFact]:
    """What was booked, changed or refunded for the user, with what is listed below the report of it.

    What the agent reports later of the same matter counts: what was cancelled is left out, and what has changed goes
    from the list.
    """
    matters = Matters(evidence)
    for at, one in enumerate(evidence.said) if evidence.is_service else ():
        done = replace(one, text=_AND_THEN.split(one.text)[0])
        is_report = one.speaker is Kind.ASSISTANT and _REPORTS.search(one.text) and says_done(done)
        if not is_report or (FIRST_PERSON.match(one.text) and not _BY_AGENT.match(one.text)):
            continue
        text = _BY_AGENT.sub("The agent has ", _INTRODUCES.sub("", one.text), count=1)
        numbers = matters.numbers(one)
        later = matters.reported_later(numbers, one)
        if any(_CANCELLED in deeds(each.text) for each in later) and _CANCELLED not in deeds(text):
            continue
        listed = _listed(evidence.said[at : at + _MOST_LISTED], later)
        told = f"{text.rstrip('.!')}: {listed}" if listed else text
        is_of_matter = bool(numbers and deeds(done.text))
        if is_of_matter or (_names_what(told) and not _BY_AGENT.match(one.text) and (numbers or _PROPER.search(told))):
            yield _told(told, numbers, one.turn, Category.EVENT, 0.85, subject=code_of(text, "user"))


def _listed(said: Sequence[Statement], later: Iterable[Statement]) -> str:
    """What stands in the list below the first of *said*, or below the sentence after it that only leads to the list.

    What *later* reports speak of is left out.
    """
    lead = next((one for one in said[:2] if one.turn == said[0].turn and one.text.endswith(":")), None)
    empty = content_of(" ".join(words().sets["of_any_service"]))
    changed = frozenset[str]().union(*(content_of(one.text) for one in later)) - empty
    below = (one for one in said if lead and lead.text in map(plain, one.under))
    items = [one.text.rstrip(".") for one in below if not _are_akin(content_of(one.text.partition(":")[0]), changed)]
    items = [item for item in items if not _is_of_somebody(item)]
    joined = "; ".join(items).replace(":; ", ": ").rstrip(":; ")
    return joined if len(joined) <= _LONGEST_LIST else joined[: joined.rfind("; ", 0, _LONGEST_LIST)]


def _is_of_somebody(item: str) -> bool:
    """Whether *item* tells of a person what is done to bookings; a desk lamp that was returned is no person."""
    found, known = _OF_SOMEBODY.match(item), words()
    if found is None or not known.opens("done_to_people", item[found.end() :]):
        return False
    return known.sets["of_a_booking"].isdisjoint(found["name"].lower().split())


def _are_akin(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether one of *some* begins as one of the *others* does, as "bags" and "baggage" do."""
    return any(one.startswith(other) or other.startswith(one) for one in some for other in others)


def services_told(evidence: Evidence) -> list[CandidateFact]:
    """What an agent at the user's service tells of the user's own things, with names or numbers."""
    return list(islice(_things_told(evidence), _MOST_TOLD)) if evidence.is_service else []


def _things_told(evidence: Evidence) -> Iterator[CandidateFact]:
    matters = Matters(evidence)
    for one in (one for one in evidence.said if one.speaker is Kind.ASSISTANT and _is_told(one)):
        is_of_one = bool(_OF_A_MATTER.search(one.text) or _MAY.match(one.text))
        numbers = matters.numbers(one) if is_of_one else ()
        is_right = not is_of_one and (not _AS_A.match(one.text) or accords(one.text, evidence))
        if (numbers or is_right or _PROPER.search(one.text)) and not matters.change_later(numbers, one):
            yield _told(one.text, numbers, one.turn, Category.STATUS, 0.65, subject=code_of(one.text, "user"))


def _told(
    text: str, numbers: tuple[str, ...], turn: int, category: Category, confidence: float, *, subject: str
) -> CandidateFact:
    """*text* as it would be told of the user to others, with those of the *numbers* that it does not have."""
    missing = ", ".join(number for number in numbers if number not in text)
    told = f"{of_the_user(text.rstrip('.'))} ({missing})" if missing else of_the_user(text)
    return by_agent(told, turn, category, subject=", ".join(numbers) or subject, confidence=confidence)


def _names_what(text: str) -> bool:
    """Whether what was done is told with a name, a number or some words of its own."""
    if words().says("formality", text):
        return False
    told = _WORD.findall(text)
    own = terms(text) - words().sets["of_any_service"]
    return any(word[0].isupper() for word in told[1:]) or any(map(str.isdigit, text)) or len(own) >= _OWN_WORDS


def _is_told(one: Statement) -> bool:
    known = words()
    is_more = any(
        known.says(name, one.text) for name in ("hedge", "formality", "asks", "offers_more", "unable", "undone")
    )
    is_own = _ABOUT_YOU.match(one.text) and not (is_more or one.is_question or one.text.endswith(":"))
    is_own = is_own and not _RECORDED.match(one.text)
    is_bare = known.says("points_elsewhere", one.text)
    return bool(is_own) and not is_bare and name_in(one.text) is not None and not says_done(one)
