"""Reader for Droid (Factory) sessions, and for the output of `droid exec`.

Session files are `~/.factory/sessions/<project>/<session>.jsonl`. They begin with `session_start` and hold Anthropic
messages under `message`. The output (`--output-format stream-json`) has flat `message`, `tool_call`, `tool_result` and
`completion`. Often only the text of a result shows that the call failed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.blocks import BlockReading, blocks_in, text_of
from nous.transcript.parsing.values import as_arguments, as_count, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_STREAMED = frozenset({"system", "message", "tool_call", "tool_result", "reasoning", "completion", "error"})
_FAILED = "Error:"
_DELEGATED = "# Task Tool Invocation"
_UNTITLED = "New Session"


class Droid:
    """Reads Droid's session files and its printed lines."""

    format = "droid"

    def sniff(self, sample: Sample) -> float:
        if not sample.records:
            return 0.0
        kept = sum(map(_is_kept, sample.records)) if any(map(_is_start, sample.records)) else 0
        printed = sum(map(_is_of_stream, sample.records)) if any(map(_is_surely_of_stream, sample.records)) else 0
        share = max(kept, printed) / len(sample.records)
        return 0.5 + 0.45 * share if share else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)


READER = Droid()


def _is_start(record: Mapping[str, Any]) -> bool:
    is_described = any(key in record for key in ("sessionTitle", "title", "owner", "cwd"))
    return record.get("type") == "session_start" and "id" in record and is_described


def _is_kept(record: Mapping[str, Any]) -> bool:
    return _is_start(record) or (record.get("type") == "message" and "role" in as_object(record.get("message")))


def _is_of_stream(record: Mapping[str, Any]) -> bool:
    return ("session_id" in record or "sessionId" in record) and str(record.get("type")) in _STREAMED


def _is_surely_of_stream(record: Mapping[str, Any]) -> bool:
    if not _is_of_stream(record):
        return False
    match record.get("type"):
        case "message":
            return "role" in record and "text" in record
        case "tool_call":
            return "parameters" in record and ("toolName" in record or "toolId" in record)
        case "completion":
            return "finalText" in record
        case _:
            return False


