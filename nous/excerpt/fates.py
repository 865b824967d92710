"""Which tool calls came to nothing: they failed, or the user said no."""

from nous.excerpt.failures import looks_failed
from nous.transcript.model import Kind, Transcript

FAILED = "failed"
REJECTED = "rejected"
_SAYS_NO = ("Rejected", "Interrupted")


def fates_of(transcript: Transcript) -> dict[str, str]:
    """`FAILED` or `REJECTED` for each such call of *transcript*, by its entry's id.

    An answer belongs to the call that it names, or else to the one before it.
    """
    fates: dict[str, str] = {}
    named: dict[str, str] = {}
    last = ""
    for entry in transcript:
        kind = entry.kind
        if kind is Kind.TOOL_CALL:
            last = entry.id
            if entry.call_id:
                named[entry.call_id] = last
        elif kind is Kind.TOOL_RESULT or kind is Kind.ERROR:
            if looks_failed(entry):
                fates[named.get(entry.call_id, "") if entry.call_id else last] = FAILED
        elif kind is Kind.DECISION and entry.text.startswith(_SAYS_NO):
            fates[named.get(entry.call_id, "") if entry.call_id else last] = REJECTED
    return fates
