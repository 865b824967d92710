"""What single items say, whatever list they stand in."""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from nous.transcript.reading.fields import as_arguments, as_list, as_object, as_text

Item = Mapping[str, Any]

ROLES = frozenset({"user", "assistant", "system", "developer"})
OTHERS = frozenset(
    {
        *("reasoning", "item_reference", "compaction", "mcp_list_tools", "tool_search_output"),
        *("mcp_approval_request", "mcp_approval_response"),
    }
)
_TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text", "refusal"})
_NAMED = frozenset({"function_call", "mcp_call", "mcp_approval_request"})
_GIVEN_AS_ACTION = ("action", "operation")


class Text(NamedTuple):
    """The text of some content, and what else was in it."""

    text: str
    passed: tuple[str, ...]


def is_call(kind: str) -> bool:
    return kind.endswith("_call")


def is_output(kind: str) -> bool:
    return kind.endswith("_call_output")


def is_item(value: Item) -> bool:
    """Whether *value* is an item: a typed one, or a message that is one by its role alone."""
    kind = value.get("type")
    if kind is None or kind == "message":
        return str(value.get("role")) in ROLES and "content" in value
    return isinstance(kind, str) and (is_sure(value) or kind in OTHERS)


def is_sure(value: Item) -> bool:
    """Whether *value* is an item that no other format has."""
    kind = as_text(value.get("type"))
    if kind in {"", "message"}:
        has_role = str(value.get("role")) in ROLES
        parts = {str(as_object(part).get("type")) for part in as_list(value.get("content"))}
        return has_role and bool(parts & {"input_text", "output_text"})
    if is_output(kind):
        return "output" in value
    return is_call(kind) and kind != "tool_call" and ("call_id" in value or "id" in value)


def text_in(content: object) -> Text:
    """The text of a string or of parts; the types of the parts that hold none."""
    if isinstance(content, str):
        return Text(content, ())
    texts: list[str] = []
    passed: list[str] = []
    for found in as_list(content):
        part = {"type": "text", "text": found} if isinstance(found, str) else as_object(found)
        text = part.get("text", part.get("refusal"))
        if isinstance(text, str) and str(part.get("type", "text")) in _TEXTS:
            texts.append(text)
        else:
            passed.append(f"{part.get('type')} part")
    return Text("\n\n".join(texts), tuple(passed))


class Requested(NamedTuple):
    """A call: the tool, and what it was given."""

    tool: str
    given: dict[str, Any]


def requested(item: Item) -> Requested:
    """What a call asks for. The tools of the platform are named after their items."""
    kind = as_text(item.get("type"))
    if kind in _NAMED:
        return Requested(as_text(item.get("name")), as_arguments(item.get("arguments")))
    if kind == "custom_tool_call":
        return Requested(as_text(item.get("name")), {"input": as_text(item.get("input"))})
    given = next((as_object(item[key]) for key in _GIVEN_AS_ACTION if isinstance(item.get(key), dict)), None)
    if given is None:
        given = as_arguments(item.get("arguments")) or dict(_beside(item))
    if "queries" in given and "query" not in given:
        given = {**given, "query": "; ".join(map(as_text, as_list(given["queries"])))}
    return Requested(as_text(item.get("name")) or kind.removesuffix("_call"), given)


def _beside(item: Item) -> Iterator[tuple[str, Any]]:
    """What stands in the item itself and tells what was asked for."""
    for key in ("code", "queries", "actions", "input"):
        if item.get(key):
            yield key, item[key]
    if prompt := as_text(item.get("revised_prompt")):
        yield "prompt", prompt


def call_id(item: Item) -> str:
    """What pairs a call with its output: early outputs of shells name it `id`."""
    return as_text(item.get("call_id")) or as_text(item.get("id"))


def fingerprint(item: Item) -> str:
    """The same for the same item, however it was handed back; nothing for a thought, which may be left out."""
    kind = as_text(item.get("type")) or "message"
    if kind == "reasoning":
        return ""
    if kind == "message":
        said = f"{item.get('role')}\0{text_in(item.get('content')).text}"
    else:
        said = f"{kind}\0{call_id(item)}\0{item.get('arguments')}"
    return blake2b(said.encode(errors="replace"), digest_size=12).hexdigest()
