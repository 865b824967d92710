"""What came of a call: which entry tells it, and whether it was for nothing."""

import re
from collections import deque
from collections.abc import Mapping

from nous.transcript.model import Entry, Kind, Transcript

_UNDOING = frozenset({Kind.DECISION, Kind.ERROR})
_RESULTS = frozenset({Kind.TOOL_RESULT, Kind.ERROR, Kind.DECISION})
_FAILURES = re.compile(
    r"\b[1-9]\d* (?:failed|failing|failures?)\b|^[ \t]*--- FAIL|^FAIL\b|^FAILED\b|\bFAILED \(|test result: FAILED"
    r"|failures[:=] ?[1-9]",
    re.MULTILINE,
)
_NOTHING_RAN = re.compile(
    r"\[no tests? (?:to run|files?)\]|\bno tests (?:ran|found|collected|to run)\b"
    r"|\b(?:collected 0 items|running 0 tests|0 passing)\b",
    re.IGNORECASE,
)
"""What runners say of a run that found nothing to run."""

_SOMETHING_RAN = re.compile(
    r"\b[1-9]\d* (?:passed|passing|tests?)\b|^ok\s+\S+\s+(?!.*\[no test)|running [1-9]", re.MULTILINE
)
_COMMITTED = re.compile(r"^\[[^\]\n]+ [0-9a-f]{7,40}\] ", re.MULTILINE)
"""What git says of a commit that it made, whatever failed after that."""

_END_OF_RESULT = 4_000
"""Characters of a test run's result in which its verdict is looked for."""


def paired(transcript: Transcript) -> Mapping[str, Entry]:
    """The results of calls, by the ids of the calls' entries.

    A call id may be used again, so that the latest call that had it counts. Calls without one are answered in order.
    """
    calls: dict[str, str] = {}
    waiting: deque[str] = deque()
    results: dict[str, Entry] = {}
    for entry in transcript:
        if entry.kind is Kind.USER:
            waiting.clear()
        elif entry.kind is Kind.TOOL_CALL and entry.call_id:
            calls[entry.call_id] = entry.id
        elif entry.kind is Kind.TOOL_CALL:
            waiting.append(entry.id)
        elif entry.kind in _RESULTS and not _is_approval(entry):
            call = calls.get(entry.call_id) if entry.call_id else waiting.popleft() if waiting else None
            if call and (call not in results or is_undone(entry)):
                results[call] = entry
    return results


def is_undone(result: Entry | None) -> bool:
    """Whether a call with that *result* was rejected, or failed."""
    return result is not None and (result.kind in _UNDOING or result.is_error)


def has_committed(result: Entry | None) -> bool:
    """Whether a call that commits, with that *result*, did."""
    return not is_undone(result) or (result is not None and _COMMITTED.search(result.text) is not None)


def has_passed(result: Entry | None) -> bool:
    """Whether a call that runs tests, with that *result*, ran some and found no fault."""
    if result is None:
        return True
    told = result.text[-_END_OF_RESULT:]
    is_idle = _NOTHING_RAN.search(told) and not _SOMETHING_RAN.search(told)
    return not (is_undone(result) or is_idle or _FAILURES.search(told))


def _is_approval(entry: Entry) -> bool:
    return entry.kind is Kind.DECISION and entry.text.startswith("Approved")
