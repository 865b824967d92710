"""Parse Droid (Factory) session files into entries.

Session files are `~/.factory/sessions/<project>/<session>.jsonl`, with Anthropic messages under `message`. Often only
the text of a result shows that the call failed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import BlockReading, blocks_in, text_of
from nous.transcript.parsing.fields import JsonObject, object_at, templates, text_at
from nous.transcript.parsing.values import parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_TEMPLATES = templates("droid")
_FAILED = "Error:"
_DELEGATED = "# Task Tool Invocation"
_UNTITLED = "New Session"


def _confidence(sample: Sample) -> float:
    return 0.95 if any(map(_is_sure, sample.records)) else 0.0


def _is_sure(record: JsonObject) -> bool:
    is_start = record.get("type") == "session_start" and "id" in record
    return is_start and any(key in record for key in ("sessionTitle", "title", "owner", "cwd"))


@dataclass(slots=True)
class _Session(BlockReading):
    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = str(value.get("type", "no type"))
        own = text_at(value, "id") or f"line-{record.line}"
        place = RecordPlace(own, record.line, record.offset, parse_time(value.get("timestamp")))
        if kind == "message":
            return self._message(value, place)
        if kind == "session_start":
            self._introduce(value)
        return self.from_template(_TEMPLATES, kind, value, place)

    def _introduce(self, value: JsonObject) -> None:
        """Learn the header; in a session that another one called, that one's agent speaks."""
        titles = (text_at(value, key) for key in ("sessionTitle", "title"))
        title = next((title for title in titles if title and title != _UNTITLED), "")
        parent = text_at(value, "callingSessionId")
        self.is_sub_agents = self.is_sub_agents or bool(parent) or title.startswith(_DELEGATED)
        own, cwd = text_at(value, "id"), text_at(value, "cwd")
        self.notes.learn(session_id=own, title=title, cwd=cwd)

    def _message(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        inner = object_at(value, "message")
        if "hookEventName" in inner or "hookEventName" in value:
            return self.skip("hook")
        self.notes.learn(model=text_at(inner, "model"))
        content = inner.get("content")
        match inner.get("role"):
            case "user":
                return self._prompted(content, place)
            case "assistant":
                return self.of_assistant(content, place, message=place.id)
            case role:
                return self.skip(f"message of {role}")

    def _prompted(self, content: object, place: RecordPlace) -> Iterator[Draft]:
        for draft in self.of_user([_judged(block) for block in blocks_in(content)], place):
            if draft.kind is Kind.USER and draft.text.startswith(_DELEGATED):
                draft.kind = Kind.SUB_AGENT
            yield draft


READER = FormatReader("droid", _confidence, _Session)


def _judged(block: JsonObject) -> JsonObject:
    is_failed = block.get("type") == "tool_result" and text_of(block.get("content")).startswith(_FAILED)
    return {**block, "is_error": True} if is_failed else block
