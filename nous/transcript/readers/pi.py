"""Reader for pi and OpenClaw sessions: JSON lines that form a tree by `parentId`.

The first line is a `session`. File order is the order of events. All branches of the tree are read; a system entry
marks where the user went back to an earlier point.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.blocks import blocks_in
from nous.transcript.parsing.pi import MessageReading
from nous.transcript.parsing.values import as_object, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_TYPES = frozenset(
    {
        *("session", "model_change", "thinking_level_change", "compaction", "branch_summary"),
        *("custom", "custom_message", "label", "session_info"),
    }
)
_OTHERS_BLOCKS = frozenset({"tool_use", "tool_result"})
_OPENCLAW = ("openclaw", "clawdbot")

JsonObject = Mapping[str, Any]


class Pi:
    """Reads files of all versions of pi, and of OpenClaw."""

    format = "pi"

    def sniff(self, sample: Sample) -> float:
        marked = sum(map(_is_marked, sample.records))
        if not marked:
            return 0.0
        has_head = any(record.get("type") == "session" and _is_marked(record) for record in sample.records)
        if not has_head and any(map(_is_anothers, sample.records)):
            return 0.0
        return (0.95 if has_head else 0.5) * marked / len(sample.records)

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = Pi()


def _is_anothers(record: JsonObject) -> bool:
    """Return whether *record* is of Droid or Claude Code, whose messages look alike."""
    if record.get("type") == "session_start" or "sessionId" in record:
        return True
    content = as_object(record.get("message")).get("content")
    return any(str(block.get("type")) in _OTHERS_BLOCKS for block in blocks_in(content))


def _is_marked(record: JsonObject) -> bool:
    kind = str(record.get("type"))
    if kind == "message":
        return "timestamp" in record and "role" in as_object(record.get("message"))
    return kind in _TYPES and "timestamp" in record


@dataclass(slots=True)
class _Session(MessageReading):
    """The records of a session.

    `seen` are the ids of all records but the first. `last` is the id of the previous record.
    """

    seen: set[str] = field(default_factory=set[str])
    last: str = ""
    title: str = ""

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        own = as_text(value.get("id"))
        if own and own in self.seen:
            self.notes.skip("repeated record")
            return
        message = as_object(value.get("message"))
        time = parse_time(value.get("timestamp")) or parse_time(message.get("timestamp"))
        place = RecordPlace(own or f"line-{record.line}", record.line, record.offset, time)
        self._recognise(value, message)
        if message.get("role") == "user" and self._goes_back(value):
            yield place._replace(id=f"{place.id}/back").draft(Kind.SYSTEM, "Went back to an earlier point")
        if own and value.get("type") != "session":
            self.seen.add(own)
            self.last = own
        yield from self.message(message, place) if value.get("type") == "message" else self._other(value, place)

    def conclude(self) -> Iterable[Draft]:
        self.notes.learn(title=self.title, input_tokens=self.tokens_in, output_tokens=self.tokens_out)
        return ()

    def _recognise(self, value: JsonObject, message: JsonObject) -> None:
        names = (value.get("provider"), value.get("customType"), value.get("agent"), message.get("provider"))
        if self.notes.header.agent is None and any(as_text(name).startswith(_OPENCLAW) for name in names):
            self.notes.learn(agent="openclaw")

    def _goes_back(self, value: JsonObject) -> bool:
        """Return whether the parent of *value* is a record other than the last one."""
        parent = as_text(value.get("parentId"))
        return parent in self.seen and parent != self.last

    def _other(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        kind = str(value.get("type", "no type"))
        match kind:
            case "compaction" | "branch_summary":
                return self.text_draft(Kind.SUMMARY, value.get("summary"), place, kind)
            case "custom_message":
                return self.text_draft(Kind.SYSTEM, value.get("content"), place, kind, is_meta=True)
            case "label":
                return self.text_draft(Kind.SYSTEM, value.get("label"), place, kind)
            case "session_info":
                self.title = as_text(value.get("name")).strip() or self.title
            case "session":
                self._introduce(value)
            case "model_change":
                self.notes.learn(model=as_text(value.get("modelId")))
            case _:
                pass
        self.notes.skip(kind)
        return ()

    def _introduce(self, value: JsonObject) -> None:
        """Learn where the session began.

        The name of the file that it was forked from ends with the parent session's id.
        """
        parent = as_text(value.get("parentSession")) or as_text(value.get("branchedFrom"))
        name = parent.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
        self.notes.learn(
            session_id=as_text(value.get("id")),
            parent_session_id=name.rpartition("_")[2],
            cwd=as_text(value.get("cwd")),
            model=as_text(value.get("modelId")),
        )
