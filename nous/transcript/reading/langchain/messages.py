"""A message of LangChain in each of its written forms, and the messages that an object holds."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nous.transcript.reading.fields import as_list, as_object, as_text

JsonObject = Mapping[str, Any]

_KINDS = frozenset({"human", "ai", "system", "tool", "function", "chat", "remove"})
_ONLY_HERE = frozenset({"human", "ai"})


class Message(NamedTuple):
    """Who speaks, what the message holds, whether it is a piece of one, and whether its form is surely LangChain's."""

    kind: str
    fields: JsonObject
    is_piece: bool
    is_marked: bool


def message(value: JsonObject) -> Message | None:
    """What `messages_to_dict`, `dumpd` or a plain dump of the model wrote; None if it is no message."""
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
    """The messages that *value* lists, as a prompt or the state of a graph; None if it lists none."""
    for holder in (value, as_object(value.get("kwargs")), as_object(value.get("values"))):
        if isinstance(holder.get("messages"), list):
            return [as_object(found) for found in _flat(holder["messages"])]
    return None


def _flat(listed: object) -> Iterator[Any]:
    """The elements of a list, or of the lists in it."""
    for found in as_list(listed):
        if isinstance(found, list):
            yield from as_list(found)
        else:
            yield found


def _named(name: str, fields: JsonObject, *, is_marked: bool) -> Message | None:
    whole = name.removesuffix("Chunk")
    kind = whole.removesuffix("Message").lower()
    return Message(kind, fields, whole != name, is_marked) if kind in _KINDS else None
