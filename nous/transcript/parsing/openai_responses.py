"""Parser for OpenAI Responses items; emits each item of a conversation once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import reports_failure
from nous.transcript.parsing.conversation import UNKNOWN_CALL, AgentReading, call, rejection
from nous.transcript.parsing.values import as_arguments, as_count, as_list, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, RecordPlace

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


class ItemText(NamedTuple):
    """Text of some content, and the types of its parts without text."""

    text: str
    passed: tuple[str, ...]


def is_call(kind: str) -> bool:
    return kind.endswith("_call")


def is_output(kind: str) -> bool:
    return kind.endswith("_call_output")


def is_item(value: Item) -> bool:
    """Return whether *value* is an item: a typed one, or a message known by its role alone."""
    kind = value.get("type")
    if kind is None or kind == "message":
        return str(value.get("role")) in ROLES and "content" in value
    return isinstance(kind, str) and (is_sure(value) or kind in OTHERS)


def is_sure(value: Item) -> bool:
    """Return whether *value* is an item in a form that no other format has."""
    kind = as_text(value.get("type"))
    if kind in {"", "message"}:
        has_role = str(value.get("role")) in ROLES
        parts = {str(as_object(part).get("type")) for part in as_list(value.get("content"))}
        return has_role and bool(parts & {"input_text", "output_text"})
    if is_output(kind):
        return "output" in value
    return is_call(kind) and kind != "tool_call" and ("call_id" in value or "id" in value)


def text_in(content: object) -> ItemText:
    """Return the text of a string or of parts, and the types of the parts without text."""
    if isinstance(content, str):
        return ItemText(content, ())
    texts: list[str] = []
    passed: list[str] = []
    for found in as_list(content):
        part = {"type": "text", "text": found} if isinstance(found, str) else as_object(found)
        text = part.get("text", part.get("refusal"))
        if isinstance(text, str) and str(part.get("type", "text")) in _TEXTS:
            texts.append(text)
        else:
            passed.append(f"{part.get('type')} part")
    return ItemText("\n\n".join(texts), tuple(passed))


class ItemCall(NamedTuple):
    """A tool call: the tool and its arguments."""

    tool: str
    given: dict[str, Any]


def requested(item: Item) -> ItemCall:
    """Return the tool and arguments of a call; platform tools are named after their items."""
    kind = as_text(item.get("type"))
    if kind in _NAMED:
        return ItemCall(as_text(item.get("name")), as_arguments(item.get("arguments")))
    if kind == "custom_tool_call":
        return ItemCall(as_text(item.get("name")), {"input": as_text(item.get("input"))})
    given = next((as_object(item[key]) for key in _GIVEN_AS_ACTION if isinstance(item.get(key), dict)), None)
    if given is None:
        given = as_arguments(item.get("arguments")) or dict(_beside(item))
    if "queries" in given and "query" not in given:
        given = {**given, "query": "; ".join(map(as_text, as_list(given["queries"])))}
    return ItemCall(as_text(item.get("name")) or kind.removesuffix("_call"), given)


def _beside(item: Item) -> Iterator[tuple[str, Any]]:
    """Yield the arguments that are fields of the item itself."""
    for key in ("code", "queries", "actions", "input"):
        if item.get(key):
            yield key, item[key]
    if prompt := as_text(item.get("revised_prompt")):
        yield "prompt", prompt


def call_id(item: Item) -> str:
    """Return the id that pairs a call with its output; early shell outputs call it `id`."""
    return as_text(item.get("call_id")) or as_text(item.get("id"))


def fingerprint(item: Item) -> str:
    """Return a digest that is equal for each repetition of an item.

    Empty for reasoning, which a repetition may leave out.
    """
    kind = as_text(item.get("type")) or "message"
    if kind == "reasoning":
        return ""
    if kind == "message":
        said = f"{item.get('role')}\0{text_in(item.get('content')).text}"
    else:
        said = f"{kind}\0{call_id(item)}\0{item.get('arguments')}"
    return blake2b(said.encode(errors="replace"), digest_size=12).hexdigest()


_NOT_APPROVED = ("Tool execution was not approved.",)


class Result(NamedTuple):
    """Result of a tool call; `passed` names its parts without text."""

    text: str
    is_error: bool = False
    is_rejected: bool = False
    passed: tuple[str, ...] = ()


def output_of(item: Item) -> Result:
    """Return the text of an output, and whether the call failed or was rejected."""
    given = _unwrapped(item.get("output"))
    failed = item.get("status") == "failed"
    if isinstance(given, dict):
        return _of_object(as_object(given), failed=failed)
    runs = [as_object(run) for run in as_list(given) if "outcome" in as_object(run)]
    if runs:
        text = "\n\n".join(filter(None, map(_run, runs)))
        return Result(text, failed or any(map(_is_failure, runs)))
    text, passed = text_in(given)
    if text.startswith(_NOT_APPROVED):
        return Result(_without(text), is_rejected=True)
    return Result(text, failed or reports_failure(text), passed=passed)


def result_inside(item: Item) -> Result | None:
    """Return the result of a call that the platform made itself; None if its item has none."""
    error = item.get("error")
    if error:
        return Result(as_text(as_object(error).get("message")) or as_shown(error), is_error=True)
    if item.get("status") == "failed":
        return Result("failed", is_error=True)
    text = as_text(item.get("output")) or "\n\n".join(filter(None, _found(item)))
    return Result(text, reports_failure(text)) if text else None


def _found(item: Item) -> Iterator[str]:
    for result in map(as_object, as_list(item.get("results"))):
        yield "\n".join(filter(None, (as_text(result.get(key)) for key in ("filename", "title", "url", "text"))))
    for output in map(as_object, as_list(item.get("outputs"))):
        yield as_text(output.get("logs"))
    sources = map(as_object, as_list(as_object(item.get("action")).get("sources")))
    yield "\n".join(filter(None, (as_text(source.get("url")) for source in sources)))


def _unwrapped(output: object) -> object:
    """Decode an output that was put in a JSON string together with the exit code."""
    if not isinstance(output, str) or not output.startswith("{"):
        return output
    try:
        found = as_object(orjson.loads(output))
    except orjson.JSONDecodeError:
        return output
    is_wrapped = "output" in found and "metadata" in found
    return found if is_wrapped or {"stdout", "exit_code"} <= found.keys() else output


def _of_object(given: Mapping[str, Any], *, failed: bool) -> Result:
    code = as_object(given.get("metadata")).get("exit_code", given.get("exit_code"))
    failed = failed or as_count(code) != 0 or given.get("success") is False
    text, passed = text_in([given])
    if text:
        return Result(text, failed)
    said = [as_text(given.get(key)) for key in ("output", "stdout", "stderr", "content")]
    text = "\n".join(filter(None, said))
    if not text and as_text(given.get("type")):
        return Result("", failed, passed=passed)
    return Result(text or as_shown(dict(given)), failed)


def _run(run: Mapping[str, Any]) -> str:
    """Return the output of a shell command, with its exit status if it failed."""
    outcome = as_object(run.get("outcome"))
    said = [as_text(run.get(key)).rstrip("\n") for key in ("stdout", "stderr")]
    if _is_failure(run):
        code = outcome.get("exit_code")
        said.append(f"exit code {code}" if code is not None else as_text(outcome.get("type")))
    return "\n".join(filter(None, said))


def _is_failure(run: Mapping[str, Any]) -> bool:
    outcome = as_object(run.get("outcome"))
    return outcome.get("type") == "timeout" or as_count(outcome.get("exit_code")) != 0


def _without(text: str) -> str:
    """Return the reason after the notice of a rejection; empty if there is none."""
    return text.removeprefix(_NOT_APPROVED[0]).strip()


_NOT_THE_USERS = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>")


@dataclass(slots=True)
class ResponseItemReading(AgentReading):
    """Turns successive items into drafts; skips repeated items.

    `seen` are the ids of emitted items. `emitted` are the fingerprints of all items in this conversation, in order.
    """

    items: int = 0
    seen: set[str] = field(default_factory=set[str])
    emitted: list[str] = field(default_factory=list[str])

    def place(self, item: Item, record: Record, time: datetime | None = None) -> RecordPlace:
        self.items += 1
        own = as_text(item.get("id")) or f"item-{self.items}"
        said_at = parse_time(item.get("created_at", item.get("timestamp")))
        return RecordPlace(own, record.line, record.offset, said_at or time)

    def new_items(self, items: list[Item]) -> tuple[list[Item], bool]:
        """Return the new items of a conversation, and whether it is another conversation.

        *items* are a whole conversation. If it begins with all items emitted so far, only the rest is new.
        """
        if not self.emitted:
            return items, False
        matched = 0
        for number, item in enumerate(items):
            mark = fingerprint(item)
            if matched == len(self.emitted) or (mark and mark != self.emitted[matched]):
                break
            matched += bool(mark)
            if matched == len(self.emitted):
                self.notes.skipped["repeated item"] += number + 1
                return items[number + 1 :], False
        self.emitted.clear()
        return items, True

    def item(self, item: Item, place: RecordPlace) -> Iterable[Draft]:
        kind, own = as_text(item.get("type")) or "message", as_text(item.get("id"))
        if own and f"{kind} {own}" in self.seen:
            self.notes.skip("repeated item")
            return ()
        if own:
            self.seen.add(f"{kind} {own}")
        if mark := fingerprint(item):
            self.emitted.append(mark)
        return self._of(kind, item, place)

    def _of(self, kind: str, item: Item, place: RecordPlace) -> Iterable[Draft]:
        if kind == "message":
            return self._message(item, place)
        if kind == "mcp_approval_request":
            self.calls[as_text(item.get("id"))] = call(*requested(item))
        elif kind == "mcp_approval_response":
            return (self._decided(item, place),)
        elif kind == "compaction":
            return (place.draft(Kind.SYSTEM, "Conversation compacted"),)
        elif kind == "reasoning":
            return self._thought(item, place)
        elif is_output(kind):
            return self._came(output_of(item), item, place)
        elif is_call(kind):
            return self._called(item, place)
        self.notes.skip(kind)
        return ()

    def _message(self, item: Item, place: RecordPlace) -> Iterable[Draft]:
        text, passed = text_in(item.get("content"))
        self._pass_over(passed)
        role = str(item.get("role"))
        if role == "user" and text.lstrip().startswith(_NOT_THE_USERS):
            return (place.draft(Kind.SYSTEM, text.strip(), is_meta=True),)
        if role == "user":
            return self.said([text], place) if text or not passed else ()
        if not text.strip():
            self.notes.skip("empty message")
            return ()
        return (place.draft(Kind.ASSISTANT if role == "assistant" else Kind.SYSTEM, text.strip()),)

    def _thought(self, item: Item, place: RecordPlace) -> Iterable[Draft]:
        thoughts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
        text = "\n\n".join(as_text(as_object(thought).get("text")) for thought in thoughts).strip()
        if text:
            return (place.draft(Kind.THINKING, text),)
        self.notes.skip("empty reasoning")
        return ()

    def _called(self, item: Item, place: RecordPlace) -> Iterator[Draft]:
        tool, given = requested(item)
        yield self.call(tool, given, call_id(item), place)
        if inside := result_inside(item):
            yield from self._came(inside, item, place, 1)

    def _came(self, came: Result, item: Item, place: RecordPlace, part: int = 0) -> Iterator[Draft]:
        self._pass_over(came.passed)
        if came.text or came.is_rejected or came.is_error or not came.passed:
            yield self.result(
                came.text,
                call_id(item),
                place,
                part,
                is_error=came.is_error,
                is_rejected=came.is_rejected,
            )

    def _decided(self, item: Item, place: RecordPlace) -> Draft:
        asked = as_text(item.get("approval_request_id"))
        made = self.calls.get(asked, UNKNOWN_CALL)
        if item.get("approve") is True:
            text = f"Approved {made.summary}"
        else:
            text = rejection(as_text(item.get("reason")), made)
        return place.draft(Kind.DECISION, text, tool=made.tool or None, call_id=asked or None)

    def _pass_over(self, reasons: Iterable[str]) -> None:
        for reason in reasons:
            self.notes.skip(reason)
