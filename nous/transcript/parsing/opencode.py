"""Parser for OpenCode messages and their parts; gathers the files of a session.

The parts of a message are in a folder per message, or, in the first layout, all in one folder. File names are built
from ids in other files. An id that is no plain file name is ignored, so that no path leads out of the folder.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from nous.domain.errors import BadInput
from nous.transcript.discovery import safe_session_id
from nous.transcript.io.lines import LONGEST_LINE
from nous.transcript.model import Kind
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.values import as_arguments, as_count, as_list, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, RecordPlace

Part = Mapping[str, Any]

_REFUSED = "The user rejected permission to use this specific tool call"
_FEEDBACK = "with the following feedback:"
_ENDED = frozenset({"completed", "success", "error"})


@dataclass(slots=True)
class OpenCodePartReading(AgentReading):
    """Turns message parts into drafts.

    `step_input` and `step_output` add up the tokens of steps, which are parts too.
    """

    step_input: int = 0
    step_output: int = 0

    def of_model(self, part: Part, message: str, place: RecordPlace, *, is_summary: bool = False) -> Iterable[Draft]:
        """Return drafts of a *part* of an answer; its text gets the id of its *message*."""
        own = _own(part, place)
        text = as_text(part.get("text")).strip()
        match part.get("type"):
            case "text" if text and part.get("synthetic") is True:
                return (own.draft(Kind.SYSTEM, text, is_meta=True),)
            case "text" if text:
                return (own._replace(id=message).draft(Kind.SUMMARY if is_summary else Kind.ASSISTANT, text),)
            case "reasoning" if text:
                return (own.draft(Kind.THINKING, text),)
            case "tool":
                return self._tool(part, own)
            case _:
                return self._other(part, own)

    def of_user(self, parts: Iterable[Part], place: RecordPlace, *, is_delegated: bool = False) -> Iterator[Draft]:
        """Yield drafts of a user message: its text, joined, then attachments and insertions."""
        said: list[str] = []
        added: list[Draft] = []
        for part in parts:
            text = as_text(part.get("text"))
            if part.get("type") != "text":
                added += self._other(part, _own(part, place), is_users=True)
            elif part.get("synthetic") is True:
                added.append(_own(part, place).draft(Kind.SYSTEM, text, is_meta=True))
            elif part.get("ignored") is True:
                self.notes.skip("ignored text")
            else:
                said.append(text)
        for draft in self.said(said, place):
            if draft.kind is Kind.USER and is_delegated:
                draft.kind = Kind.SUB_AGENT
            yield draft
        yield from added

    def _tool(self, part: Part, place: RecordPlace) -> Iterator[Draft]:
        state = as_object(part.get("state"))
        tool, call_id = as_text(part.get("tool")), as_text(part.get("callID")) or place.id
        yield self.call(tool, as_arguments(state.get("input")), call_id, place)
        status = str(state.get("status"))
        if status not in _ENDED:
            self.notes.skip(f"{status} call")
            return
        if attached := len(as_list(state.get("attachments"))):
            self.notes.skipped["attachment of a result"] += attached
        ended = place._replace(time=parse_time(as_object(state.get("time")).get("end")) or place.time)
        error = as_text(state.get("error")).removeprefix("Error: ")
        if status == "error" and error.startswith(_REFUSED):
            reason = error.partition(_FEEDBACK)[2].strip()
            yield self.result(reason, call_id, ended, 1, is_rejected=True)
            return
        is_error = status == "error" or bool(as_count(as_object(state.get("metadata")).get("exit")))
        yield self.result(error or as_shown(state.get("output")), call_id, ended, 1, is_error=is_error)

    def _other(self, part: Part, place: RecordPlace, *, is_users: bool = False) -> Iterable[Draft]:
        """Return drafts of a part that is neither text, reasoning nor a tool call."""
        match part.get("type"):
            case "subtask":
                task = as_text(part.get("description")) or as_text(part.get("prompt"))
                return (place.draft(Kind.SUB_AGENT, f"Started {as_text(part.get('agent')) or 'a sub-agent'}: {task}"),)
            case "compaction":
                how = "automatically" if part.get("auto") is True else "by the user"
                return (place.draft(Kind.SYSTEM, f"Conversation compacted {how}"),)
            case "retry":
                attempt, error = as_count(part.get("attempt")), error_text(part.get("error"))
                return (place.draft(Kind.ERROR, f"API error: {error} (attempt {attempt})", is_error=True),)
            case "file" if is_users:
                return (place.draft(Kind.SYSTEM, f"Attached {_file_name(part)}"),)
            case "step-finish":
                read, written = tokens_of(part)
                self.step_input, self.step_output = self.step_input + read, self.step_output + written
            case _:
                pass
        self.notes.skip(f"{part.get('type')} part")
        return ()


def tokens_of(value: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens read (cached ones included) and written."""
    tokens = as_object(value.get("tokens"))
    cache = as_object(tokens.get("cache"))
    read = as_count(tokens.get("input")) + as_count(cache.get("read")) + as_count(cache.get("write"))
    return read, as_count(tokens.get("output"))


