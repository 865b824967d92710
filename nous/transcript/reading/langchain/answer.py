"""What a model answered: whole, or piece by piece as it was streamed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.base import Place
from nous.transcript.reading.fields import as_arguments, as_list, as_object, as_text

_TEXTS = frozenset({"text", "output_text", "input_text", "refusal"})
_THOUGHTS = frozenset({"reasoning", "thinking"})
_REPEATS_CALL = frozenset({"tool_use", "input_json_delta", "function_call", "tool_call", "tool_call_chunk"})


@dataclass(slots=True)
class Requested:
    """A call; its arguments are pieces of JSON until they are complete."""

    id: str
    tool: str
    given: dict[str, Any] = field(default_factory=dict[str, Any])
    pieces: list[str] = field(default_factory=list[str])
    index: int | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        return self.given or as_arguments("".join(self.pieces))


@dataclass(slots=True)
class Answer:
    """An answer as it grows: its text, its thoughts, and its calls. `passed` is what was passed over."""

    place: Place
    own: str = ""
    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[Requested] = field(default_factory=list[Requested])
    passed: list[str] = field(default_factory=list[str])

    def add(self, fields: Mapping[str, Any], *, between: str = "") -> None:
        """Take up what a message or a piece of one says; *between* stands between the parts of its text."""
        content, extra = parts(fields.get("content")), as_object(fields.get("additional_kwargs"))
        self.texts += [between.join(content.texts)] if content.texts else []
        thoughts = content.thoughts or [as_text(extra.get("reasoning_content"))]
        self.thoughts += filter(None, thoughts)
        self.passed += content.passed
        pieces = [as_object(piece) for piece in as_list(fields.get("tool_call_chunks"))]
        if any(pieces):
            for piece in pieces:
                self._grow(piece)
        else:
            self.calls += _calls(fields, extra) or content.calls

    def _grow(self, piece: Mapping[str, Any]) -> None:
        index, own = piece.get("index"), as_text(piece.get("id"))
        index = index if isinstance(index, int) else None
        known = [call for call in self.calls if call.index == index and own in {"", call.id}]
        if not known:
            known = [Requested(own, "", index=index)]
            self.calls += known
        known[-1].tool += as_text(piece.get("name"))
        known[-1].pieces.append(as_text(piece.get("args")))


@dataclass(slots=True)
class Parts:
    """The content of a message, sorted."""

    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[Requested] = field(default_factory=list[Requested])
    passed: list[str] = field(default_factory=list[str])


def parts(content: object) -> Parts:
    """*content*, which is a string or a list of strings and blocks."""
    sorted_ = Parts()
    for found in [content] if isinstance(content, str) else as_list(content):
        block = {"type": "text", "text": found} if isinstance(found, str) else as_object(found)
        kind = str(block.get("type"))
        if kind in _TEXTS:
            sorted_.texts.append(as_text(block.get("text", block.get("refusal"))))
        elif kind in _THOUGHTS:
            sorted_.thoughts.append(_thought(block))
        elif kind in _REPEATS_CALL:
            given = as_arguments(block.get("input", block.get("args", block.get("arguments"))))
            if tool := as_text(block.get("name")):
                sorted_.calls.append(Requested(as_text(block.get("call_id", block.get("id"))), tool, given))
        else:
            sorted_.passed.append(f"{kind} part")
    return sorted_


def _thought(block: Mapping[str, Any]) -> str:
    """What was thought, in the words of the provider."""
    said = (as_text(block.get(key)) for key in ("reasoning", "thinking", "text"))
    summary = (as_text(as_object(part).get("text")) for part in as_list(block.get("summary")))
    return next(filter(None, said), "") or "\n\n".join(summary)


def _calls(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> list[Requested]:
    """The calls of a message: today's form, those whose arguments are no JSON, or what the provider sent."""
    found = as_list(fields.get("tool_calls")) + as_list(fields.get("invalid_tool_calls"))
    today = [call for value in found if (call := as_object(value))]
    if today:
        return [
            Requested(as_text(call.get("id")), as_text(call.get("name")), as_arguments(call.get("args")))
            for call in today
        ]
    return list(_first_form(extra))


def _first_form(extra: Mapping[str, Any]) -> Iterator[Requested]:
    """Calls as OpenAI sends them, which old dumps keep as they came."""
    for found in as_list(extra.get("tool_calls")) or [extra.get("function_call")]:
        call = as_object(found)
        function = as_object(call.get("function")) or call
        if tool := as_text(function.get("name")):
            yield Requested(as_text(call.get("id")) or tool, tool, as_arguments(function.get("arguments")))
