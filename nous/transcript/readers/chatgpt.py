"""Reader for ChatGPT exports: `conversations.json`, a list of conversations or one of them.

The messages form a tree. Only the branch that the user sees is read. A message to a tool is a call; the tool's message
below it is the result.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.plain_chat import another_session, own_name, reports_failure
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample


def branch(conversation: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages from the first to the current one, each after the id of its node.

    If the current node is not in the tree, the message that was written last takes its place.
    """
    mapping = {own: as_object(node) for own, node in as_object(conversation.get("mapping")).items()}
    parents = {as_text(child): own for own, node in mapping.items() for child in as_list(node.get("children"))}
    current = as_text(conversation.get("current_node"))
    path: dict[str, dict[str, Any]] = {}
    at = current if current in mapping else _newest(mapping)
    while at in mapping and at not in path:
        path[at] = mapping[at]
        at = as_text(mapping[at].get("parent")) or parents.get(at, "")
    found = [(own, as_object(node.get("message"))) for own, node in reversed(path.items())]
    return [(own, message) for own, message in found if message]


def messages_in(conversation: Mapping[str, Any]) -> int:
    """Return the number of messages on all branches of the tree."""
    nodes = as_object(conversation.get("mapping")).values()
    return sum(bool(as_object(as_object(node).get("message"))) for node in nodes)


def _newest(mapping: Mapping[str, Mapping[str, Any]]) -> str:
    newest = ""
    when: float = 0
    for own, node in mapping.items():
        message = as_object(node.get("message"))
        time = message.get("create_time")
        written = time if isinstance(time, int | float) else when
        if message and written >= when:
            newest, when = own, written
    return newest


_TEXTS = ("text", "result", "summary", "content", "model_set_context", "user_profile", "user_instructions")
_ABOUT = ("about_user_message", "about_model_message")


class Content(NamedTuple):
    """Text of a message, and the names of its content without text."""

    text: str
    passed: tuple[str, ...]


def content_of(message: Mapping[str, Any]) -> Content:
    content = as_object(message.get("content"))
    kind = str(content.get("content_type"))
    if "parts" in content:
        return _of_parts(content["parts"])
    if kind == "thoughts":
        return Content(_thoughts(content), ())
    if kind == "tether_quote":
        return Content("\n".join(filter(None, (as_text(content.get(key)) for key in ("title", "url", "text")))), ())
    if kind == "system_error":
        return Content(": ".join(filter(None, (as_text(content.get(key)) for key in ("name", "text")))), ())
    found = [text for key in _TEXTS if (text := as_text(content.get(key)).strip("\n"))]
    if kind == "user_editable_context":
        return Content("\n\n".join(found), ())
    return Content(found[0] if found else "", () if found else (f"{kind} content",))


def standing_instructions(message: Mapping[str, Any]) -> str:
    """Return the user's custom instructions for all conversations."""
    about = as_object(as_object(message.get("metadata")).get("user_context_message_data"))
    said = "\n\n".join(filter(None, (as_text(about.get(key)).strip() for key in _ABOUT)))
    return content_of(message).text.strip() or said


