"""Reader for Kimi Code journals: `wire.jsonl`, typed events of one agent.

The file is in `~/.kimi-code/sessions/<project>/<session>/agents/<agent>/`. A prompt appears when it is typed
(`turn.prompt`, `turn.steer`) and again when the model gets it (`context.append_message`). `origin` names the author of
a user message. Each sub-agent has its own journal.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.conversation import PLAN_TOOLS, UNKNOWN_CALL, AgentReading, ToolCall, rejection
from nous.transcript.parsing.values import as_arguments, as_count, as_list, as_object, as_shown, as_text, parse_time
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample


class StepVerdict(NamedTuple):
    """Decision of the user on a call."""

    is_yes: bool
    feedback: str
    is_lasting: bool


@dataclass(slots=True)
class StepReading(AgentReading):
    """Turns the events of steps into drafts.

    Verdicts are recorded before their calls, and wait for them in `verdicts`. `refused` are ids of refused calls.
    `answered` are the tokens of all steps (read, written).
    """

    verdicts: dict[str, StepVerdict] = field(default_factory=dict[str, StepVerdict])
    refused: set[str] = field(default_factory=set[str])
    answered: tuple[int, int] = (0, 0)

    def event(self, event: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Return the drafts of an event of a step."""
        kind = str(event.get("type", "no type"))
        own = place._replace(id=as_text(event.get("uuid")) or place.id)
        match kind:
            case "content.part":
                return self._part(as_object(event.get("part")), as_text(event.get("stepUuid")), own)
            case "tool.call":
                return self._called(event, own)
            case "tool.result":
                return self._came_back(event, place)
            case "step.end":
                self.answered = more_tokens(self.answered, as_object(event.get("usage")))
            case _:
                pass
        self.notes.skip(kind)
        return ()

    def approval(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Return the user's verdict on a call, if the call is known; else keep it until then.

        The approval of a plan is skipped, because the plan's result reports it.
        """
        result, call_id = as_object(value.get("result")), as_text(value.get("toolCallId"))
        is_yes = result.get("decision") == "approved"
        if is_yes and as_text(value.get("toolName")) in PLAN_TOOLS:
            self.notes.skip("approval that the result tells")
            return ()
        verdict = StepVerdict(is_yes, as_text(result.get("feedback")), result.get("scope") == "session")
        if not is_yes:
            self.refused.add(call_id)
        if call_id in self.calls:
            return (_decision(verdict, self.calls[call_id], call_id, place),)
        self.verdicts[call_id] = verdict
        return ()

    def text(self, content: object) -> str:
        """Return the text of a string or of parts; count other parts as skipped."""
        return content if isinstance(content, str) else "\n\n".join(filter(None, self._texts(content)))

    def _texts(self, content: object) -> Iterator[str]:
        for part in map(as_object, as_list(content)):
            if part.get("type") == "text":
                yield as_text(part.get("text"))
            else:
                self.notes.skip(f"{part.get('type')} part")

    def _part(self, part: Mapping[str, Any], step: str, place: RecordPlace) -> Iterable[Draft]:
        text = (as_text(part.get("text")) or as_text(part.get("think"))).strip()
        match part.get("type"):
            case "text" if text:
                return (place._replace(id=step or place.id).draft(Kind.ASSISTANT, text),)
            case "think" if text:
                return (place.draft(Kind.THINKING, text),)
            case kind:
                self.notes.skip(f"{kind} part")
                return ()

    def _called(self, event: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        tool, call_id = as_text(event.get("name")), as_text(event.get("toolCallId"))
        given = as_arguments(event.get("args"))
        if "cwd" not in given:
            self.notes.learn(cwd=as_text(as_object(event.get("display")).get("cwd")))
        yield self.call(tool, given, call_id, place)
        if verdict := self.verdicts.pop(call_id, None):
            yield _decision(verdict, self.calls.get(call_id, UNKNOWN_CALL), call_id, place, 1)

    def _came_back(self, event: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        call_id, result = as_text(event.get("toolCallId")), as_object(event.get("result"))
        if call_id in self.refused:
            self.refused.remove(call_id)
            self.calls.pop(call_id, None)
            self.notes.skip("result of a refused call")
            return ()
        output = result.get("output")
        text = self.text(output) if isinstance(output, str | list) else as_shown(output)
        own = place._replace(id=f"{call_id}-result") if call_id else place
        return (self.result(text, call_id, own, is_error=result.get("isError") is True),)


def more_tokens(tokens: tuple[int, int], usage: Mapping[str, Any]) -> tuple[int, int]:
    """Add the tokens of *usage* to *tokens* (read, written)."""
    read = sum(as_count(usage.get(name)) for name in ("inputOther", "inputCacheRead", "inputCacheCreation"))
    return tokens[0] + read, tokens[1] + as_count(usage.get("output"))


def _decision(verdict: StepVerdict, made: ToolCall, call_id: str, place: RecordPlace, part: int = 0) -> Draft:
    scope = " for the session" if verdict.is_lasting else ""
    text = f"Approved {made.summary}{scope}" if verdict.is_yes else rejection(verdict.feedback, made)
    return place.draft(Kind.DECISION, text, part, tool=made.tool or None, call_id=call_id or None)


_SURE = frozenset(
    {"context.append_loop_event", "context.append_message", "turn.prompt", "llm.request", "config.update"}
)
_FAMILIES = (
    *("context.", "turn.", "llm.", "config.", "tools.", "permission.", "usage.", "plan_mode.", "plan.", "prompt."),
    *("full_compaction.", "token_counting.", "profile.", "plugin.", "runtime.", "interaction.", "task.", "goal."),
)
_BY_COMMAND = frozenset({"skill_activation", "plugin_command"})
_TOOLS_SNAPSHOT = b'{"type":"llm.tools_snapshot"'
_INTERRUPTED = "Interrupted by the user"


class Kimi:
    """Reads journals of protocol 1.4 and 1.5."""

    format = "kimi"

    def sniff(self, sample: Sample) -> float:
        if not any(_is_sure(record) for record in sample.records):
            return 0.0
        known = sum(_is_sure(record) or str(record.get("type")).startswith(_FAMILIES) for record in sample.records)
        return 0.5 + 0.45 * known / len(sample.records)

    def begin(self, notes: ReadNotes) -> Reading:
        return _Journal(notes)


READER = Kimi()


def _is_sure(record: Mapping[str, Any]) -> bool:
    kind = str(record.get("type"))
    return (kind in _SURE and "payload" not in record) or (kind == "metadata" and "protocol_version" in record)


@dataclass(slots=True)
class _Journal(StepReading):
    """The events of a journal.

    `typed` counts the prompts that the model has not got yet. `instructions` are the current system prompt. Tokens are
    reported twice: by each step, and by usage records (`booked`), which include those of compactions.
    """

    typed: dict[str, int] = field(default_factory=dict[str, int])
    instructions: str = ""
    model: str = ""
    booked: tuple[int, int] = (0, 0)

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
                return self._typed(value, place)
            case "context.append_message":
                return self._appended(as_object(value.get("message")), place)
            case "context.append_loop_event":
                return self.event(as_object(value.get("event")), place)
            case "permission.record_approval_result":
                return self.approval(value, place)
            case "config.update" | "profile.bind":
                return self._configured(value, place)
            case _:
                return self._other(kind, value, place)

    def conclude(self) -> Iterable[Draft]:
        read, written = max(self.answered, self.booked)
        self.notes.learn(model=self.model, input_tokens=read, output_tokens=written)
        self.notes.skipped.update({"decision on a call that was not made": len(self.verdicts)} if self.verdicts else {})
        return ()

    def _typed(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        text = self.text(value.get("input"))
        self.typed[text] = self.typed.get(text, 0) + 1
        return self._in_users_place(text, as_object(value.get("origin")), place)

    def _appended(self, message: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        text = self.text(message.get("content"))
        if times := self.typed.pop(text, 0):
            if times > 1:
                self.typed[text] = times - 1
            self.notes.skip("repeated prompt")
            return ()
        match message.get("role"):
            case "user":
                return self._in_users_place(text, as_object(message.get("origin")), place)
            case "assistant" if text.strip():
                return (place.draft(Kind.ASSISTANT, text.strip()),)
            case role:
                self.notes.skip(f"message of {role}")
                return ()

    def _in_users_place(self, text: str, origin: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Return drafts of a user message, from the user or from the program named by *origin*."""
        match as_text(origin.get("kind")):
            case "user" | "":
                return self.said([text], place)
            case kind if kind in _BY_COMMAND and origin.get("trigger", "user-slash") == "user-slash":
                return (_command(origin, place),)
            case "system_trigger" if origin.get("name") == "subagent":
                return (place.draft(Kind.SUB_AGENT, text),)
            case "compaction_summary":
                self.notes.skip("repeated summary")
                return ()
            case "shell_command" if origin.get("phase") == "input":
                return self.said([text if text.startswith("<bash-input>") else f"! {text}"], place)
            case _:
                return (place.draft(Kind.SYSTEM, text, is_meta=True),)

    def _configured(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        """Learn the directory and model; return the system prompt unless it is a repetition."""
        disclosed = as_object(value.get("environmentDisclosure"))
        self.notes.learn(cwd=as_text(value.get("cwd")) or as_text(disclosed.get("cwd")))
        self.model = self.model or as_text(value.get("modelAlias"))
        instructions = as_text(value.get("systemPrompt"))
        if not instructions or instructions == self.instructions:
            self.notes.skip("repeated system prompt" if instructions else str(value.get("type")))
            return ()
        self.instructions = instructions
        return (place.draft(Kind.SYSTEM, instructions),)

    def _other(self, kind: str, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        match kind:
            case "turn.cancel":
                return (place.draft(Kind.SYSTEM, _INTERRUPTED),)
            case "turn.ended" if value.get("reason") == "failed":
                return (place.draft(Kind.ERROR, as_shown(value.get("error")) or "The turn failed", is_error=True),)
            case "context.apply_compaction":
                summary = as_text(value.get("summary")) or as_text(value.get("contextSummary"))
                return (place.draft(Kind.SUMMARY, summary or "Conversation compacted"),)
            case "context.clear" | "context.undo":
                done = "cleared" if kind.endswith("clear") else "wound back"
                return (place.draft(Kind.SYSTEM, f"Conversation {done}"),)
            case "usage.record":
                self.booked = more_tokens(self.booked, as_object(value.get("usage")))
            case "llm.request":
                self.notes.learn(model=as_text(value.get("model")))
            case _:
                pass
        self.notes.skip(kind)
        return ()


def _command(origin: Mapping[str, Any], place: RecordPlace) -> Draft:
    """Return the draft of a slash command.

    With arguments it is the user's words, without them an act of the user.
    """
    name = as_text(origin.get("skillName")) or as_text(origin.get("commandName"))
    arguments = as_text(origin.get("skillArgs")) or as_text(origin.get("commandArgs"))
    return place.draft(Kind.USER if arguments else Kind.SYSTEM, f"/{name} {arguments}".strip())
