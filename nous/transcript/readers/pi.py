"""Parse pi and OpenClaw sessions (JSON lines) into entries, all branches in file order."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nous.text.language import patterns
from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import BlockReading, blocks_in, text_of
from nous.transcript.parsing.fields import JsonObject, count_at, marks, object_at, text_at
from nous.transcript.parsing.values import parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_TYPES = frozenset(marks("pi", "types"))

# Models that OpenClaw names for repeats of messages that it sent to a channel.
_MIRRORS = frozenset({"delivery-mirror", "gateway-injected"})
_CUT_SHORT = frozenset({"error", "aborted"})
_ABORTED = ("Command aborted", "Operation aborted")
_NOT_RUN = "Skipped due to queued user message"
_FAILED = frozenset({"error", "failed"})
_SUMMARIES = frozenset({"compaction", "branch_summary", "branchSummary", "compactionSummary"})
_BY_A_PROGRAM = frozenset({"custom_message", "custom", "hookMessage"})
_PATTERNS = patterns("nous.transcript", "patterns", "pi")
_FROM_A_PROGRAM = _PATTERNS["from_a_program"]
_OF_A_SUB_AGENT = re.compile(r'(?:\[System Message\] *(?:\[[^\]\n]{0,80}\] *)?)?A subagent task "')
_SKILL = re.compile(r'<skill name="(?P<name>[^"\n]*)" location="[^"\n]*">')
_SKILL_END = "\n</skill>"
_FILE = re.compile(r'<file name="[^"\n]*">')
_FILE_END = "</file>"
_ENVELOPE = _PATTERNS["envelope"]
_MESSAGE_ID = re.compile(r"\n\[message_id: [^\]\n]*\]$")


def _without_files(text: str) -> tuple[str, int]:
    start = files = 0
    while _FILE.match(text, start) and (end := text.find(_FILE_END, start)) >= 0:
        start = end + len(_FILE_END)
        start += text.startswith("\n", start)
        files += 1
    return text[start:].lstrip(), files


def _confidence(sample: Sample) -> float:
    has_head = any(record.get("type") == "session" and _is_marked(record) for record in sample.records)
    return (0.95 if has_head else 0.5) * sample.share(_is_marked)


def _is_marked(record: JsonObject) -> bool:
    kind = str(record.get("type"))
    if kind == "message":
        return "timestamp" in record and "role" in object_at(record, "message")
    return kind in _TYPES and "timestamp" in record


@dataclass(slots=True)
class _Session(BlockReading):
    answer: str = ""

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        own, kind = text_at(value, "id"), str(value.get("type", "no type"))
        if own and kind != "session" and self.is_repeated(own):
            return ()
        message = object_at(value, "message")
        time = parse_time(value.get("timestamp")) or parse_time(message.get("timestamp"))
        place = RecordPlace(own or f"line-{record.line}", record.line, record.offset, time)
        return self._message(message, place) if kind == "message" else self._other(kind, value, place)

    def _other(self, kind: str, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match kind:
            case "compaction" | "branch_summary" | "custom_message" | "label":
                return self._text(kind, value, place)
            case "session_info":
                self.title = text_at(value, "name").strip() or self.title
            case "session":
                self.notes.learn(
                    session_id=text_at(value, "id"), cwd=text_at(value, "cwd"), model=text_at(value, "modelId")
                )
            case "model_change":
                self.notes.learn(model=text_at(value, "modelId"))
            case _:
                pass
        return self.skip(kind)

    def _message(self, message: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match role := str(message.get("role", "no role")):
            case "user":
                return self._prompt(message, place)
            case "assistant":
                return self._answered(message, place)
            case "toolResult":
                return self._returned(message, place)
            case "bashExecution":
                return self._typed(message, place)
            case "branchSummary" | "compactionSummary" | "custom" | "hookMessage" | "system":
                return self._text(role, message, place)
            case _:
                return self.skip(f"{role} message")

    def _text(self, kind: str, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        content = value.get("summary", value.get("content", value.get("label")))
        whose, text = Kind.SUMMARY if kind in _SUMMARIES else Kind.SYSTEM, self.text(content)
        return self.text_or_skip(whose, text, place, f"empty {kind}", is_meta=kind in _BY_A_PROGRAM)

    def _prompt(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        said: list[str] = []
        for part, whole in enumerate(self.texts(message.get("content")), 1):
            text, files = _without_files(whole.strip())
            self.notes.skipped.update(["attached file"] * files)
            if skill := _SKILL.match(text):
                arguments = text.partition(_SKILL_END)[2].strip()
                command = f"/skill:{skill['name']} {arguments}".strip()
                if arguments:
                    said.append(command)
                else:
                    yield place.draft(Kind.SYSTEM, command, part)
                continue
            text = _MESSAGE_ID.sub("", _ENVELOPE.sub("", text, count=1).rstrip()).strip()
            if _OF_A_SUB_AGENT.match(text):
                yield place.draft(Kind.SUB_AGENT, text, part)
            elif _FROM_A_PROGRAM.match(text):
                yield place.draft(Kind.SYSTEM, text, part, is_meta=True)
            else:
                said.append(text)
        yield from self.said(said, place)

    def _answered(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        model, text = text_at(message, "model"), text_of(message.get("content")).strip()
        if model in _MIRRORS and text == self.answer:
            self.notes.skip("repeated message")
            return
        self.notes.learn(model=None if model in _MIRRORS else model)
        self.answer = text or self.answer
        stopped = text_at(message, "stopReason")
        is_cut_short = stopped in _CUT_SHORT
        blocks = blocks_in(message.get("content"))
        made = [block for block in blocks if not (is_cut_short and block.get("type") == "toolCall")]
        self.notes.skipped.update(["call that was not made"] * (len(blocks) - len(made)))
        yield from self.of_assistant(made, place, message=place.id, first=1)
        if is_cut_short:
            why = text_at(message, "errorMessage").strip() or f"The answer was cut short ({stopped})"
            ended = place._replace(id=f"{place.id}/end")
            yield from self.text_or_skip(Kind.ERROR if stopped == "error" else Kind.SYSTEM, why, ended, stopped)

    def _returned(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        text = self.text(message.get("content"))
        own, tool = text_at(message, "toolCallId"), text_at(message, "toolName")
        failed = message.get("isError") is True
        if failed and text.rstrip().endswith(_ABORTED):
            yield self.decision(f"Interrupted {self.made(own).summary}", own, place)
            if so_far := text.rstrip().removesuffix(_ABORTED[0]).removesuffix(_ABORTED[1]).rstrip():
                yield self.result(so_far, own, place, 1, tool=tool)
            return
        status = str(object_at(message, "details").get("status"))
        failed = (failed or status in _FAILED) and not text.startswith(_NOT_RUN)
        yield self.result(text, own, place, is_error=failed, tool=tool)

    def _typed(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        command, output = text_at(message, "command"), text_at(message, "output").strip()
        yield place.draft(Kind.USER, f"! {command}")
        if message.get("cancelled") is True:
            yield place.draft(Kind.DECISION, f"Interrupted ! {command}", 1)
        failed = count_at(message, "exitCode") != 0
        if output:
            yield place.draft(Kind.ERROR if failed else Kind.TOOL_RESULT, output, 2, tool="bash", is_error=failed)
        else:
            self.notes.skip("empty output")


READER = FormatReader("pi", _confidence, _Session)
