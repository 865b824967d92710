"""Parse Gemini API messages into entries: text, thoughts, function calls and responses."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, marks, text_at
from nous.transcript.parsing.sessions import QUESTION_TOOLS, SessionReading
from nous.transcript.parsing.user_text import INJECTED, has_insertions, without_insertions
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_shown, as_text
from nous.transcript.reader import Draft, RecordPlace

_BY_A_PROGRAM = marks("gemini", "by_a_program")
_SNAPSHOT = "<state_snapshot>"
_FILES = "--- Content from referenced files ---"
_SHELL = "I ran the following shell command:"
_STEERING = "User steering update:"
_BARE_COMMAND = re.compile(r"[/?][A-Za-z][\w:-]*")


def _classified(text: str) -> tuple[Kind, str]:
    """Return whose words a piece of a prompt is: `USER` only for text that a person typed."""
    text = without_insertions(text)
    if text.startswith(_SNAPSHOT):
        return Kind.SUMMARY, text
    if text.startswith(_SHELL) and (command := _between(text, "```sh\n", "\n```")):
        return Kind.USER, f"! {command}"
    if text.startswith(_STEERING) and (steering := _between(text, "<user_input>", "</user_input>")):
        return Kind.USER, steering
    is_from_a_program = text.startswith(_BY_A_PROGRAM) or _BARE_COMMAND.fullmatch(text)
    return Kind.SYSTEM if is_from_a_program else Kind.USER, text


def _between(text: str, begin: str, end: str) -> str:
    return text.partition(begin)[2].partition(end)[0].strip()


CANCELLED = "cancelled"
_SHELLS = frozenset({"run_shell_command", "shell"})
_CANCELLATION = "[Operation Cancelled] Reason:"
_NO_REASON = re.compile(r"(?:user|tool call) (?:did not allow|denied|cancelled|canceled|abort)[^\n]*", re.IGNORECASE)
_EXIT_CODE = re.compile(r"(?:^|\n|\\n)Exit Code: -?[1-9]")
_TAIL = 400


@dataclass(slots=True)
class GeminiPartReading(SessionReading):
    """Emits each call (`asked`) and each result (`answered`) once: files repeat messages."""

    asked: set[str] = field(default_factory=set[str])
    answered: set[str] = field(default_factory=set[str])

    def of_prompt(self, texts: Sequence[str], place: RecordPlace) -> Iterator[Draft]:
        """Yield drafts of a user message; in the session of a sub-agent it is the sub-agent's task."""
        typed: list[str] = []
        for number, whole in enumerate(texts, 1):
            words, files, _ = whole.partition(_FILES)
            kind, text = _classified(words)
            if has_insertions(words):
                self.notes.skip(INJECTED)
            if kind is Kind.USER and not self.is_sub_agents:
                typed.append(text)
            elif text:
                kind = Kind.SUB_AGENT if kind is Kind.USER else kind
                yield place.draft(kind, text, number, is_meta=text.startswith(_BY_A_PROGRAM))
            if files:  # nothing behind is the user's text
                self.notes.skip("referenced files")
                break
        if typed:
            yield from self.said(["\n\n".join(filter(None, typed))], place)

    def of_model(self, content: object, place: RecordPlace, *, has_calls: bool = False) -> Iterator[Draft]:
        """Yield the parts of a model message in order; with *has_calls*, calls are listed elsewhere."""
        for number, part in enumerate(parts_in(content)):
            text = text_at(part, "text").strip()
            if "functionCall" in part and has_calls:
                self.notes.skip("repeated call")
            elif "functionCall" in part:
                yield from self.of_call(as_object(part["functionCall"]), place, number)
            elif part.get("thought"):
                if text := text or as_text(part["thought"]).strip():
                    yield _under(place, "thought").draft(Kind.THINKING, text, number)
            elif "text" not in part:
                self.notes.skip(_name_of(part))
            elif text:
                yield place.draft(Kind.ASSISTANT, text)

    def of_call(self, value: JsonObject, place: RecordPlace, number: int) -> Iterable[Draft]:
        """Return the draft of a call, unless it is already emitted."""
        tool, own = text_at(value, "name"), text_at(value, "id") or f"{place.id}/call/{number}"
        if own in self.asked:
            return self.skip("repeated call")
        self.asked.add(own)
        return (self.call(tool, as_arguments(value.get("args")), own, _under(place, "call"), number),)

    def of_response(self, value: JsonObject, place: RecordPlace, number: int, *, status: str = "") -> Iterable[Draft]:
        """Return the draft for the result of a call, unless it is already emitted.

        A response without an id answers the first open call of its tool. A cancelled call is a rejection by the user.
        """
        tool = text_at(value, "name")
        own = text_at(value, "id") or next((own for own, made in self.calls.items() if made.tool == tool), "")
        if own and own in self.answered:
            return self.skip("repeated result")
        self.answered.add(own)
        place, tool = _under(place, "result"), self.made(own).tool or tool
        response = value.get("response")
        held = as_object(response)
        text = as_shown(next((held[key] for key in ("output", "error") if key in held), response or None))
        is_rejected = status == CANCELLED or (not status and text.startswith(_CANCELLATION))
        is_error = status == "error" or ("error" in held and tool not in QUESTION_TOOLS)
        if is_rejected:
            text = text.removeprefix(_CANCELLATION).strip()
            text = "" if _NO_REASON.fullmatch(text) else text
        elif tool in _SHELLS:
            is_error = is_error or _EXIT_CODE.search(text[-_TAIL:]) is not None
        return (self.result(text, own, place, number, is_error=is_error, is_rejected=is_rejected, tool=tool),)


def parts_in(content: object) -> list[dict[str, Any]]:
    """Return *content* as parts; accepts a string, one part without a list, or a list."""
    found = [content] if isinstance(content, str | dict) else as_list(content)
    return [{"text": part} if isinstance(part, str) else as_object(part) for part in found]


def texts_in(content: object) -> list[str]:
    found = (text_at(part, "text") for part in parts_in(content) if not part.get("thought"))
    return [text for text in found if text]


def responses_in(content: object) -> list[dict[str, Any]]:
    return [as_object(part["functionResponse"]) for part in parts_in(content) if "functionResponse" in part]


def others_in(content: object) -> list[str]:
    """Return the names of the parts of *content* that are neither text nor a response."""
    known = {"text", "functionResponse"}
    return [_name_of(part) for part in parts_in(content) if not known & part.keys()]


def _under(place: RecordPlace, name: str) -> RecordPlace:
    return place._replace(id=f"{place.id}/{name}")


def _name_of(part: JsonObject) -> str:
    return f"{next(iter(part), 'empty')} part"
