"""Parse Kimi Code journals (`wire.jsonl`, typed events of one agent) into entries.

The file is in `~/.kimi-code/sessions/<project>/<session>/agents/<agent>/`. A prompt appears when it is typed and again
when the model gets it. `origin` names the author of a user message.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import BlockReading
from nous.transcript.parsing.fields import JsonObject, marks, object_at, templates, text_at
from nous.transcript.parsing.sessions import PLAN_TOOLS, SessionReading, digest_of
from nous.transcript.parsing.values import as_arguments, as_shown, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_SURE = frozenset(marks("kimi", "sure"))
_BY_COMMAND = frozenset({"skill_activation", "plugin_command"})
_TOOLS_SNAPSHOT = b'{"type":"llm.tools_snapshot"'
_TEMPLATES = templates("kimi")


def _confidence(sample: Sample) -> float:
    return 0.95 if any(map(_is_sure, sample.records)) else 0.0


def _is_sure(record: JsonObject) -> bool:
    kind = str(record.get("type"))
    return (kind in _SURE and "payload" not in record) or (kind == "metadata" and "protocol_version" in record)


@dataclass(slots=True)
class _Journal(BlockReading):
    """The events of a journal.

    Verdicts (a yes and its scope, or a no and its reason) are recorded before their calls, and wait in `verdicts`.
    `refused` are ids of refused calls. `typed` counts the prompts that the model has not got yet.
    """

    verdicts: dict[str, tuple[bool, str]] = field(default_factory=dict[str, tuple[bool, str]])
    refused: set[str] = field(default_factory=set[str])
    typed: dict[str, int] = field(default_factory=dict[str, int])
    model: str = ""

    @staticmethod
    def pass_over(line: bytes, /) -> str | None:
        """Return the reason to skip a line unparsed: descriptions of tools are the longest records."""
        return "llm.tools_snapshot" if line.startswith(_TOOLS_SNAPSHOT) else None

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        kind = str(value.get("type", "no type"))
        place = RecordPlace(f"line-{record.line}", record.line, record.offset, parse_time(value.get("time")))
        match kind:
            case "turn.prompt" | "turn.steer":
                text = self.text(value.get("input"))
                self.typed[text] = self.typed.get(text, 0) + 1
                return self._in_users_place(text, object_at(value, "origin"), place)
            case "context.append_message":
                return self._appended(object_at(value, "message"), place)
            case "context.append_loop_event":
                return self._event(object_at(value, "event"), place)
            case "permission.record_approval_result":
                return self._approval(value, place)
            case "config.update" | "profile.bind":
                return self._configured(value, place)
            case _:
                return self._other(kind, value, place)

    def conclude(self) -> Iterable[Draft]:
        self.notes.learn(model=self.model)
        return SessionReading.conclude(self)

    def _appended(self, message: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        text = self.text(message.get("content"))
        if times := self.typed.pop(text, 0):
            if times > 1:
                self.typed[text] = times - 1
            return self.skip("repeated prompt")
        if message.get("role") != "user":
            return self.skip(f"message of {message.get('role')}")
        return self._in_users_place(text, object_at(message, "origin"), place)

    def _in_users_place(self, text: str, origin: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match text_at(origin, "kind"):
            case "user" | "":
                return self.said([text], place)
            case kind if kind in _BY_COMMAND and origin.get("trigger", "user-slash") == "user-slash":
                # With arguments it is the user's words, without them an act of the user.
                name = text_at(origin, "skillName", "commandName")
                arguments = text_at(origin, "skillArgs", "commandArgs")
                return (place.draft(Kind.USER if arguments else Kind.SYSTEM, f"/{name} {arguments}".strip()),)
            case "system_trigger" if origin.get("name") == "subagent":
                return (place.draft(Kind.SUB_AGENT, text),)
            case "compaction_summary":
                return self.skip("repeated summary")
            case _:
                return (place.draft(Kind.SYSTEM, text, is_meta=True),)

    def _configured(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        disclosed = object_at(value, "environmentDisclosure")
        self.notes.learn(cwd=text_at(value, "cwd") or text_at(disclosed, "cwd"))
        self.model = self.model or text_at(value, "modelAlias")
        instructions = text_at(value, "systemPrompt")
        if instructions and self.is_repeated(digest_of(instructions), "repeated system prompt"):
            return ()
        return self.text_or_skip(Kind.SYSTEM, instructions, place, str(value.get("type")))

    def _event(self, event: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        kind = str(event.get("type", "no type"))
        own = place._replace(id=text_at(event, "uuid") or place.id)
        match kind:
            case "content.part":
                part = object_at(event, "part")
                reason = f"{part.get('type')} part"
                if part.get("type") == "think":
                    return self.text_or_skip(Kind.THINKING, text_at(part, "think"), own, reason)
                answer = own._replace(id=text_at(event, "stepUuid") or own.id)
                return self.text_or_skip(Kind.ASSISTANT, text_at(part, "text"), answer, reason)
            case "tool.call":
                return self._called(event, own)
            case "tool.result":
                return self._came_back(event, place)
            case _:
                pass
        return self.skip(kind)

    def _called(self, event: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        call_id, given = text_at(event, "toolCallId"), as_arguments(event.get("args"))
        if "cwd" not in given:
            self.notes.learn(cwd=text_at(object_at(event, "display"), "cwd"))
        yield self.call(text_at(event, "name"), given, call_id, place)
        if call_id in self.verdicts:
            is_yes, words = self.verdicts.pop(call_id)
            yield self.verdict(words, call_id, place, 1, is_yes=is_yes)

    def _came_back(self, event: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        call_id, result = text_at(event, "toolCallId"), object_at(event, "result")
        if call_id in self.refused:
            return self.skip("result of a refused call")
        output = result.get("output")
        text = self.text(output) if isinstance(output, str | list) else as_shown(output)
        own = place._replace(id=f"{call_id}-result") if call_id else place
        return (self.result(text, call_id, own, is_error=result.get("isError") is True),)

    def _approval(self, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's verdict on a call, if the call is known; else keep it until then."""
        result, call_id = object_at(value, "result"), text_at(value, "toolCallId")
        is_yes = result.get("decision") == "approved"
        if is_yes and text_at(value, "toolName") in PLAN_TOOLS:
            return self.skip("approval that the result tells")
        scope = " for the session" if result.get("scope") == "session" else ""
        words = scope if is_yes else text_at(result, "feedback")
        if not is_yes:
            self.refused.add(call_id)
        if call_id in self.calls:
            return (self.verdict(words, call_id, place, is_yes=is_yes),)
        self.verdicts[call_id] = is_yes, words
        return ()

    def _other(self, kind: str, value: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match kind:
            case "turn.ended" if value.get("reason") == "failed":
                return (place.draft(Kind.ERROR, as_shown(value.get("error")) or "The turn failed", is_error=True),)
            case "llm.request":
                self.notes.learn(model=text_at(value, "model"))
            case _:
                pass
        return self.from_template(_TEMPLATES, kind, value, place)


READER = FormatReader("kimi", _confidence, _Journal)
