"""The steps of a turn in Kimi's journals: what the model said and called, and what came of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nous.transcript.base import Draft, Place
from nous.transcript.model import Kind
from nous.transcript.reading.agent import AgentReading
from nous.transcript.reading.fields import as_arguments, as_count, as_list, as_object, as_shown, as_text
from nous.transcript.reading.results import PLAN_TOOLS, UNKNOWN_CALL, Call, rejection


class Verdict(NamedTuple):
    """What the user decided about a call."""

    is_yes: bool
    feedback: str
    is_lasting: bool


@dataclass(slots=True)
class StepReading(AgentReading):
    """Verdicts are written before the calls that they are about, and wait for them. `refused` are calls.

    `answered` are the tokens of all steps, read and written.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    refused: set[str] = field(default_factory=set[str])
    answered: tuple[int, int] = (0, 0)

    def event(self, event: Mapping[str, Any], place: Place) -> Iterable[Draft]:
        """What an event of a step says."""
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

    def approval(self, value: Mapping[str, Any], place: Place) -> Iterable[Draft]:
        """The user was asked about a call. That a plan was approved is told by its result."""
        result, call_id = as_object(value.get("result")), as_text(value.get("toolCallId"))
        is_yes = result.get("decision") == "approved"
        if is_yes and as_text(value.get("toolName")) in PLAN_TOOLS:
            self.notes.skip("approval that the result tells")
            return ()
        verdict = Verdict(is_yes, as_text(result.get("feedback")), result.get("scope") == "session")
        if not is_yes:
            self.refused.add(call_id)
        if call_id in self.calls:
            return (_decision(verdict, self.calls[call_id], call_id, place),)
        self.verdicts[call_id] = verdict
        return ()

    def text(self, content: object) -> str:
        """The text of a string or of parts; what else there is in them is counted."""
        return content if isinstance(content, str) else "\n\n".join(filter(None, self._texts(content)))

    def _texts(self, content: object) -> Iterator[str]:
        for part in map(as_object, as_list(content)):
            if part.get("type") == "text":
                yield as_text(part.get("text"))
            else:
                self.notes.skip(f"{part.get('type')} part")

    def _part(self, part: Mapping[str, Any], step: str, place: Place) -> Iterable[Draft]:
        text = (as_text(part.get("text")) or as_text(part.get("think"))).strip()
        match part.get("type"):
            case "text" if text:
                return (place._replace(id=step or place.id).draft(Kind.ASSISTANT, text),)
            case "think" if text:
                return (place.draft(Kind.THINKING, text),)
            case kind:
                self.notes.skip(f"{kind} part")
                return ()

    def _called(self, event: Mapping[str, Any], place: Place) -> Iterator[Draft]:
        tool, call_id = as_text(event.get("name")), as_text(event.get("toolCallId"))
        given = as_arguments(event.get("args"))
        if "cwd" not in given:
            self.notes.learn(cwd=as_text(as_object(event.get("display")).get("cwd")))
        yield self.call(tool, given, call_id, place)
        if verdict := self.verdicts.pop(call_id, None):
            yield _decision(verdict, self.calls.get(call_id, UNKNOWN_CALL), call_id, place, 1)

    def _came_back(self, event: Mapping[str, Any], place: Place) -> Iterable[Draft]:
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
    """*tokens*, read and written, and those of *usage*."""
    read = sum(as_count(usage.get(name)) for name in ("inputOther", "inputCacheRead", "inputCacheCreation"))
    return tokens[0] + read, tokens[1] + as_count(usage.get("output"))


def _decision(verdict: Verdict, made: Call, call_id: str, place: Place, part: int = 0) -> Draft:
    scope = " for the session" if verdict.is_lasting else ""
    text = f"Approved {made.summary}{scope}" if verdict.is_yes else rejection(verdict.feedback, made)
    return place.draft(Kind.DECISION, text, part, tool=made.tool or None, call_id=call_id or None)
