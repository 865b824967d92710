"""Convert excerpt segments back to a transcript."""

import re
from collections.abc import Iterator, Mapping, Sequence

from nous.domain.summary_input import Segment
from nous.transcript.model import Entry, Kind, Transcript

_KINDS: Mapping[str, Kind] = {
    "user": Kind.USER,
    "assistant": Kind.ASSISTANT,
    "decision": Kind.DECISION,
    "error": Kind.ERROR,
    "tools": Kind.TOOL_CALL,
    "tool": Kind.TOOL_RESULT,
    "output": Kind.TOOL_RESULT,
    "sub-agent": Kind.SUB_AGENT,
    "summary": Kind.SUMMARY,
    "system": Kind.SYSTEM,
}
_SHELLS = frozenset({"Bash", "bash", "shell", "run_pty_cmd", "exec_command", "run_shell_command"})
_LABEL = re.compile(r"\[[A-Z][\w-]*(?: of [^\]\n]{0,200})?\]\s")
_BETWEEN_CALLS = " | "
_CALL = re.compile(r"(?P<tool>[\w.:-]+)\((?P<given>.*?)\)(?: x\d+)?(?P<ending> \((?:failed|rejected)\))?$", re.DOTALL)
_PATH = re.compile(r"[^\s\"(){}=]*[./][^\s\"(){}=]*")


def transcript_of(segments: Sequence[Segment]) -> Transcript:
    """Return *segments* as a transcript; a user without a turn number begins one."""
    entries: list[Entry] = []
    turn = 0
    for place, segment in enumerate(segments):
        kind = _KINDS.get(segment.role.casefold())
        if kind is not None:
            turn = segment.turn or (turn + 1 if kind is Kind.USER else turn)
            entries += _entries(kind, _LABEL.sub("", segment.text, count=1), f"{place}", turn)
    return Transcript(format="segments", entries=tuple(entries), digest="", bytes=0)


def _entries(kind: Kind, text: str, id_: str, turn: int) -> Iterator[Entry]:
    if kind is Kind.TOOL_CALL:
        yield from _calls(text, id_, turn)
    else:
        yield Entry(kind, text, id_, turn)


def _calls(text: str, id_: str, turn: int) -> Iterator[Entry]:
    """Yield the tool calls of a line such as `Edit(a.py) x2 | Bash(make) (failed)`."""
    for place, shown in enumerate(text.split(_BETWEEN_CALLS)):
        call = _CALL.match(shown.strip())
        if call is None:
            continue
        call_id = f"{id_}/{place}"
        paths = (call["given"],) if _PATH.fullmatch(call["given"]) else ()
        given = {"command": call["given"].rpartition(": ")[2]} if call["tool"] in _SHELLS else None
        yield Entry(
            Kind.TOOL_CALL, shown, call_id, turn, tool=call["tool"], tool_input=given, call_id=call_id, paths=paths
        )
        if call["ending"]:
            yield Entry(Kind.ERROR, "", f"{call_id}/fate", turn, call_id=call_id)
