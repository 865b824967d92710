"""Which tool calls came to nothing: they failed, or the user said no."""

from collections import deque
from typing import NamedTuple

from nous.excerpt.failures import failure, looks_failed
from nous.transcript.model import Entry, Kind, Transcript

FAILED, REJECTED = "failed", "rejected"
_LONGEST_REASON = 100
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


def fates_of(transcript: Transcript) -> dict[str, Fate]:
    """The fate of each such call of *transcript*, by its entry's id.

    An answer belongs to the call that it names; one that names none, to the first call that has
    no answer since somebody spoke.
    """
    fates: dict[str, Fate] = {}
    named: dict[str, str] = {}
    waiting: deque[str] = deque()
    for entry in transcript:
        kind = entry.kind
        if kind is Kind.TOOL_CALL:
            if entry.call_id:
                named[entry.call_id] = entry.id
            else:
                waiting.append(entry.id)
        elif kind is Kind.TOOL_RESULT or kind is Kind.DECISION or kind is Kind.ERROR:
            fate = _fate_told_by(entry)
            if entry.call_id:
                call = named.get(entry.call_id)
            else:
                is_answer = kind is Kind.TOOL_RESULT or (fate is not None and kind is Kind.DECISION)
                call = waiting.popleft() if waiting and is_answer else None
            if call and fate:
                fates[call] = fate
            elif call:
                fates.pop(call, None)
        elif kind is Kind.USER or kind is Kind.ASSISTANT:
            waiting.clear()
    return fates


def _fate_told_by(entry: Entry) -> Fate | None:
    if entry.kind is Kind.DECISION:
        return Fate(REJECTED, entry) if entry.text.startswith(_SAYS_NO) else None
    is_failure = entry.kind is Kind.ERROR or looks_failed(entry)
    return Fate(FAILED, entry) if is_failure else None
