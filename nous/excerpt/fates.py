"""Which tool calls came to nothing: they failed, or the user said no."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from nous.excerpt.failures import failure, looks_failed
from nous.transcript.model import Entry, Kind, Transcript

FAILED, REJECTED, INTERRUPTED = "failed", "rejected", "interrupted"
_LONGEST_REASON = 100
_DECIDED = {"Rejected": REJECTED, "Interrupted": INTERRUPTED}
_ANSWERS = frozenset({Kind.TOOL_RESULT, Kind.DECISION, Kind.ERROR})


class Fate(NamedTuple):
    """What became of a call that came to nothing, and the answer that tells it."""

    what: str
    answer: Entry

    @property
    def reason(self) -> str:
        """Why it failed, in a few words; empty where that is not told."""
        if self.what != FAILED:
            return ""
        return failure(self.answer.text).partition("\n")[0][:_LONGEST_REASON].replace(" | ", " / ")


class Fates(NamedTuple):
    """The fate of each call that came to nothing, by its entry's id, and the ids of the entries that tell a failure."""

    of_calls: Mapping[str, Fate]
    failures: Collection[str]


def fates_of(transcript: Transcript) -> Fates:
    """What became of the calls of *transcript*.

    An answer belongs to the call that it names. Calls and answers that name none are matched in order, if as many
    answers follow some calls as there are calls; otherwise nobody knows which came to nothing.
    """
    fates: dict[str, Fate] = {}
    failures: set[str] = set()
    named: dict[str, str] = {}
    unnamed = _Unnamed(fates)
    for entry in transcript:
        kind = entry.kind
        if kind is Kind.TOOL_CALL:
            if entry.call_id:
                named[entry.call_id] = entry.id
            else:
                unnamed.called(entry)
        elif kind in _ANSWERS:
            what = _told_by(entry)
            if what == FAILED:
                failures.add(entry.id)
            if not entry.call_id:
                unnamed.answered(entry, what)
            elif call := named.get(entry.call_id):
                _settle(fates, call, what, entry)
        elif kind is Kind.USER or kind is Kind.ASSISTANT:
            unnamed.settle()
    unnamed.settle()
    return Fates(fates, failures)


class _Unnamed:
    """Calls without an id, and the answers that came after them."""

    def __init__(self, fates: dict[str, Fate]) -> None:
        self._fates = fates
        self._calls: list[Entry] = []
        self._answers: list[tuple[Entry, str]] = []

    def called(self, call: Entry) -> None:
        if self._answers:
            self.settle()
        self._calls.append(call)

    def answered(self, answer: Entry, what: str) -> None:
        """Take note of *answer*. Of no tool, a decision that refuses nothing answers no call, nor does an error."""
        kind = answer.kind
        if kind is Kind.TOOL_RESULT or answer.tool or (kind is Kind.DECISION and what):
            self._answers.append((answer, what))

    def settle(self) -> None:
        """Match what there is, tool by tool where the answers tell theirs, if any of them tells of no success."""
        calls, answers, self._calls, self._answers = self._calls, self._answers, [], []
        if not any(what for _, what in answers):
            return
        tools = {answer.tool for answer, _ in answers}
        for tool in [None] if None in tools else tools:
            of_tool = [call for call in calls if tool in {None, call.tool}]
            to_tool = [answered for answered in answers if tool in {None, answered[0].tool}]
            if len(of_tool) != len(to_tool):  # a decision and a result may answer the same call
                to_tool = [answered for answered in to_tool if answered[0].kind is not Kind.DECISION]
            if len(of_tool) == len(to_tool):
                for call, (answer, what) in zip(of_tool, to_tool, strict=True):
                    _settle(self._fates, call.id, what, answer)


def _settle(fates: dict[str, Fate], call: str, what: str, answer: Entry) -> None:
    """The last answer to *call* decides."""
    if what:
        fates[call] = Fate(what, answer)
    else:
        fates.pop(call, None)


def _told_by(answer: Entry) -> str:
    """What *answer* says that its call came to; empty if to something."""
    if answer.kind is Kind.DECISION:
        return next((what for said, what in _DECIDED.items() if answer.text.startswith(said)), "")
    return FAILED if answer.kind is Kind.ERROR or looks_failed(answer) else ""