def given_to_tool(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call: JSON, or else code or text."""
    text = content_of(message).text
    given = as_arguments(text)
    if not text or given != {"arguments": text}:
        return given
    return {"code" if as_object(message.get("content")).get("content_type") == "code" else "text": text}


def _of_parts(parts: object) -> Content:
    texts: list[str] = []
    passed: list[str] = []
    for part in as_list(parts):
        text = part if isinstance(part, str) else as_object(part).get("text")
        if isinstance(text, str):
            texts.append(text)
        else:
            passed.append(f"{as_object(part).get('content_type')} part")
    return Content("\n\n".join(filter(None, texts)), tuple(passed))


def _thoughts(content: Mapping[str, Any]) -> str:
    thoughts = map(as_object, as_list(content.get("thoughts")))
    said = (as_text(thought.get("content")) or as_text(thought.get("summary")) for thought in thoughts)
    return "\n\n".join(filter(None, said))


_SURE = 0.97
_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
_EVERYBODY = frozenset({"", "all"})
_FAILED = "failed"


class ChatGPT:
    """Reads the data exports of ChatGPT."""

    format = "chatgpt"

    def sniff(self, sample: Sample) -> float:
        found = sum(map(_is_conversation, sample.records))
        return _SURE * found / len(sample.records) if found else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Export(notes)


READER = ChatGPT()


@dataclass(slots=True)
class _Export(AgentReading):
    """The conversations of an export.

    `asked` maps each tool to its last call in this turn. `last` is the last call of all.
    """

    conversations: int = 0
    asked: dict[str, str] = field(default_factory=dict[str, str])
    last: str = ""

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        if not isinstance(value.get("mapping"), dict):
            self.notes.skip("not a conversation")
            return
        self.conversations += 1
        self._forget_calls()
        own = as_text(value.get("conversation_id")) or as_text(value.get("id"))
        model = as_text(value.get("default_model_slug"))
        self.notes.learn(session_id=own, title=as_text(value.get("title")), model=model)
        if self.conversations > 1:
            name = as_text(value.get("title")) or own_name(value)
            place = RecordPlace(own or f"conversation-{self.conversations}", record.line, record.offset)
            yield place.draft(Kind.SYSTEM, another_session(name))
        path = branch(value)
        if left := messages_in(value) - len(path):
            self.notes.skipped["another branch"] += left
        for node, message in path:
            time = parse_time(message.get("create_time"))
            place = RecordPlace(as_text(message.get("id")) or node, record.line, record.offset, time)
            yield from self._message(message, place)

    def _message(self, message: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        role = str(as_object(message.get("author")).get("role"))
        metadata = as_object(message.get("metadata"))
        self.notes.learn(model=as_text(metadata.get("model_slug")))
        kind = str(as_object(message.get("content")).get("content_type"))
        if metadata.get("is_user_system_message") is True or kind in _INSTRUCTIONS:
            return self._text_draft(standing_instructions(message), place)
        text, passed = content_of(message)
        for reason in passed:
            self.notes.skip(reason)
        if role == "tool":
            return self._came(text, message, place)
        if role == "assistant" and kind == "thoughts":
            return self._text_draft(text, place, Kind.THINKING)
        if role == "assistant" and kind == "reasoning_recap":
            self.notes.skip(kind)
            return ()
        if role == "assistant" and as_text(message.get("recipient")) not in _EVERYBODY:
            return (self._called(as_text(message.get("recipient")), message, place),)
        if metadata.get("is_visually_hidden_from_conversation") is True:
            return self._text_draft(text, place, is_meta=True)
        return self._spoken(role, text, metadata, place)

    def _spoken(self, role: str, text: str, metadata: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        if role == "user":
            self._forget_calls()
            yield from self.said([text], place)
        elif role in {"assistant", "system"}:
            yield from self._text_draft(text, place, Kind.ASSISTANT if role == "assistant" else Kind.SYSTEM)
        else:
            self.notes.skip(f"{role} message")
        if as_object(metadata.get("finish_details")).get("type") == "interrupted":
            yield place.draft(Kind.SYSTEM, "Interrupted by the user", 1)

    def _text_draft(
        self, text: str, place: RecordPlace, kind: Kind = Kind.SYSTEM, *, is_meta: bool = False
    ) -> Iterable[Draft]:
        if text.strip():
            return (place.draft(kind, text.strip(), is_meta=is_meta),)
        self.notes.skip("empty message")
        return ()

    def _called(self, tool: str, message: Mapping[str, Any], place: RecordPlace) -> Draft:
        self.asked[tool] = self.last = place.id
        return self.call(tool, given_to_tool(message), place.id, place)

    def _came(self, text: str, message: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Return a tool's answer in words; one call may have several answers."""
        if not text.strip():
            self.notes.skip("empty message")
            return ()
        tool = as_text(as_object(message.get("author")).get("name"))
        ran = as_object(as_object(message.get("metadata")).get("aggregate_result"))
        kind = as_object(message.get("content")).get("content_type")
        failed = str(ran.get("status")).startswith(_FAILED) or kind == "system_error" or reports_failure(text)
        return (self.result(text, self.asked.get(tool, self.last), place, is_error=failed, tool=tool),)

    def _forget_calls(self) -> None:
        self.asked.clear()
        self.last = ""


def _is_conversation(record: Mapping[str, Any]) -> bool:
    mapping = record.get("mapping")
    if not isinstance(mapping, dict):
        return False
    nodes = [as_object(node) for node in as_object(mapping).values()]
    is_tree = bool(nodes) and all("message" in node or "children" in node or "parent" in node for node in nodes)
    return is_tree or (not nodes and "current_node" in record)
