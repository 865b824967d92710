"""Parse Copilot CLI transcripts (`events.jsonl`) into transcript entries.

A call appears in the answer that requests it and again when it begins. Events inside of a sub-agent name its call.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, marks, object_at, objects_at, templates, text_at
from nous.transcript.parsing.sessions import PLAN_TOOLS, SessionReading, ToolCall, call, digest_of, rejection
from nous.transcript.parsing.values import as_arguments, as_object, as_shown, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_FAMILIES = frozenset(marks("copilot", "families"))
_PRODUCER = "copilot-agent"
_NOT_TYPED = ("system", "skill", "schedule", "agent", "autopilot", "hook", "jit")
_MARKS_OF_PROGRAMS = ("isAutopilotContinuation", "inputOrigin")
_INSIDE = frozenset({"user.message", "assistant.message", "assistant.reasoning", "abort"})
_ANSWER = re.compile(r"^User (?:responded|selected|answered): ?")
_SHELLS = frozenset({"bash", "powershell", "shell", "local_shell", ""})
_EXIT = re.compile(r"<[^<>\n]{0,200}exit code -?[1-9]\d*>\s{0,20}$")
_LAST_LINE = 300
_REJECTED = "rejected"
_APPROVED = "approved"
_DENIED_BY_USER = "denied-interactively-by-user"
_PLAN_REJECTED = re.compile(r"not approved|reject|declin", re.IGNORECASE)

_TEMPLATES = templates("copilot")


def _confidence(sample: Sample) -> float:
    is_sure = any(object_at(record, "data").get("producer") == _PRODUCER for record in sample.records)
    return (0.95 if is_sure else 0.8) * sample.share(_is_marked)


def _is_marked(record: JsonObject) -> bool:
    kind = text_at(record, "type")
    family, dot, _ = kind.partition(".")
    is_event = (dot and family in _FAMILIES) or kind == "abort"
    return bool(is_event) and isinstance(record.get("data"), dict) and ("id" in record or "timestamp" in record)


@dataclass(slots=True)
class _Session(SessionReading):
    """The events; `asked` maps permission requests to calls, `plan` is the last plan's call."""

    asked: dict[str, str] = field(default_factory=dict[str, str])
    plan: str = ""

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        kind, data = str(value.get("type", "no type")), object_at(value, "data")
        own = text_at(value, "id") or f"line-{record.line}"
        place = RecordPlace(own, record.line, record.offset, parse_time(value.get("timestamp")))
        inside = text_at(data, "parentToolCallId") or text_at(value, "agentId")
        is_inside = bool(inside) and (kind in _INSIDE or kind.startswith("tool."))
        if kind == "assistant.message" and not is_inside:
            self.notes.learn(model=text_at(data, "model"))
        for draft in self._of(kind, data, place):
            if is_inside and draft.kind is not Kind.DECISION:
                draft.agent = inside
            yield draft

    def _of(self, kind: str, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match kind:
            case "user.message":
                return self._prompted(data, place)
            case "assistant.message":
                return self._answered(data, place)
            case "assistant.reasoning":
                thought = place._replace(id=f"{place.id}/thought")
                return self._once(Kind.THINKING, text_at(data, "content"), thought, "reasoning")
            case "tool.execution_start":
                return self._called(data, text_at(data, "toolName"), place)
            case "tool.execution_complete":
                return self._returned(data, place)
            case "tool.user_requested":
                made = call(text_at(data, "toolName"), given := as_arguments(data.get("arguments")))
                return (place.draft(Kind.USER, f"! {text_at(given, 'command') or made.summary}"),)
            case "permission.completed":
                return self._permitted(data, place)
            case "exit_plan_mode.completed":
                return self._planned(data, place)
            case "system.message":  # each resume of a session repeats it
                return self._once(Kind.SYSTEM, text_at(data, "content"), place, kind)
            case "system.notification":
                return self.text_or_skip(Kind.SYSTEM, text_at(data, "content"), place, kind, is_meta=True)
            case "session.task_complete":
                return self._once(Kind.ASSISTANT, text_at(data, "summary"), place, kind)
            case _:
                return self._other(kind, data, place)

    def _prompted(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        text, source = text_at(data, "content"), text_at(data, "source")
        for attached in objects_at(data, "attachments"):
            self.notes.skip(f"attached {attached.get('type')}")
        is_meta = source.startswith(_NOT_TYPED) or any(data.get(mark) for mark in _MARKS_OF_PROGRAMS)
        if is_meta and text.strip():
            return (place.draft(Kind.SYSTEM, text.strip(), is_meta=True),)
        return self.said([text], place)

    def _answered(self, data: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        if thought := text_at(data, "reasoningText"):
            yield from self._once(Kind.THINKING, thought, place._replace(id=f"{place.id}/thought"), "reasoning")
        if text := text_at(data, "content").strip():
            self.seen.add(digest_of(Kind.ASSISTANT, text))
            yield place._replace(id=text_at(data, "messageId") or place.id).draft(Kind.ASSISTANT, text)
        for part, request in enumerate(objects_at(data, "toolRequests"), 1):
            yield from self._called(request, text_at(request, "name"), place, part)

    def _once(self, kind: Kind, text: str, place: RecordPlace, reason: str) -> Iterable[Draft]:
        """Return the draft of a text that may come in several events."""
        if text.strip() and self.is_repeated(digest_of(kind, text.strip()), f"repeated {reason}"):
            return ()
        return self.text_or_skip(kind, text, place, reason)

    def _called(self, request: JsonObject, tool: str, place: RecordPlace, part: int = 0) -> Iterable[Draft]:
        own = text_at(request, "toolCallId")
        if own and self.is_repeated(own, "repeated call"):
            return ()
        self.plan = own if tool in PLAN_TOOLS else self.plan
        return (self.call(tool, as_arguments(request.get("arguments")), own, place, part),)

    def _returned(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the result of a call, unless the user's decision on it is already emitted."""
        own = text_at(data, "toolCallId")
        tool = self.made(own).tool or text_at(data, "toolName")
        is_no = object_at(data, "error").get("code") == _REJECTED
        failed, text = data.get("success") is False, _text(data)
        if (is_no or tool in PLAN_TOOLS) and self._is_decided(own or place.id):
            return ()
        is_no = is_no or (tool in PLAN_TOOLS and _PLAN_REJECTED.search(text.partition("\n")[0]) is not None)
        failed = failed or (tool in _SHELLS and _EXIT.search(text[-_LAST_LINE:]) is not None)
        return (self.result(_ANSWER.sub("", text), own, place, is_error=failed, is_rejected=is_no, tool=tool),)

    def _permitted(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's decision on a permission request; verdicts of rules and hooks are none."""
        result, request = object_at(data, "result"), text_at(data, "requestId")
        kind, asked_for = text_at(result, "kind"), self.asked.pop(request, None)
        own = text_at(data, "toolCallId") or asked_for or ""
        is_yes = asked_for is not None and kind.startswith(_APPROVED)
        if not is_yes and kind != _DENIED_BY_USER:
            return self.skip(f"permission.completed: {kind}")
        if not is_yes and self._is_decided(own or place.id):
            return ()
        scope = kind.removeprefix(_APPROVED).replace("-", " ")
        return (self.verdict(scope if is_yes else text_at(result, "feedback"), own, place, is_yes=is_yes),)

    def _planned(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        if self._is_decided(self.plan or place.id):
            return ()
        is_yes = data.get("approved") is True
        text = "Approved the plan" if is_yes else rejection(text_at(data, "feedback"), ToolCall("exit_plan_mode", ""))
        return (self.decision(text, self.plan, place),)

    def _is_decided(self, own: str) -> bool:
        return self.is_repeated(f"decision on {own}", "repeated decision")

    def _other(self, kind: str, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        match kind:
            case "permission.requested" if data.get("resolvedByHook") is not True:
                self.asked[text_at(data, "requestId")] = text_at(object_at(data, "permissionRequest"), "toolCallId")
            case "session.start" | "session.resume" | "session.context_changed":
                context = object_at(data, "context") or data
                self.notes.learn(
                    session_id=text_at(data, "sessionId"),
                    model=text_at(data, "selectedModel"),
                    cwd=text_at(context, "cwd"),
                    git_branch=text_at(context, "branch"),
                )
            case "session.model_change" | "session.shutdown":
                self.notes.learn(model=text_at(data, "newModel", "currentModel"))
            case "session.title_changed":
                self.title = text_at(data, "title").strip() or self.title
            case _:
                pass
        return self.from_template(_TEMPLATES, kind, data, place)


READER = FormatReader("copilot", _confidence, _Session)


def _text(data: JsonObject) -> str:
    result, error = data.get("result"), data.get("error")
    output = as_object(result).get("content") if isinstance(result, dict) else result
    texts = (text_at(found, "text") for found in objects_at(as_object(result), "contents"))
    reason = as_object(error).get("message") if isinstance(error, dict) else error
    return as_shown(output) or "\n\n".join(filter(None, texts)) or as_shown(reason)
