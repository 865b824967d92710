"""Which tool calls came to nothing: they failed, or the user said no."""

from collections import deque
from collections.abc import Collection, Mapping
from typing import NamedTuple

from nous.excerpt.failures import failure, looks_failed
from nous.transcript.model import Entry, Kind, Transcript

FAILED, REJECTED = "failed", "rejected"
_LONGEST_REASON = 100
_ANSWERS = frozenset({Kind.TOOL_RESULT, Kind.DECISION, Kind.ERROR})
_SAYS_NO = ("Rejected", "Interrupted")


class Fate(NamedTuple):
    """What became of a call that came to nothing, and the answer that tells it."""

    what: str
    answer: Entry

    @property
    def reason(self) -> str:
        """Why it failed, in a few words; empty where that is not told."""
        return (
            failure(self.answer.text).partition("\n")[0][:_LONGEST_REASON].replace(" | ", " / ")
            if self.what == FAILED
            else ""
        )


class Fates(NamedTuple):
    """The fate of each call that came to nothing, by its entry's id, and the ids of the entries that tell a failure."""

    of_calls: Mapping[str, Fate]
    failures: Collection[str]


def fates_of(transcript: Transcript) -> Fates:
    """What became of the calls of *transcript*.

    An answer belongs to the call that it names; one that names none, to the first call that has
    no answer since somebody spoke.
    """
    fates: dict[str, Fate] = {}
    failures: set[str] = set()
    named: dict[str, str] = {}
    waiting: deque[str] = deque()
    for entry in transcript:
        kind = entry.kind
        if kind is Kind.TOOL_CALL:
            if entry.call_id:
                named[entry.call_id] = entry.id
            else:
                waiting.append(entry.id)
        elif kind in _ANSWERS:
            what = _told_by(entry)
            if what == FAILED:
                failures.add(entry.id)
            if entry.call_id:
                call = named.get(entry.call_id)
            else:
                is_answer = kind is Kind.TOOL_RESULT or (what and kind is Kind.DECISION)
                call = waiting.popleft() if waiting and is_answer else None
            if call and what:
                fates[call] = Fate(what, entry)
            elif call:
                fates.pop(call, None)
        elif kind is Kind.USER or kind is Kind.ASSISTANT:
            waiting.clear()
    return Fates(fates, failures)


def _told_by(answer: Entry) -> str:
    """What *answer* says that its call came to; empty if to something."""
    if answer.kind is Kind.DECISION:
        return REJECTED if answer.text.startswith(_SAYS_NO) else ""
    return FAILED if answer.kind is Kind.ERROR or looks_failed(answer) else ""
