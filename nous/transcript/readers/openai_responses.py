"""Reader for the OpenAI Responses API: items, and request and response bodies.

Unlike in Chat Completions, calls and results stand beside the messages. Items come as lists or lines, bodies hold them
as `input` and `output`. A request mostly repeats the conversation so far, and an answer comes back as input. Each item
is emitted once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import ChatReading, parts_of, reports_failure
from nous.transcript.parsing.fields import JsonObject, count_at, object_at, objects_at, text_at
from nous.transcript.parsing.sessions import UNKNOWN_CALL, call, digest_of, rejection
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_shown, as_text
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_ROLES = frozenset({"user", "assistant", "system", "developer"})
_NO_CALLS = frozenset(
    {
        *("reasoning", "item_reference", "compaction", "mcp_list_tools", "tool_search_output"),
        *("mcp_approval_request", "mcp_approval_response"),
    }
)
_NAMED = frozenset({"function_call", "mcp_call", "mcp_approval_request"})
_GIVEN_AS_ACTION = ("action", "operation")
_GIVEN_BESIDE = {
    "code": "code",
    "queries": "queries",
    "actions": "actions",
    "input": "input",
    "revised_prompt": "prompt",
}
_NOT_APPROVED = "Tool execution was not approved."
_NOT_THE_USERS = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>")
_SURE = 0.95
_LIKE_OLD_CODEX = 0.7
_MOST = 0.5
_OF_REQUESTS = frozenset({"instructions", "previous_response_id", "model"})


def _confidence(sample: Sample) -> float:
    bodies = sample.share(_is_body)
    share = sample.share(is_item) + bodies
    if share < _MOST or not (bodies or any(map(is_sure, sample.records))):
        return 0.0
    return share * (_LIKE_OLD_CODEX if any(map(_is_codex, sample.records)) else _SURE)


def is_item(value: JsonObject) -> bool:
    """Return whether *value* is an item: a typed one, or a message known by its role alone."""
    kind = value.get("type")
    if kind is None or kind == "message":
        return str(value.get("role")) in _ROLES and "content" in value
    return isinstance(kind, str) and (is_sure(value) or kind in _NO_CALLS)


def is_sure(value: JsonObject) -> bool:
    """Return whether *value* is an item in a form that no other format has."""
    kind = text_at(value, "type")
    if kind in {"", "message"}:
        parts = {str(as_object(part).get("type")) for part in as_list(value.get("content"))}
        return str(value.get("role")) in _ROLES and bool(parts & {"input_text", "output_text"})
    if kind.endswith("_call_output"):
        return "output" in value
    return kind.endswith("_call") and kind != "tool_call" and ("call_id" in value or "id" in value)


def _is_body(record: JsonObject) -> bool:
    """Return whether *record* is a request, an answer, or both in one.

    A list of messages that happens to be called `input` is not enough.
    """
    if "type" in record or "role" in record:
        return False
    items = [as_object(item) for key in ("input", "output") for item in as_list(record.get(key))]
    is_marked = any(map(is_sure, items)) or bool(_OF_REQUESTS & record.keys())
    is_request = isinstance(record.get("input"), str) and "model" in record
    return is_request or record.get("object") == "response" or (is_marked and bool(items) and all(map(is_item, items)))


def _is_codex(record: JsonObject) -> bool:
    """Return whether *record* is from old Codex.

    It kept its items as bare lines, after a line about the session.
    """
    return "record_type" in record or ("instructions" in record and "timestamp" in record and "type" not in record)


def requested(item: JsonObject) -> tuple[str, dict[str, Any]]:
    """Return the tool and arguments of a call; platform tools are named after their items."""
    kind, name = text_at(item, "type"), text_at(item, "name")
    if kind in _NAMED:
        return name, as_arguments(item.get("arguments"))
    given = next((as_object(item[key]) for key in _GIVEN_AS_ACTION if isinstance(item.get(key), dict)), None)
    if given is None:
        beside = {name: item[key] for key, name in _GIVEN_BESIDE.items() if item.get(key)}
        given = as_arguments(item.get("arguments")) or beside
    if "queries" in given and "query" not in given:
        given = {**given, "query": "; ".join(map(as_text, as_list(given["queries"])))}
    return name or kind.removesuffix("_call"), given


def call_id(item: JsonObject) -> str:
    """Return the id that pairs a call with its output; early shell outputs call it `id`."""
    return text_at(item, "call_id", "id")


def fingerprint(item: JsonObject) -> str:
    """Return a digest that is equal for each repetition of an item.

    Empty for reasoning, which a repetition may leave out.
    """
    kind = text_at(item, "type") or "message"
    if kind == "reasoning":
        return ""
    if kind == "message":
        said = f"{item.get('role')}\0{parts_of(item.get('content')).text}"
    else:
        said = f"{kind}\0{call_id(item)}\0{item.get('arguments')}"
    return digest_of(said)


class ItemResult(NamedTuple):
    """Result of a tool call; `passed` names its parts without text."""

    text: str
    is_error: bool = False
    is_rejected: bool = False
    passed: tuple[str, ...] = ()


def output_of(item: JsonObject) -> ItemResult:
    """Return the text of an output, and whether the call failed or was rejected."""
    given, failed = item.get("output"), item.get("status") == "failed"
    runs = [as_object(run) for run in as_list(given) if "outcome" in as_object(run)]
    if runs:
        return ItemResult("\n\n".join(filter(None, map(_run, runs))), failed or any(map(_is_failure, runs)))
    if isinstance(given, dict) and "type" not in given:
        return ItemResult(as_shown(given), failed)
    found = parts_of(given)
    if found.text.startswith(_NOT_APPROVED):
        return ItemResult(found.text.removeprefix(_NOT_APPROVED).strip(), is_rejected=True)
    return ItemResult(found.text, failed or reports_failure(found.text), passed=tuple(found.passed))


def _thoughts(item: JsonObject) -> str:
    return parts_of([*as_list(item.get("summary")), *as_list(item.get("content"))]).text.strip()


def _run(run: JsonObject) -> str:
    """Return the output of a shell command, with its exit status if it failed."""
    outcome = object_at(run, "outcome")
    said = [text_at(run, key).rstrip("\n") for key in ("stdout", "stderr")]
    if _is_failure(run):
        code = outcome.get("exit_code")
        said.append(f"exit code {code}" if code is not None else text_at(outcome, "type"))
    return "\n".join(filter(None, said))


def _is_failure(run: JsonObject) -> bool:
    outcome = object_at(run, "outcome")
    return outcome.get("type") == "timeout" or count_at(outcome, "exit_code") != 0


def result_inside(item: JsonObject) -> ItemResult | None:
    """Return the result of a call that the platform made itself; None if its item has none."""
    if error := item.get("error"):
        return ItemResult(text_at(as_object(error), "message") or as_shown(error), is_error=True)
    if item.get("status") == "failed":
        return ItemResult("failed", is_error=True)
    text = text_at(item, "output") or "\n\n".join(filter(None, _found(item)))
    return ItemResult(text, reports_failure(text)) if text else None


def _found(item: JsonObject) -> Iterator[str]:
    for result in objects_at(item, "results"):
        yield "\n".join(filter(None, (text_at(result, key) for key in ("filename", "title", "url", "text"))))
    for output in objects_at(item, "outputs"):
        yield text_at(output, "logs")
    sources = map(as_object, as_list(object_at(item, "action").get("sources")))
    yield "\n".join(filter(None, (text_at(source, "url") for source in sources)))


@dataclass(slots=True)
class _Session(ChatReading):
    """The items of a conversation.

    `emitted` are the fingerprints of all items in this conversation,
    in order. `instructions` are the last ones given.
    """

    emitted: list[str] = field(default_factory=list[str])
    instructions: str = ""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        if _is_body(value):
            return self._body(value, record)
        if not is_item(value) and "type" not in value:
            return self.skip("not an item")
        return self._item(value, record)

    def _body(self, value: JsonObject, record: Record) -> Iterator[Draft]:
        own = text_at(value, "id")
        if own and self.is_repeated(own, "repeated response"):
            return
        conversation = value.get("conversation")
        session = text_at(as_object(conversation), "id") or as_text(conversation)
        self.notes.learn(model=text_at(value, "model"), session_id=session or text_at(value, "session_id"))
        self.used(object_at(value, "usage"))
        yield from self._asked(value, record)
        for found in as_list(value.get("output")):
            yield from self._item({"created_at": value.get("created_at"), **as_object(found)}, record)
        yield from self._ended(value, self.place(record, value))

    def _asked(self, value: JsonObject, record: Record) -> Iterator[Draft]:
        """Yield the input and instructions that the model had not got before."""
        given = value.get("input")
        listed = [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given)
        items = list(map(as_object, listed))
        if items and not (value.get("previous_response_id") or value.get("conversation")):
            marked = [number for number, item in enumerate(items, 1) if fingerprint(item)][: len(self.emitted)]
            if [fingerprint(items[number - 1]) for number in marked] == self.emitted:
                repeated = marked[-1] if marked else 0
                self.notes.skipped.update({"repeated item": repeated} if repeated else {})
                items = items[repeated:]
            else:
                self.emitted.clear()
                yield self.place(record).draft(Kind.SYSTEM, "Another session begins")
        instructions = parts_of(value.get("instructions")).text.strip()
        if instructions and instructions != self.instructions:
            self.instructions = instructions
            yield from self.stated(instructions, self.place(record))
        for item in items:
            yield from self._item(item, record)

    def _ended(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        if error := object_at(value, "error"):
            said = text_at(error, "message", "code")
            yield place.draft(Kind.ERROR, said or "The answer failed", is_error=True)
        if reason := text_at(object_at(value, "incomplete_details"), "reason"):
            yield place.draft(Kind.SYSTEM, f"The answer is incomplete: {reason}", 1)

    def _item(self, item: JsonObject, record: Record) -> Iterable[Draft]:
        kind, own = text_at(item, "type") or "message", text_at(item, "id")
        if own and self.is_repeated(f"{kind} {own}", "repeated item"):
            return ()
        if mark := fingerprint(item):
            self.emitted.append(mark)
        return self._of(kind, item, self.place(record, item, own=own))

    def _of(self, kind: str, item: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        if kind == "message":
            return self._message(item, place)
        if kind == "mcp_approval_request":
            self.calls[text_at(item, "id")] = call(*requested(item))
        elif kind == "mcp_approval_response":
            return (self._decided(item, place),)
        elif kind == "compaction":
            return self.stated("Conversation compacted", place)
        elif kind == "reasoning" and (thoughts := _thoughts(item)):
            return self.stated(thoughts, place, Kind.THINKING)
        elif kind.endswith("_call_output"):
            return self._came(output_of(item), item, place)
        elif kind.endswith("_call"):
            return self._called(item, place)
        return self.skip("empty reasoning" if kind == "reasoning" else kind)

    def _message(self, item: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        found, role = self.parts(item.get("content")), str(item.get("role"))
        if role == "user" and found.text.lstrip().startswith(_NOT_THE_USERS):
            return self.stated(found.text, place, is_meta=True)
        if found.passed and not found.text.strip():
            return ()
        return self.of_role(role, found, place)

    def _called(self, item: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        yield self.call(*requested(item), call_id(item), place)
        if inside := result_inside(item):
            yield from self._came(inside, item, place, 1)

    def _came(self, came: ItemResult, item: JsonObject, place: RecordPlace, part: int = 0) -> Iterator[Draft]:
        self.notes.skipped.update(came.passed)
        if came.text or came.is_rejected or came.is_error or not came.passed:
            failed, rejected = came.is_error, came.is_rejected
            yield self.result(came.text, call_id(item), place, part, is_error=failed, is_rejected=rejected)

    def _decided(self, item: JsonObject, place: RecordPlace) -> Draft:
        asked = text_at(item, "approval_request_id")
        made = self.calls.get(asked, UNKNOWN_CALL)
        reason = text_at(item, "reason")
        text = f"Approved {made.summary}" if item.get("approve") is True else rejection(reason, made)
        return place.draft(Kind.DECISION, text, tool=made.tool or None, call_id=asked or None)


READER = FormatReader("openai_responses", _confidence, _Session)
