"""Parse Droid (Factory) session files, and the output of `droid exec`, into entries.

Session files are `~/.factory/sessions/<project>/<session>.jsonl`, with Anthropic messages under `message`. The output
(`--output-format stream-json`) has flat records. Often only the text of a result shows that the call failed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.blocks import BlockReading, blocks_in, text_of
from nous.transcript.parsing.fields import JsonObject, count_at, object_at, templates, text_at
from nous.transcript.parsing.values import as_arguments, as_object, as_shown, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_SURE_KEYS = {
    "message": ({"role", "text"},),
    "tool_call": ({"parameters", "toolName"}, {"parameters", "toolId"}),
    "completion": ({"finalText"},),
}
"""Keys that only the output of Droid has together, by the type of the record."""

_TEMPLATES = templates("droid")
_FAILED = "Error:"
_DELEGATED = "# Task Tool Invocation"
_UNTITLED = "New Session"


def _confidence(sample: Sample) -> float:
    return 0.95 if any(map(_is_sure, sample.records)) else 0.0


def _is_sure(record: JsonObject) -> bool:
    if record.get("type") == "session_start":
        return "id" in record and any(key in record for key in ("sessionTitle", "title", "owner", "cwd"))
    sure = _SURE_KEYS.get(str(record.get("type")), ())
    return ("session_id" in record or "sessionId" in record) and any(keys <= record.keys() for keys in sure)


@dataclass(slots=True)
class _Session(BlockReading):
    """The records of a session; `answer` is the last text, which the end of a run repeats."""

    answer: str = ""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = str(value.get("type", "no type"))
        own = text_at(value, "id") or f"line-{record.line}"
        place = RecordPlace(own, record.line, record.offset, parse_time(value.get("timestamp")))
        self.notes.learn(session_id=text_at(value, "session_id", "sessionId"))
        match kind:
            case "session_start":
                self._introduce(value)
            case "system":
                self.notes.learn(model=text_at(value, "model"), cwd=text_at(value, "cwd"))
            case "message":
                return self._message(value, place)
            case "tool_call":
                tool, given = text_at(value, "toolName", "toolId"), as_arguments(value.get("parameters"))
                return (self.call(tool, given, text_at(value, "toolCallId", "id"), place),)
            case "tool_result":
                return (self._answered(value, place),)
            case "completion":
                return self._completed(value, place)
            case _:
                return self.from_template(_TEMPLATES, kind, value, place)
        return self.skip(kind)

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
        message = inner or value
        self.notes.learn(model=text_at(message, "model"))
        content = message.get("content", message.get("text"))
        match message.get("role"):
            case "user":
                return self._prompted(content, place)
            case "assistant":
                self.answer = text_of(content).strip() or self.answer
                return self.of_assistant(content, place, message=place.id)
            case role:
                return self.skip(f"message of {role}")

    def _prompted(self, content: object, place: RecordPlace) -> Iterator[Draft]:
        for draft in self.of_user([_judged(block) for block in blocks_in(content)], place):
            if draft.kind is Kind.USER and draft.text.startswith(_DELEGATED):
                draft.kind = Kind.SUB_AGENT
            yield draft

    def _answered(self, value: JsonObject, place: RecordPlace) -> Draft:
        result = value.get("value", value.get("error"))
        output = as_object(result)
        code = count_at(output, "exitCode")
        text = as_shown(result)
        if "stdout" in output or "stderr" in output:
            ended = f"Exit code {code}" if code else ""
            text = "\n".join(filter(None, (ended, text_at(output, "stdout"), text_at(output, "stderr"))))
        is_error = value.get("isError") is True or code != 0 or text.startswith(_FAILED)
        tool, own = text_at(value, "toolName", "toolId"), place._replace(id=f"{place.id}-result")
        return self.result(text, text_at(value, "toolCallId", "id"), own, is_error=is_error, tool=tool)

    def _completed(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        text = text_at(value, "finalText").strip()
        if text and text == self.answer:
            return self.skip("repeated answer")
        self.answer = text or self.answer
        return self.text_or_skip(Kind.ASSISTANT, text, place, "empty completion")


READER = FormatReader("droid", _confidence, _Session)


def _judged(block: JsonObject) -> JsonObject:
    is_failed = block.get("type") == "tool_result" and text_of(block.get("content")).startswith(_FAILED)
    return {**block, "is_error": True} if is_failed else block
