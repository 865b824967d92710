"""Reader for Copilot CLI transcripts: `events.jsonl`.

Each line is `{type, data, id, timestamp, parentId}`. A call appears in the answer that requests it and again when it
begins. Events inside of a sub-agent name the call that started it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.fields import JsonObject, count_at, object_at, objects_at, text_at
from nous.transcript.parsing.sessions import PLAN_TOOLS, SessionReading, ToolCall, call, digest_of, rejection
from nous.transcript.parsing.values import as_arguments, as_count, as_object, as_shown, parse_time
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_FAMILIES = frozenset(
    {
        *("session", "user", "assistant", "tool", "system", "subagent", "hook", "permission", "skill"),
        *("user_input", "elicitation", "exit_plan_mode", "external_tool", "command"),
    }
)
_PRODUCER = "copilot-agent"
_NOT_TYPED = ("system", "skill", "schedule", "agent", "autopilot", "hook", "jit")
_MARKS_OF_PROGRAMS = ("isAutopilotContinuation", "inputOrigin")
_INSIDE = frozenset({"user.message", "assistant.message", "assistant.reasoning", "abort"})
_QUESTION = "ask_user"
_ANSWER = re.compile(r"^User (?:responded|selected|answered): ?")
_SHELLS = frozenset({"bash", "powershell", "shell", "local_shell", ""})
_EXIT = re.compile(r"<[^<>\n]{0,200}exit code -?[1-9]\d*>\s{0,20}$")
_LAST_LINE = 300
_REJECTED = "rejected"
_DENIED_BY_USER = "denied-interactively-by-user"
_APPROVED = "approved"
_PLAN_REJECTED = re.compile(r"not approved|reject|declin", re.IGNORECASE)

_SUB_AGENT = "{agentDisplayName|agentName}"
_TEMPLATES = {
    "session.error": (Kind.ERROR, "{message}"),
    "session.warning": (Kind.SYSTEM, "{message}"),
    "session.info": (Kind.SYSTEM, "{message}"),
    "session.handoff": (Kind.SUMMARY, "{summary}"),
    "session.snapshot_rewind": (Kind.SYSTEM, "Went back to an earlier point"),
    "subagent.started": (Kind.SUB_AGENT, f"Started {_SUB_AGENT}: {{agentDescription}}"),
    "subagent.completed": (Kind.SUB_AGENT, f"{_SUB_AGENT} has completed"),
    "subagent.failed": (Kind.ERROR, f"Sub-agent {_SUB_AGENT}: {{error}}"),
    "skill.invoked": (Kind.SYSTEM, "Skill {name}"),
    "abort": (Kind.SYSTEM, "Aborted: {reason}"),
}
_NOISE = frozenset({"authentication", "mcp", "configuration", "timing"})
"""Types of `session.info` events that do not concern the work."""


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
    """The events of a session; each call and each decision is emitted once.

    `typed` are the ids of calls by the user, `decided` those of calls that the user decided on. `asked` maps each
    permission request to its call. `plan` is the call that presents a plan, `answer` the last text of the model.
    """

    typed: set[str] = field(default_factory=set[str])
    decided: set[str] = field(default_factory=set[str])
    asked: dict[str, str] = field(default_factory=dict[str, str])
    plan: str = ""
    answer: str = ""

    def entries(self, record: Record) -> Iterator[Draft]:
        value = record.value
        kind, data = str(value.get("type", "no type")), object_at(value, "data")
        own = text_at(value, "id") or f"line-{record.line}"
        place = RecordPlace(own, record.line, record.offset, parse_time(value.get("timestamp")))
        inside = text_at(data, "parentToolCallId") or text_at(value, "agentId")
        is_inside = bool(inside) and (kind in _INSIDE or kind.startswith("tool."))
        if kind == "assistant.message" and not is_inside:
            self.notes.learn(model=text_at(data, "model"))
            self.charge(0, count_at(data, "outputTokens"), text_at(data, "messageId") or own)
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
                return self._thought(text_at(data, "content"), place)
            case "tool.execution_start":
                return self._called(data, text_at(data, "toolName"), place)
            case "tool.execution_complete":
                return self._returned(data, place)
            case "tool.user_requested":
                return self._typed(data, place)
            case "permission.completed":
                return self._permitted(data, place)
            case "exit_plan_mode.completed":
                return self._planned(data, place)
            case "system.message":
                return self._instructed(text_at(data, "content").strip(), place)
            case "system.notification":
                return self.text_or_skip(Kind.SYSTEM, text_at(data, "content"), place, kind, is_meta=True)
            case "session.compaction_complete":
                return self._compacted(data, place)
            case "session.task_complete":
                summary = text_at(data, "summary").strip()
                is_new = summary != self.answer and data.get("success") is not False
                return self.text_or_skip(Kind.ASSISTANT, summary if is_new else "", place, kind)
            case _:
                return self._other(kind, data, place)

    def _prompted(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's prompt as typed, or system text if a program wrote it."""
        text, source = text_at(data, "content"), text_at(data, "source")
        for attached in objects_at(data, "attachments"):
            self.notes.skip(f"attached {attached.get('type')}")
        is_meta = source.startswith(_NOT_TYPED) or any(data.get(mark) for mark in _MARKS_OF_PROGRAMS)
        if is_meta and text.strip():
            return (place.draft(Kind.SYSTEM, text.strip(), is_meta=True),)
        return self.said([text], place)

    def _answered(self, data: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        yield from self._thought(text_at(data, "reasoningText"), place)
        if text := text_at(data, "content").strip():
            self.answer = text
            yield place._replace(id=text_at(data, "messageId") or place.id).draft(Kind.ASSISTANT, text)
        for part, request in enumerate(objects_at(data, "toolRequests"), 1):
            yield from self._called(request, text_at(request, "name"), place, part)

    def _thought(self, text: str, place: RecordPlace) -> Iterable[Draft]:
        """Return a thought of the model; skip its copy, since it also comes with the answer."""
        if not text.strip():
            return ()
        if self.is_repeated(digest_of("thought", text), "repeated reasoning"):
            return ()
        return (place._replace(id=f"{place.id}/thought").draft(Kind.THINKING, text.strip()),)

    def _instructed(self, text: str, place: RecordPlace) -> Iterable[Draft]:
        """Return the system prompt; skip its copies, since each resume of a session repeats it."""
        if text and self.is_repeated(digest_of(text), "repeated system.message"):
            return ()
        return self.text_or_skip(Kind.SYSTEM, text, place, "empty system.message")

    def _compacted(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        if data.get("success") is False:
            why = f"Compaction failed: {text_at(data, 'error').strip()}"
            return (place.draft(Kind.ERROR, why.rstrip(": "), is_error=True),)
        summary = text_at(data, "summaryContent").strip()
        return (place.draft(Kind.SUMMARY if summary else Kind.SYSTEM, summary or "Conversation compacted"),)

    def _called(self, request: JsonObject, tool: str, place: RecordPlace, part: int = 0) -> Iterable[Draft]:
        """Return the draft of a call, unless an earlier request or start has emitted it."""
        own = text_at(request, "toolCallId")
        if own and self.is_repeated(own, "repeated call"):
            return ()
        if tool in PLAN_TOOLS:
            self.plan = own
        return (self.call(tool, as_arguments(request.get("arguments")), own, place, part),)

    def _typed(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the draft of a call by the user: a `!` command, or a tool with its arguments."""
        own, given = text_at(data, "toolCallId"), as_arguments(data.get("arguments"))
        if own:
            self.seen.add(own)
            self.typed.add(own)
        command = text_at(given, "command")
        return (place.draft(Kind.USER, f"! {command}" if command else call(text_at(data, "toolName"), given).summary),)

    def _returned(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the result of a call, unless the user's decision on it is already emitted."""
        own = text_at(data, "toolCallId")
        tool = self._made(own, text_at(data, "toolName")).tool
        is_plan, failed, text = tool in PLAN_TOOLS, data.get("success") is False, _text(data)
        if own in self.decided and (failed or is_plan):
            self.calls.pop(own, None)
            return self.skip("repeated decision")
        if tool == _QUESTION and not failed:
            self.calls.pop(own, None)
            answer = _ANSWER.sub("", text, count=1).strip()
            return (place.draft(Kind.DECISION, f"Answered: {answer}", tool=tool, call_id=own or None),)
        is_no = object_at(data, "error").get("code") == _REJECTED
        is_no = is_no or (is_plan and _PLAN_REJECTED.search(text) is not None)
        if is_no or is_plan:
            self._decide(own)
        failed = failed or (tool in _SHELLS and _EXIT.search(text[-_LAST_LINE:]) is not None)
        answered = "" if own in self.typed else own
        return (self.result(text, answered, place, is_error=failed, is_rejected=is_no, tool=tool),)

    def _permitted(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's decision on a permission request; verdicts of rules and hooks are none."""
        result, request = object_at(data, "result"), text_at(data, "requestId")
        verdict = text_at(result, "kind") or text_at(data, "kind")
        was_asked, asked = request in self.asked, self.asked.pop(request, "")
        own = text_at(data, "toolCallId") or asked
        made = self._made(own)
        if verdict == _DENIED_BY_USER and own not in self.decided:
            self._decide(own)
            text = rejection(text_at(result, "feedback"), made)
        elif verdict.startswith(_APPROVED) and was_asked:
            text = f"Approved {made.summary}{verdict.removeprefix(_APPROVED).replace('-', ' ')}"
        else:
            return self.skip(f"permission.completed: {verdict}")
        return (place.draft(Kind.DECISION, text, tool=made.tool or None, call_id=own or None),)

    def _planned(self, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        if self.plan in self.decided:
            return self.skip("repeated decision")
        self._decide(self.plan)
        is_yes = data.get("approved") is True
        refused = rejection(text_at(data, "feedback"), ToolCall("exit_plan_mode", ""))
        return (place.draft(Kind.DECISION, "Approved the plan" if is_yes else refused),)

    def _decide(self, own: str) -> None:
        if own:
            self.decided.add(own)

    def _made(self, own: str, tool: str = "") -> ToolCall:
        return self.calls.get(own) or ToolCall(tool, tool or "a tool call")

    def _other(self, kind: str, data: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        self._learn(kind, data)
        if kind == "permission.requested" and data.get("resolvedByHook") is not True:
            request = object_at(data, "permissionRequest")
            self.asked[text_at(data, "requestId")] = text_at(request, "toolCallId")
        if kind == "session.info" and str(data.get("infoType")) in _NOISE:
            return self.skip(f"session.info: {data['infoType']}")
        return self.from_template(_TEMPLATES, kind, data, place)

    def _learn(self, kind: str, data: JsonObject) -> None:
        match kind:
            case "session.start" | "session.resume" | "session.context_changed":
                context = object_at(data, "context") or data
                self.notes.learn(
                    session_id=text_at(data, "sessionId"),
                    model=text_at(data, "selectedModel"),
                    cwd=text_at(context, "cwd"),
                    git_branch=text_at(context, "branch"),
                    git_commit=text_at(context, "headCommit"),
                )
            case "session.model_change":
                self.notes.learn(model=text_at(data, "newModel"))
            case "session.title_changed":
                self.title = text_at(data, "title").strip() or self.title
            case "session.shutdown":
                self.notes.learn(model=text_at(data, "currentModel"))
                self.charge(_tokens_read(data), 0, kind)
            case _:
                pass


READER = FormatReader("copilot", _confidence, _Session)


def _text(data: JsonObject) -> str:
    result, error = data.get("result"), data.get("error")
    output = as_object(result).get("content") if isinstance(result, dict) else result
    texts = (text_at(found, "text") for found in objects_at(as_object(result), "contents"))
    reason = as_object(error).get("message") if isinstance(error, dict) else error
    return as_shown(output) or "\n\n".join(filter(None, texts)) or as_shown(reason)


def _tokens_read(data: JsonObject) -> int:
    """Return the input tokens at shutdown, with the cached ones."""
    usages = (as_object(as_object(of).get("usage")) for of in object_at(data, "modelMetrics").values())
    by_model = sum(count_at(usage, "inputTokens") for usage in usages)
    details = object_at(data, "tokenDetails")
    kinds = ("input", "cache_read", "cache_write")
    return by_model or sum(as_count(as_object(details.get(kind)).get("tokenCount")) for kind in kinds)
