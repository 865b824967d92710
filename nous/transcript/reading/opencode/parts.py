"""The parts of OpenCode's messages: what was said, called, and came of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.base import Draft, Place
from nous.transcript.model import Kind
from nous.transcript.reading.agent import AgentReading
from nous.transcript.reading.fields import as_arguments, as_count, as_list, as_object, as_shown, as_text
from nous.transcript.reading.timestamps import parse_time

Part = Mapping[str, Any]

_REFUSED = "The user rejected permission to use this specific tool call"
_FEEDBACK = "with the following feedback:"
_ENDED = frozenset({"completed", "success", "error"})


@dataclass(slots=True)
class PartReading(AgentReading):
    """Turns one part after another into entries. `step_tokens` are those of the steps, which are parts too."""

    step_input: int = 0
    step_output: int = 0

    def of_model(self, part: Part, message: str, place: Place, *, is_summary: bool = False) -> Iterable[Draft]:
        """What *part* of an answer says. Its text stands under the id of its *message*."""
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

    def of_user(self, parts: Iterable[Part], place: Place, *, is_delegated: bool = False) -> Iterator[Draft]:
        """What stands in the user's place: their words together, then what they and the program added."""
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

    def _tool(self, part: Part, place: Place) -> Iterator[Draft]:
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

    def _other(self, part: Part, place: Place, *, is_users: bool = False) -> Iterable[Draft]:
        """What is neither said nor called."""
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
    """Tokens read, from the cache too, and written."""
    tokens = as_object(value.get("tokens"))
    cache = as_object(tokens.get("cache"))
    read = as_count(tokens.get("input")) + as_count(cache.get("read")) + as_count(cache.get("write"))
    return read, as_count(tokens.get("output"))


def error_text(error: object) -> str:
    found = as_object(error)
    said = (as_object(found.get("data")).get("message"), found.get("message"), found.get("name"))
    return next((text for text in said if isinstance(text, str) and text), "") or as_shown(error) or "no reason given"


def _own(part: Part, place: Place) -> Place:
    """Where *part* stands: in its message, at its own time."""
    time = as_object(part.get("time")) or as_object(as_object(part.get("state")).get("time"))
    began = parse_time(time.get("start", time.get("created")))
    return place._replace(id=as_text(part.get("id")) or place.id, time=began or place.time)


def _file_name(part: Part) -> str:
    url = as_text(part.get("url"))
    return as_text(part.get("filename")) or ("a file" if url.startswith("data:") else url) or "a file"
