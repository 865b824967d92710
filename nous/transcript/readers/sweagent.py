"""Reader for SWE-agent runs: a `.traj` file, `{history, trajectory, info, environment}`.

The history holds the messages to the model and its answers. The trajectory holds the same by steps, and is used if
there is no history. An answer has a thought and then an action, in its text or as function calls. Output of the
environment stands in user messages; the user's only words are the task.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.blocks import text_of
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.values import as_arguments, as_count, as_list, as_object, as_text
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_MARKS = frozenset({"message_type", "agent", "thought", "is_demo"})
_STEP = frozenset({"action", "observation"})
_SHELL = "bash"
_FAILED = (
    "Your proposed edit has introduced new syntax error",
    "Your bash command contained syntax errors",
    "Your output could not be parsed",
    "Your output was not formatted correctly",
    "EXECUTION TIMED OUT",
    "The command '",
    "Interactive operation '",
    "Traceback (most recent call last):",
)
_ENDED_WELL = "submitted"
_NOWHERE = "n/a"


class SweAgent:
    """Reads histories, and files that only have a trajectory."""

    format = "sweagent"

    def sniff(self, sample: Sample) -> float:
        if not sample.records:
            return 0.0
        record = sample.records[0]
        history, steps = _objects(record.get("history")), _objects(record.get("trajectory"))
        if any(message.keys() & _MARKS and "role" in message for message in history):
            return 0.97
        if any(step.keys() >= _STEP for step in steps):
            return 0.95
        return 0.5 if any({"role", "content"} <= message.keys() for message in history) else 0.0

    def begin(self, notes: ReadNotes) -> Reading:
        return _Run(notes)


READER = SweAgent()


@dataclass(slots=True)
class _Run(AgentReading):
    """The messages of a run.

    `leader` is the main agent. `has_answered`: it has answered at least once. `waiting` is the call without a result.
    """

    messages: int = 0
    leader: str = ""
    has_answered: bool = False
    waiting: str = ""

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        steps = _objects(value.get("trajectory"))
        self._introduce(value, steps)
        history = _objects(value.get("history"))
        if history:
            for message in history:
                yield from self._message(message, self._place(record))
            if steps:
                self.notes.skipped["step that the history tells"] += len(steps)
        elif steps:
            for step in steps:
                yield from self._step(step, record)
        else:
            self.notes.skip("neither history nor trajectory")
        if value.get("attempts"):
            self.notes.skip("attempts")
        yield from self._ended(as_object(value.get("info")), self._place(record))

    def _place(self, record: Record) -> RecordPlace:
        self.messages += 1
        return RecordPlace(f"message-{self.messages}", record.line, record.offset)

    def _introduce(self, value: Mapping[str, Any], steps: list[dict[str, Any]]) -> None:
        config = as_arguments(value.get("replay_config"))
        problem = as_object(config.get("problem_statement"))
        repository = as_object(as_object(config.get("env")).get("repo"))
        stats = as_object(as_object(value.get("info")).get("model_stats"))
        cwd = as_text(as_arguments(steps[0].get("state")).get("working_dir")) if steps else ""
        self.notes.learn(
            session_id=as_text(problem.get("id")),
            title=as_text(problem.get("text")).strip().partition("\n")[0].strip(),
            cwd="" if cwd == _NOWHERE else cwd,
            git_commit=as_text(repository.get("base_commit")),
            model=as_text(as_object(as_object(config.get("agent")).get("model")).get("name")),
            input_tokens=as_count(stats.get("tokens_sent")),
            output_tokens=as_count(stats.get("tokens_received")),
        )

    def _message(self, message: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        if message.get("is_demo") is True:
            self.notes.skip("demonstration")
            return
        agent = as_text(message.get("agent"))
        self.leader = self.leader or agent
        for draft in self._drafts(message, place):
            draft.agent = agent if agent != self.leader else None
            yield draft

    def _drafts(self, message: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        content = text_of(message.get("content"))
        match message.get("role"):
            case "system":
                yield place.draft(Kind.SYSTEM, content)
            case "user" if not self.has_answered:
                yield from self.said([content], place)
            case "user" | "tool":
                yield self._observed(content, as_list(message.get("tool_call_ids")), place)
            case "assistant":
                yield from self._answered(message, content, place)
            case _:
                self.notes.skip("not a message")

    def _answered(self, message: Mapping[str, Any], content: str, place: RecordPlace) -> Iterator[Draft]:
        self.has_answered = True
        action = as_text(message.get("action"))
        calls = _objects(message.get("tool_calls"))
        thoughts = _objects(message.get("thinking_blocks"))
        if thought := "\n\n".join(as_text(block.get("thinking")) for block in thoughts).strip():
            yield place.draft(Kind.THINKING, thought, len(calls) + 2)
        said = message.get("thought")
        if text := (said if isinstance(said, str) else content).strip():
            yield place.draft(Kind.ASSISTANT, text)
        for part, requested in enumerate(calls, 1):
            function = as_object(requested.get("function"))
            own = as_text(requested.get("id")) or f"{place.id}/{part}"
            yield self._called(as_text(function.get("name")), as_arguments(function.get("arguments")), own, place, part)
        if not calls and action.strip():
            yield self._called(_SHELL, {"command": action.strip()}, place.id, place, 1)

    def _called(self, tool: str, given: dict[str, Any], own: str, place: RecordPlace, part: int) -> Draft:
        self.waiting = own
        return self.call(tool, given, own, place, part)

    def _observed(self, text: str, answers: list[Any], place: RecordPlace) -> Draft:
        own = next((as_text(answer) for answer in answers), "") or self.waiting
        return self.result(text, own, place, is_error=text.lstrip().startswith(_FAILED))

    def _step(self, step: Mapping[str, Any], record: Record) -> Iterator[Draft]:
        yield from self._answered(step, as_text(step.get("response")), self._place(record))
        if observation := text_of(step.get("observation")).strip():
            yield self._observed(observation, [], self._place(record))

    def _ended(self, info: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        """Yield the end of a run: by itself, or for lack of budget, context or a parsable answer."""
        status = as_text(info.get("exit_status"))
        if not status:
            return
        failed = status != _ENDED_WELL
        yield place.draft(Kind.ERROR if failed else Kind.SYSTEM, f"The run ended: {status}", is_error=failed)


def _objects(value: object) -> list[dict[str, Any]]:
    return [found for element in as_list(value) if (found := as_object(element))]