@dataclass(slots=True)
class _Session(BlockReading):
    """The records of a session.

    `answer` is the last text of the model, which the end of a run repeats. The tokens are those of all runs.
    """

    is_delegated: bool = False
    answer: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = str(value.get("type", "no type"))
        own = as_text(value.get("id")) or f"line-{record.line}"
        place = RecordPlace(own, record.line, record.offset, parse_time(value.get("timestamp")))
        self.notes.learn(session_id=as_text(value.get("session_id", value.get("sessionId"))))
        match kind:
            case "session_start":
                return self._started(value)
            case "system":
                self.notes.learn(model=as_text(value.get("model")), cwd=as_text(value.get("cwd")))
                self.notes.skip(kind)
                return ()
            case "message":
                return self._message(value, place)
            case "tool_call":
                return (self._called(value, place),)
            case "tool_result":
                return (self._answered(value, place),)
            case "completion":
                return self._completed(value, place)
            case _:
                return self._other(kind, value, place)

    def conclude(self) -> Iterable[Draft]:
        self.notes.learn(input_tokens=self.input_tokens, output_tokens=self.output_tokens)
        return ()

    def _started(self, value: Mapping[str, Any]) -> Iterable[Draft]:
        """Learn the header.

        In a session that another session called, the user messages are that session's words.
        """
        parent = as_text(value.get("callingSessionId"))
        titles = (as_text(value.get(key)) for key in ("sessionTitle", "title"))
        title = next((title for title in titles if title and title != _UNTITLED), None)
        self.is_delegated = self.is_delegated or bool(parent) or (title or "").startswith(_DELEGATED)
        self.notes.learn(
            session_id=as_text(value.get("id")), parent_session_id=parent, title=title, cwd=as_text(value.get("cwd"))
        )
        self.notes.skip("session_start")
        return ()

    def _message(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        inner = as_object(value.get("message"))
        if "hookEventName" in inner or "hookEventName" in value:
            self.notes.skip("hook")
            return ()
        message = inner or value
        self.notes.learn(model=as_text(message.get("model")))
        content = message.get("content", message.get("text"))
        match message.get("role"):
            case "user":
                return self._prompted(content, place)
            case "assistant":
                self.answer = text_of(content).strip() or self.answer
                return self.of_assistant(content, place, message=place.id)
            case "system":
                return (place.draft(Kind.SYSTEM, text_of(content)),)
            case role:
                self.notes.skip(f"message of {role}")
                return ()

    def _prompted(self, content: object, place: RecordPlace) -> Iterator[Draft]:
        for draft in self.of_user([_judged(block) for block in blocks_in(content)], place):
            if draft.kind is Kind.USER and (self.is_delegated or draft.text.startswith(_DELEGATED)):
                draft.kind = Kind.SUB_AGENT
            yield draft

    def _called(self, value: Mapping[str, Any], place: RecordPlace) -> Draft:
        tool = as_text(value.get("toolName")) or as_text(value.get("toolId"))
        return self.call(tool, as_arguments(value.get("parameters")), _call_id(value), place)

    def _answered(self, value: Mapping[str, Any], place: RecordPlace) -> Draft:
        result = value.get("value", value.get("error"))
        output = as_object(result)
        text = _printed(output) if "stdout" in output or "stderr" in output else as_shown(result)
        is_error = value.get("isError") is True or bool(as_count(output.get("exitCode"))) or text.startswith(_FAILED)
        tool = as_text(value.get("toolName")) or as_text(value.get("toolId"))
        own = place._replace(id=f"{place.id}-result")
        return self.result(text, _call_id(value), own, is_error=is_error, tool=tool)

    def _completed(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        usage = as_object(value.get("usage"))
        read = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        self.input_tokens += sum(as_count(usage.get(name)) for name in read)
        self.output_tokens += as_count(usage.get("output_tokens"))
        text = as_text(value.get("finalText")).strip()
        if not text or text == self.answer:
            self.notes.skip("repeated answer" if text else "empty completion")
            return ()
        self.answer = text
        return (place.draft(Kind.ASSISTANT, text),)

    def _other(self, kind: str, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        text = as_text(value.get("text")).strip()
        match kind:
            case "error":
                return (place.draft(Kind.ERROR, as_shown(value.get("message")) or "no reason given", is_error=True),)
            case "reasoning" if text:
                return (place.draft(Kind.THINKING, text),)
            case "compaction_state" if summary := as_text(value.get("summaryText")).strip():
                return (place.draft(Kind.SUMMARY, summary),)
            case "agent_turn_outcome" if value.get("reason") == "cancelled":
                return (place.draft(Kind.SYSTEM, "Interrupted by the user"),)
            case "agent_turn_outcome" if value.get("reason") == "error":
                text = as_shown(value.get("error") or value.get("message")) or "The turn failed"
                return (place.draft(Kind.ERROR, text, is_error=True),)
            case _:
                self.notes.skip(kind)
                return ()


def _judged(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return *block*, marked as an error if it is a result whose text reports one."""
    is_failed = block.get("type") == "tool_result" and text_of(block.get("content")).startswith(_FAILED)
    return {**block, "is_error": True} if is_failed else block


def _call_id(value: Mapping[str, Any]) -> str:
    return as_text(value.get("toolCallId")) or as_text(value.get("id"))


def _printed(output: Mapping[str, Any]) -> str:
    """Return the output of a command, with its exit code if it failed."""
    code = as_count(output.get("exitCode"))
    ended = f"Exit code {code}" if code else ""
    return "\n".join(filter(None, (ended, as_text(output.get("stdout")), as_text(output.get("stderr")))))
