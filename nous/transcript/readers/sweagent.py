"""Parse SWE-agent runs (`.traj` JSON: messages, or else steps) into transcript entries.

The history holds the messages of the model; the trajectory, used if there is no history, holds the same by steps. User
messages are output of the environment; the user's only words are the task.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import ChatReading, Parts, RequestedCall, calls_in, parts_of
from nous.transcript.parsing.fields import JsonObject, marks, object_at, objects_at, text_at
from nous.transcript.parsing.values import as_arguments, as_list, as_text
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_MARKS = frozenset({"message_type", "agent", "thought", "is_demo"})
_STEP = frozenset({"action", "observation"})
_SHELL = "bash"
_FAILED = marks("sweagent", "failed")
_ENDED_WELL = "submitted"
_NOWHERE = "n/a"


def _confidence(sample: Sample) -> float:
    record = sample.records[0]
    history, steps = objects_at(record, "history"), objects_at(record, "trajectory")
    if any(message.keys() & _MARKS and "role" in message for message in history):
        return 0.97
    if any(step.keys() >= _STEP for step in steps):
        return 0.95
    return 0.5 if any({"role", "content"} <= message.keys() for message in history) else 0.0


@dataclass(slots=True)
class _Run(ChatReading):
    """The messages; `leader` is the main agent, `waiting` the call without a result."""

    leader: str = ""
    has_answered: bool = False
    waiting: str = ""

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        steps = objects_at(value, "trajectory")
        self._introduce(value, steps)
        history = objects_at(value, "history")
        if history and steps:
            self.notes.skipped["step that the history tells"] += len(steps)
        for step in () if history else steps:
            history.append({**step, "role": "assistant", "content": step.get("response")})
            if parts_of(observation := step.get("observation")).text.strip():
                history.append({"role": "tool", "content": observation})
        for message in history:
            yield from self._message(message, self.place(record))
        if not history:
            self.notes.skip("neither history nor trajectory")
        place = self.place(record)
        if status := text_at(object_at(value, "info"), "exit_status"):  # may be for lack of budget or context
            failed = status != _ENDED_WELL
            yield place.draft(Kind.ERROR if failed else Kind.SYSTEM, f"The run ended: {status}", is_error=failed)

    def _introduce(self, value: JsonObject, steps: list[dict[str, Any]]) -> None:
        config = as_arguments(value.get("replay_config"))
        problem = object_at(config, "problem_statement")
        cwd = as_text(as_arguments(steps[0].get("state")).get("working_dir")) if steps else ""
        self.notes.learn(
            session_id=text_at(problem, "id"),
            title=text_at(problem, "text").strip().partition("\n")[0].strip(),
            cwd="" if cwd == _NOWHERE else cwd,
            model=text_at(object_at(config, "agent", "model"), "name"),
        )

    def _message(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        if message.get("is_demo") is True:
            self.notes.skip("demonstration")
            return
        agent = text_at(message, "agent")
        self.leader = self.leader or agent
        for draft in self._drafts(message, place):
            draft.agent = agent if agent != self.leader else None
            yield draft

    def _drafts(self, message: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        found, role = parts_of(message.get("content")), message.get("role")
        match role:
            case "system":
                return self.text_or_skip(Kind.SYSTEM, found.text, place)
            case "user" if not self.has_answered:
                return self.said([found.text], place)
            case "user" | "tool":
                answers = map(as_text, as_list(message.get("tool_call_ids")))
                failed = found.text.lstrip().startswith(_FAILED)
                return (self.result(found.text, next(answers, "") or self.waiting, place, is_error=failed),)
            case "assistant":
                return self._answered(message, found, place)
            case _:
                return self.skip("not a message")

    def _answered(self, message: JsonObject, found: Parts, place: RecordPlace) -> Iterable[Draft]:
        self.has_answered = True
        action, thought = text_at(message, "action").strip(), message.get("thought")
        calls = calls_in(message) or ([RequestedCall(place.id, _SHELL, {"command": action})] if action else [])
        if calls:
            self.waiting = calls[-1].id
        thoughts = [text_at(block, "thinking") for block in objects_at(message, "thinking_blocks")]
        return self.answered(Parts([thought] if isinstance(thought, str) else found.texts, thoughts, calls), place)


READER = FormatReader("sweagent", _confidence, _Run)
