"""Which matters of its user an agent at their service speaks of: reservations, orders, by their numbers."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from nous.summary.evidence import Evidence
from nous.summary.statements import Statement, says_done
from nous.transcript.model import Entry, Kind

MATTER = r"(?:reservation|order|booking|flight|trip|ticket|payment|cancellation|return|refund)"
_OF_SEVERAL = re.compile(rf"\b{MATTER}s\b")
_NEW = re.compile(r"\b(?:book(?:ed|ing)?|new)\b")
_NUMBER = re.compile(r"#?(?=\d*[A-Z])[A-Z\d]{5,}")
_NUMBERED = re.compile(
    r"\b(?i:reservation|order|booking|confirmation)\b[^.\n]{0,16}?(?<![A-Z\d-])"
    r"(?P<number>#?(?=[A-Z]*\d)[A-Z\d]{5,}|(?:(?<=ID: )|(?<=ID is ))[A-Z]{5,})(?![\w-])"
)


class Matters:
    """The matters of one session, made ready to be asked for: a long one has thousands of statements."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._told: defaultdict[int, list[Statement]] = defaultdict(list)
        self._changes: defaultdict[int, list[Entry]] = defaultdict(list)
        self._first: dict[str, int] = {}
        for one in evidence.said:
            if one.speaker is Kind.ASSISTANT:
                self._told[one.turn].append(one)
            for number in _numbered([one]):
                self._first.setdefault(number, one.turn)
        for call in evidence.changes:
            self._changes[call.turn].append(call)

    def numbers(self, one: Statement) -> tuple[str, ...]:
        """The numbers of what *one* is about: its own, or those of its turn, or the only one that was told before.

        Of one matter there is one number; where a turn has several, none is known to be it. What is new or was changed
        in the turn is not what was spoken of before.
        """
        calls = self._changes[one.turn]
        if found := _numbered([one]) or _given(calls) or _numbered(self._told[one.turn]):
            return found if len(found) == 1 or _OF_SEVERAL.search(one.text) else ()
        known = () if calls or _NEW.search(one.text) else tuple(self._first)[:2]
        earlier = tuple(number for number in known if self._first[number] <= one.turn)
        return earlier if len(earlier) == 1 else ()

    def change_later(self, numbers: Sequence[str], told: Statement) -> bool:
        """Whether a call after *told* changed a matter with one of the *numbers*, or the agent reports that of it."""
        is_changed = any(self._evidence.changed.has(number, told.place) for number in numbers)
        return is_changed or bool(self.reported_later(numbers, told))

    def reported_later(self, numbers: Sequence[str], told: Statement) -> list[Statement]:
        """What the agent says in later turns that was done to one of the matters, each once."""
        found = (one for number in numbers for one in self._reports.get(number, ()) if one.turn > told.turn)
        return list(dict.fromkeys(found))

    @cached_property
    def _reports(self) -> Mapping[str, Sequence[Statement]]:
        """What was done to each matter, by its number."""
        reports: defaultdict[str, list[Statement]] = defaultdict(list)
        for one in (one for said in self._told.values() for one in said if says_done(one)):
            for number in self.numbers(one):
                reports[number].append(one)
        return reports


def _numbered(said: Iterable[Statement]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found["number"] for one in said for found in _NUMBERED.finditer(one.text)))


def _given(calls: Iterable[Entry]) -> tuple[str, ...]:
    """The numbers by which *calls* were told what to work on."""
    given = (item for call in calls for item in (call.tool_input or {}).items())
    ids = (value for key, value in given if key.lower().endswith(("id", "number")) and isinstance(value, str))
    return tuple(dict.fromkeys(value for value in ids if _NUMBER.fullmatch(value)))