def error_text(error: object) -> str:
    found = as_object(error)
    said = (as_object(found.get("data")).get("message"), found.get("message"), found.get("name"))
    return next((text for text in said if isinstance(text, str) and text), "") or as_shown(error) or "no reason given"


def _own(part: Part, place: RecordPlace) -> RecordPlace:
    """Return the place of *part*: in its message, with its own id and time."""
    time = as_object(part.get("time")) or as_object(as_object(part.get("state")).get("time"))
    began = parse_time(time.get("start", time.get("created")))
    return place._replace(id=as_text(part.get("id")) or place.id, time=began or place.time)


def _file_name(part: Part) -> str:
    url = as_text(part.get("url"))
    return as_text(part.get("filename")) or ("a file" if url.startswith("data:") else url) or "a file"


LEFT_OUT = "left_out"
"""Key under which the gathered document counts omitted files, by reason."""

TOO_MUCH = "file that would make the session too long"
UNREADABLE = "file that is no JSON object"

MOST = LONGEST_LINE - (1 << 20)
"""Limit in bytes of a gathered session, because a document is read as one line."""


def gather_session(path: Path, most: int = MOST) -> bytes | None:
    """Return the session file at *path* with its messages and parts, as one document.

    None if *path* is no session file. Files that would exceed *most* bytes are omitted and counted.

    Raises OSError.
    """
    root = _root(path)
    if root is None:
        return None
    tree = _Tree(most)
    info = tree.read(path)
    session = _plain(info.get("id"))
    if session is None:
        return None
    messages = [{"info": found, "parts": tree.parts(root, found)} for found in tree.files(root / "message" / session)]
    return orjson.dumps({"info": info, "messages": messages, LEFT_OUT: tree.left_out})


class _Tree:
    """Reads JSON files up to a total size in bytes; counts the files it omits."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.left_out: dict[str, int] = {}
        self._flat: dict[str, list[Mapping[str, Any]]] | None = None

    def read(self, path: Path) -> Mapping[str, Any]:
        """Return the object in the file at *path*; an empty one, counted as omitted, if none."""
        size = path.stat().st_size
        if size > self.left:
            return self._without(TOO_MUCH)
        try:
            found = as_object(orjson.loads(path.read_bytes()))
            size = len(orjson.dumps({"messages": [{"parts": [found]}]}))
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            found = {}
        if not found:
            return self._without(UNREADABLE)
        self.left -= size
        return found

    def files(self, folder: Path) -> Iterator[Mapping[str, Any]]:
        """Yield the objects in *folder*, sorted by file name, which is the order of time."""
        if folder.is_dir():
            yield from filter(None, (self.read(path) for path in sorted(folder.glob("*.json")) if path.is_file()))

    def parts(self, root: Path, message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        own = _plain(message.get("id"))
        if own is None:
            return []
        return list(self.files(root / "part" / own)) or self._lying_flat(root).get(own, [])

    def _lying_flat(self, root: Path) -> dict[str, list[Mapping[str, Any]]]:
        if self._flat is None:
            self._flat = {}
            for part in self.files(root / "part"):
                self._flat.setdefault(as_text(part.get("messageID")), []).append(part)
        return self._flat

    def _without(self, reason: str) -> Mapping[str, Any]:
        self.left_out[reason] = self.left_out.get(reason, 0) + 1
        return {}


def _root(path: Path) -> Path | None:
    """Return the folder that holds `message/` and `session/`; None if there is none.

    The file at *path* is below `session/`.
    """
    return next(
        (folder.parent for folder in path.absolute().parents if folder.name == "session" and _has_messages(folder)),
        None,
    )


def _has_messages(sessions: Path) -> bool:
    return sessions.with_name("message").is_dir()


def _plain(own: object) -> str | None:
    """Return *own* if it is safe as the name of a file inside its folder; else None."""
    try:
        return safe_session_id(as_text(own))
    except BadInput:
        return None
