"""Parse ChatGPT exports (`conversations.json`, or one conversation) into transcript entries.

Of the tree of messages only the branch that the user sees is read. The message of a tool answers the one to it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import ChatReading, Parts, own_name, parts_of
from nous.transcript.parsing.fields import JsonObject, object_at, objects_at, text_at
from nous.transcript.parsing.values import as_arguments, as_object, as_text
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
_EVERYBODY = frozenset({"", "all"})
_TEXTS = ("text", "result", "summary", "content", "model_set_context")


def _confidence(sample: Sample) -> float:
    return 0.97 * sample.share(_is_conversation)


def _is_conversation(record: JsonObject) -> bool:
    mapping = record.get("mapping")
    if not isinstance(mapping, dict):
        return False
    nodes = [as_object(node) for node in as_object(mapping).values()]
    is_tree = bool(nodes) and all("message" in node or "children" in node or "parent" in node for node in nodes)
    return is_tree or (not nodes and "current_node" in record)


def branch(conversation: JsonObject) -> list[str]:
    """Return the ids of the nodes from the first to the current one, or else to the last."""
    mapping = object_at(conversation, "mapping")
    at = text_at(conversation, "current_node")
    at = at if at in mapping else next(reversed(mapping), "")
    path: dict[str, None] = {}
    while at in mapping and at not in path:
        path[at] = None
        at = as_text(as_object(mapping[at]).get("parent"))
    return list(reversed(path))


def content_of(message: JsonObject) -> Parts:
    content = object_at(message, "content")
    kind = str(content.get("content_type"))
    if "parts" in content:
        return parts_of(content["parts"])
    if kind == "thoughts":
        thoughts = objects_at(content, "thoughts")
        return Parts(thoughts=[text_at(one, "content", "summary") for one in thoughts])
    found = next((text for name in _TEXTS if (text := text_at(content, name).strip("\n"))), "")
    return Parts([found], passed=[] if found else [f"{kind} content"])


@dataclass(slots=True)
class _Export(ChatReading):
    """The conversations; `asked` maps tools to their last calls in this turn, `last` is of all."""

    asked: dict[str, str] = field(default_factory=dict[str, str])
    last: str = ""

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        if not isinstance(value.get("mapping"), dict):
            self.notes.skip("not a conversation")
            return
        self.asked, self.last = {}, ""
        own, title = text_at(value, "conversation_id", "id"), text_at(value, "title")
        self.notes.learn(session_id=own, title=title, model=text_at(value, "default_model_slug"))
        yield from self.begun(title or own_name(value), record)
        nodes = object_at(value, "mapping").items()
        messages = {own: message for own, node in nodes if (message := as_object(as_object(node).get("message")))}
        path = [own for own in branch(value) if own in messages]
        if left := len(messages) - len(path):
            self.notes.skipped["another branch"] += left
        for node in path:
            message = messages[node]
            yield from self._message(message, self.place(record, message, own=text_at(message, "id") or node))

    def _message(self, message: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        author, metadata = object_at(message, "author"), object_at(message, "metadata")
        role, recipient = str(author.get("role")), text_at(message, "recipient")
        self.notes.learn(model=text_at(metadata, "model_slug"))
        kind = str(object_at(message, "content").get("content_type"))
        found = content_of(message)
        if metadata.get("is_user_system_message") is True or kind in _INSTRUCTIONS:
            return self.text_or_skip(Kind.SYSTEM, found.text, place, "custom instructions")
        self.notes.skipped.update(found.passed)
        if role == "assistant" and kind == "reasoning_recap":
            return self.skip(kind)
        if role == "assistant" and recipient not in _EVERYBODY:
            self.asked[recipient] = self.last = place.id
            given = as_arguments(found.text)
            if found.text and given == {"arguments": found.text}:
                given = {"code" if kind == "code" else "text": found.text}
            return (self.call(recipient, given, place.id, place),)
        if role != "tool" and metadata.get("is_visually_hidden_from_conversation") is True:
            return self.text_or_skip(Kind.SYSTEM, found.text, place, is_meta=True)
        return self._spoken(role, found, message, place)

    def _spoken(self, role: str, found: Parts, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        metadata, tool = object_at(message, "metadata"), text_at(object_at(message, "author"), "name")
        if role not in {"user", "assistant", "system", "tool"}:
            self.notes.skip(f"{role} message")
        elif not found.text.strip() and not any(found.thoughts):
            self.notes.skip("empty message")
        else:
            ran = object_at(metadata, "aggregate_result")
            is_error = object_at(message, "content").get("content_type") == "system_error"
            is_error = is_error or str(ran.get("status")).startswith("failed")
            call_id = self.asked.get(tool, self.last)
            yield from self.of_role(role, found, place, call_id=call_id, tool=tool, is_error=is_error)
        if role == "user":
            self.asked, self.last = {}, ""
        if object_at(metadata, "finish_details").get("type") == "interrupted":
            yield place.draft(Kind.SYSTEM, "Interrupted by the user", 1)


READER = FormatReader("chatgpt", _confidence, _Export)
