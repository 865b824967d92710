"""Parser for LangChain messages in each serialized form, and for streamed answers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_text
from nous.transcript.reader import RecordPlace

JsonObject = Mapping[str, Any]

_KINDS = frozenset({"human", "ai", "system", "tool", "function", "chat", "remove"})
_ONLY_HERE = frozenset({"human", "ai"})


class Message(NamedTuple):
    """A LangChain message: its type and fields.

    `is_piece`: a chunk of a streamed answer. `is_marked`: the form is certainly LangChain's.
    """

    kind: str
    fields: JsonObject
    is_piece: bool
    is_marked: bool


def message(value: JsonObject) -> Message | None:
    """Parse a message; None if *value* is no message.

    Reads the output of `messages_to_dict`, of `dumpd`, and of a plain dump of the model.
    """
    kwargs, data = value.get("kwargs"), value.get("data")
    if isinstance(kwargs, dict) and "lc" in value:
        names = as_list(value.get("id"))
        return _named(str(names[-1]) if names else "", as_object(kwargs), is_marked=True)
    name = as_text(value.get("type"))
    if isinstance(data, dict):
        return _named(name, as_object(data), is_marked="content" in data)
    if "content" not in value:
        return None
    is_marked = "additional_kwargs" in value or "response_metadata" in value
    return _named(name, value, is_marked=is_marked or name in _ONLY_HERE)


def held(value: JsonObject) -> list[JsonObject] | None:
    """Return the messages of a prompt or of a graph state; None if *value* lists none."""
    for holder in (value, as_object(value.get("kwargs")), as_object(value.get("values"))):
        if isinstance(holder.get("messages"), list):
            return [as_object(found) for found in _flat(holder["messages"])]
    return None


def _flat(listed: object) -> Iterator[Any]:
    """Yield the elements of a list, or of the lists in it."""
    for found in as_list(listed):
        if isinstance(found, list):
            yield from as_list(found)
        else:
            yield found


def _named(name: str, fields: JsonObject, *, is_marked: bool) -> Message | None:
    whole = name.removesuffix("Chunk")
    kind = whole.removesuffix("Message").lower()
    return Message(kind, fields, whole != name, is_marked) if kind in _KINDS else None


_TEXTS = frozenset({"text", "output_text", "input_text", "refusal"})
_THOUGHTS = frozenset({"reasoning", "thinking"})
_REPEATS_CALL = frozenset({"tool_use", "input_json_delta", "function_call", "tool_call", "tool_call_chunk"})


@dataclass(slots=True)
class RequestedCall:
    """A tool call; its arguments arrive as JSON fragments until they are complete."""

    id: str
    tool: str
    given: dict[str, Any] = field(default_factory=dict[str, Any])
    pieces: list[str] = field(default_factory=list[str])
    index: int | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        return self.given or as_arguments("".join(self.pieces))


@dataclass(slots=True)
class StreamedAnswer:
    """An answer that grows with each chunk: its text, thoughts and calls.

    `passed` names the parts that were skipped.
    """

    place: RecordPlace
    own: str = ""
    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[RequestedCall] = field(default_factory=list[RequestedCall])
    passed: list[str] = field(default_factory=list[str])

    def add(self, fields: Mapping[str, Any], *, between: str = "") -> None:
        """Add the content of a message or a chunk; *between* joins its text parts."""
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
            known = [RequestedCall(own, "", index=index)]
            self.calls += known
        known[-1].tool += as_text(piece.get("name"))
        known[-1].pieces.append(as_text(piece.get("args")))


@dataclass(slots=True)
class Parts:
    """Content of a message, sorted by type."""

    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[RequestedCall] = field(default_factory=list[RequestedCall])
    passed: list[str] = field(default_factory=list[str])


def parts(content: object) -> Parts:
    """Sort the parts of *content*, a string or a list of strings and blocks."""
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
                sorted_.calls.append(RequestedCall(as_text(block.get("call_id", block.get("id"))), tool, given))
        else:
            sorted_.passed.append(f"{kind} part")
    return sorted_


def _thought(block: Mapping[str, Any]) -> str:
    """Return the text of a thought from any provider."""
    said = (as_text(block.get(key)) for key in ("reasoning", "thinking", "text"))
    summary = (as_text(as_object(part).get("text")) for part in as_list(block.get("summary")))
    return next(filter(None, said), "") or "\n\n".join(summary)


def _calls(fields: Mapping[str, Any], extra: Mapping[str, Any]) -> list[RequestedCall]:
    """Return the calls of a message.

    Reads the current form, calls whose arguments are not JSON, and else the form that the provider sent.
    """
    found = as_list(fields.get("tool_calls")) + as_list(fields.get("invalid_tool_calls"))
    today = [call for value in found if (call := as_object(value))]
    if today:
        return [
            RequestedCall(as_text(call.get("id")), as_text(call.get("name")), as_arguments(call.get("args")))
            for call in today
        ]
    return list(_first_form(extra))


def _first_form(extra: Mapping[str, Any]) -> Iterator[RequestedCall]:
    """Yield calls in OpenAI's form, which old dumps keep unchanged."""
    for found in as_list(extra.get("tool_calls")) or [extra.get("function_call")]:
        call = as_object(found)
        function = as_object(call.get("function")) or call
        if tool := as_text(function.get("name")):
            yield RequestedCall(as_text(call.get("id")) or tool, tool, as_arguments(function.get("arguments")))
