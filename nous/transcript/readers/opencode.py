"""Parse OpenCode sessions (a tree of small files, or `opencode export` output) into entries.

The tree is below `~/.local/share/opencode/storage/`, and is read as one document like the output. A list of messages is
read too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from nous.transcript.discovery import is_plain_name
from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, count_at, object_at, objects_at, text_at
from nous.transcript.parsing.sessions import SessionReading
from nous.transcript.parsing.values import as_arguments, as_count, as_list, as_object, as_shown, parse_time, parsed
from nous.transcript.reader import Draft, FormatReader, RecordPlace

_UNTITLED = ("New session - ", "Child session - ")
_ABORTED = "MessageAbortedError"
_ROLES = frozenset({"user", "assistant"})
_REFUSED = "The user rejected permission to use this specific tool call"
_FEEDBACK = "with the following feedback:"
_ENDED = frozenset({"completed", "success", "error"})


def _likeness(record: JsonObject) -> float:
    info = object_at(record, "info")
    if info and isinstance(record.get("messages"), list):
        inside = objects_at(record, "messages")
        return 0.95 if all("info" in message and "parts" in message for message in inside) else 0.0
    if isinstance(record.get("parts"), list) and str(info.get("role")) in _ROLES:
        return 0.95
    return 0.9 if "projectID" in record and "id" in record and "time" in record else 0.0


@dataclass(slots=True)
class _Session(SessionReading):
    """A session; if it has a parent, user messages are from the agent that called it."""

    messages: int = 0

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        place = RecordPlace(f"line-{record.line}", record.line, record.offset)
        info = object_at(value, "info")
        if isinstance(value.get("messages"), list):
            self._introduce(info)
            for message in objects_at(value, "messages"):
                yield from self._message(object_at(message, "info"), message, place)
        elif "parts" in value:
            yield from self._message(info, value, place)
        elif "projectID" in value:
            self._introduce(value)
            self.notes.skip("session without its messages")
        else:
            self.notes.skip("not a message")

    def _introduce(self, info: JsonObject) -> None:
        title, parent = text_at(info, "title"), text_at(info, "parentID")
        self.is_sub_agents = bool(parent)
        self.notes.learn(
            session_id=text_at(info, "id"),
            title="" if title.startswith(_UNTITLED) else title,
            cwd=text_at(info, "directory"),
        )

    def _message(self, info: JsonObject, message: JsonObject, within: RecordPlace) -> Iterator[Draft]:
        self.messages += 1
        own = text_at(info, "id") or f"message-{self.messages}"
        place = within._replace(id=own, time=parse_time(object_at(info, "time").get("created")))
        model = text_at(info, "modelID") or text_at(object_at(info, "model"), "modelID")
        self.notes.learn(session_id=text_at(info, "sessionID"), model=model)
        match info.get("role"):
            case "user":
                yield from self._user(objects_at(message, "parts"), place)
            case "assistant":
                yield from self._answer(info, objects_at(message, "parts"), place)
            case role:
                self.notes.skip(f"message of {role}")

    def _user(self, parts: list[dict[str, object]], place: RecordPlace) -> Iterator[Draft]:
        if not parts:
            self.notes.skip("message without parts")
            return
        said: list[str] = []
        added: list[Draft] = []
        for part in parts:
            own, text = _own(part, place), text_at(part, "text")
            match part.get("type"):
                case "text" if part.get("synthetic") is True:
                    added.append(own.draft(Kind.SYSTEM, text, is_meta=True))
                case "text":
                    said.append(text)
                case "file":
                    added.append(own.draft(Kind.SYSTEM, f"Attached {text_at(part, 'filename') or 'a file'}"))
                case _:
                    added += self._other(part, own)
        yield from self.said(said, place)
        yield from added

    def _answer(self, info: JsonObject, parts: list[dict[str, object]], place: RecordPlace) -> Iterator[Draft]:
        for part in parts:
            yield from self._part(part, place, is_summary=info.get("summary") is True)
        if error := object_at(info, "error"):
            is_aborted, ended = error.get("name") == _ABORTED, place._replace(id=f"{place.id}-error")
            text = "Interrupted by the user" if is_aborted else _error_text(error)
            yield from self.text_or_skip(Kind.SYSTEM if is_aborted else Kind.ERROR, text, ended)
        elif not parts:
            self.notes.skip("message without parts")

    def _part(self, part: JsonObject, place: RecordPlace, *, is_summary: bool) -> Iterable[Draft]:
        """Return drafts of a *part* of an answer; its text gets the id of the message at *place*."""
        own = _own(part, place)
        text = text_at(part, "text").strip()
        match part.get("type"):
            case "text" if text and part.get("synthetic") is True:
                return (own.draft(Kind.SYSTEM, text, is_meta=True),)
            case "text" if text:
                return (own._replace(id=place.id).draft(Kind.SUMMARY if is_summary else Kind.ASSISTANT, text),)
            case "reasoning" if text:
                return (own.draft(Kind.THINKING, text),)
            case "tool":
                return self._tool(part, own)
            case _:
                return self._other(part, own)

    def _tool(self, part: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        state = object_at(part, "state")
        tool, call_id = text_at(part, "tool"), text_at(part, "callID") or place.id
        yield self.call(tool, as_arguments(state.get("input")), call_id, place)
        status = str(state.get("status"))
        if status not in _ENDED:
            self.notes.skip(f"{status} call")
            return
        for _ in as_list(state.get("attachments")):
            self.notes.skip("attachment of a result")
        ended = place._replace(time=parse_time(object_at(state, "time").get("end")) or place.time)
        error = text_at(state, "error").removeprefix("Error: ")
        if status == "error" and error.startswith(_REFUSED):
            reason = error.partition(_FEEDBACK)[2].strip()
            yield self.result(reason, call_id, ended, 1, is_rejected=True)
            return
        is_error = status == "error" or bool(as_count(object_at(state, "metadata").get("exit")))
        yield self.result(error or as_shown(state.get("output")), call_id, ended, 1, is_error=is_error)

    def _other(self, part: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match part.get("type"):
            case "subtask":
                agent, task = text_at(part, "agent") or "a sub-agent", text_at(part, "description", "prompt")
                return (place.draft(Kind.SUB_AGENT, f"Started {agent}: {task}"),)
            case "compaction":
                how = "automatically" if part.get("auto") is True else "by the user"
                return (place.draft(Kind.SYSTEM, f"Conversation compacted {how}"),)
            case "retry":
                attempt, error = count_at(part, "attempt"), _error_text(object_at(part, "error"))
                return (place.draft(Kind.ERROR, f"API error: {error} (attempt {attempt})", is_error=True),)
            case _:
                pass
        return self.skip(f"{part.get('type')} part")


def _error_text(error: JsonObject) -> str:
    said = text_at(object_at(error, "data"), "message") or text_at(error, "message", "name")
    return said or as_shown(error or None) or "no reason given"


def _own(part: JsonObject, place: RecordPlace) -> RecordPlace:
    time = object_at(part, "time") or object_at(part, "state", "time")
    began = parse_time(time.get("start", time.get("created")))
    return place._replace(id=text_at(part, "id") or place.id, time=began or place.time)


def _gathered(path: Path) -> bytes | None:
    """Return the session file at *path* with its messages and parts, as one document; else None.

    The parts of a message are in a folder per message, or, in the first layout, all in one folder. An id that is no
    plain file name is ignored, so that no path leads out of the folder.
    """
    sessions = (folder for folder in path.absolute().parents if folder.name == "session")
    root = next((folder.parent for folder in sessions if folder.with_name("message").is_dir()), None)
    info = as_object(parsed(path.read_bytes())) if root else {}
    session = text_at(info, "id")
    if root is None or not is_plain_name(session):
        return None
    messages = _objects_in(root / "message" / session)
    ids = [text_at(message, "id") for message in messages]
    parts = {own: _objects_in(root / "part" / own) for own in ids if is_plain_name(own)}
    if not any(parts.values()):
        for part in _objects_in(root / "part"):
            parts.setdefault(text_at(part, "messageID"), []).append(part)
    listed = [{"info": message, "parts": parts.get(own, [])} for own, message in zip(ids, messages, strict=True)]
    # An earlier release counted omitted files here; the key stays, so that the digests of known sessions do not change.
    return orjson.dumps({"info": info, "messages": listed, "left_out": {}})


def _objects_in(folder: Path) -> list[JsonObject]:
    """Return the objects in *folder*, sorted by file name, which is the order of time."""
    return [as_object(parsed(path.read_bytes())) for path in sorted(folder.glob("*.json"))]


READER = FormatReader("opencode", lambda sample: sample.share(_likeness), _Session, _gathered)
