"""Parser for Copilot CLI events: tool calls, user decisions and session information."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.conversation import PLAN_TOOLS, AgentReading, ToolCall, call, rejection
from nous.transcript.parsing.values import as_arguments, as_count, as_list, as_object, as_shown, as_text
from nous.transcript.reader import Draft, RecordPlace

Data = Mapping[str, Any]

_QUESTION = "ask_user"
_ANSWER = re.compile(r"^User (?:responded|selected|answered): ?")
_SHELLS = frozenset({"bash", "powershell", "shell", "local_shell", ""})
_EXIT = re.compile(r"<[^<>\n]{0,200}exit code -?[1-9]\d*>\s{0,20}$")
_LAST_LINE = 300
_REJECTED = "rejected"
_DENIED_BY_USER = "denied-interactively-by-user"
_APPROVED = "approved"
_PLAN_REJECTED = re.compile(r"not approved|reject|declin", re.IGNORECASE)


@dataclass(slots=True)
class CallReading(AgentReading):
    """Turns events about tool calls into drafts; emits each call and each decision once.

    `emitted` are the ids of emitted calls, `typed` those of calls by the user, `decided` those of calls that the user
    decided on. `asked` maps each permission request to its call. `plan` is the call that presents a plan.
    """

    emitted: set[str] = field(default_factory=set[str])
    typed: set[str] = field(default_factory=set[str])
    decided: set[str] = field(default_factory=set[str])
    asked: dict[str, str] = field(default_factory=dict[str, str])
    plan: str = ""

    def requested(self, requests: object, place: RecordPlace) -> Iterator[Draft]:
        """Yield the calls that an answer requests.

        A call whose start was recorded before the answer is already emitted, and is skipped.
        """
        for part, request in enumerate(map(as_object, as_list(requests)), 1):
            tool, own = as_text(request.get("name")), as_text(request.get("toolCallId"))
            yield from self._called(tool, request.get("arguments"), own, place, part)

    def started(self, data: Data, place: RecordPlace) -> Iterable[Draft]:
        """Return the draft of a call that starts; most calls were requested before."""
        return self._called(
            as_text(data.get("toolName")), data.get("arguments"), as_text(data.get("toolCallId")), place
        )

    def typed_call(self, data: Data, place: RecordPlace) -> Iterable[Draft]:
        """Return the draft of a call by the user: a `!` command, or a tool with its arguments."""
        own, tool, given = _names(data)
        if own:
            self.emitted.add(own)
            self.typed.add(own)
        command = as_text(given.get("command"))
        return (place.draft(Kind.USER, f"! {command}" if command else call(tool, given).summary),)

    def returned(self, data: Data, place: RecordPlace) -> Iterable[Draft]:
        """Return the result of a call, unless the user's decision on it is already emitted."""
        own, tool, _ = _names(data)
        made = self.calls.get(own) or ToolCall(tool, tool or "a tool call")
        error = as_object(data.get("error"))
        failed, text = data.get("success") is False, _text(data)
        if own in self.decided and (failed or made.tool in PLAN_TOOLS):
            self.calls.pop(own, None)
            self.notes.skip("repeated decision")
            return ()
        if made.tool == _QUESTION and not failed:
            self.calls.pop(own, None)
            answer = _ANSWER.sub("", text, count=1).strip()
            return (place.draft(Kind.DECISION, f"Answered: {answer}", tool=made.tool, call_id=own or None),)
        is_no = error.get("code") == _REJECTED or (made.tool in PLAN_TOOLS and bool(_PLAN_REJECTED.search(text)))
        if is_no or made.tool in PLAN_TOOLS:
            self._decide(own)
        failed = failed or (made.tool in _SHELLS and bool(_EXIT.search(text[-_LAST_LINE:])))
        answered = "" if own in self.typed else own
        return (self.result(text, answered, place, is_error=failed, is_rejected=is_no, tool=made.tool),)

    def asked_for(self, data: Data) -> None:
        """Remember the call of a permission request; skip requests that a hook resolved."""
        request = as_object(data.get("permissionRequest"))
        own = as_text(request.get("toolCallId"))
        if data.get("resolvedByHook") is not True and (asked := as_text(data.get("requestId"))):
            self.asked[asked] = own

    def permitted(self, data: Data, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's decision on a permission request.

        Verdicts of rules and hooks are skipped, because they are not user decisions.
        """
        result = as_object(data.get("result"))
        request = as_text(data.get("requestId"))
        verdict = as_text(result.get("kind")) or as_text(data.get("kind"))
        own = as_text(data.get("toolCallId")) or self.asked.get(request, "")
        was_asked = self.asked.pop(request, None) is not None
        made = self.calls.get(own) or ToolCall("", "a tool call")
        if verdict == _DENIED_BY_USER and own not in self.decided:
            self._decide(own)
            text = rejection(as_text(result.get("feedback")), made)
        elif verdict.startswith(_APPROVED) and was_asked:
            scope = verdict.removeprefix(_APPROVED).replace("-", " ")
            text = f"Approved {made.summary}{scope}"
        else:
            self.notes.skip(f"permission.completed: {verdict}")
            return ()
        return (place.draft(Kind.DECISION, text, tool=made.tool or None, call_id=own or None),)

    def planned(self, data: Data, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's decision on a plan."""
        if self.plan in self.decided:
            self.notes.skip("repeated decision")
            return ()
        self._decide(self.plan)
        text = "Approved the plan"
        if data.get("approved") is not True:
            text = rejection(as_text(data.get("feedback")), ToolCall("exit_plan_mode", ""))
        return (place.draft(Kind.DECISION, text),)

    def _decide(self, own: str) -> None:
        if own:
            self.decided.add(own)

    def _called(self, tool: str, given: object, own: str, place: RecordPlace, part: int = 0) -> Iterable[Draft]:
        if own in self.emitted:
            self.notes.skip("repeated call")
            return ()
        if own:
            self.emitted.add(own)
        if tool in PLAN_TOOLS:
            self.plan = own
        return (self.call(tool, as_arguments(given), own, place, part),)


def _names(data: Data) -> tuple[str, str, dict[str, Any]]:
    """Return the id, the tool and the arguments of a call."""
    return as_text(data.get("toolCallId")), as_text(data.get("toolName")), as_arguments(data.get("arguments"))


def _text(data: Data) -> str:
    """Return the output of a call, or its error message."""
    result, error = data.get("result"), data.get("error")
    output = as_object(result).get("content") if isinstance(result, dict) else result
    texts = (as_text(as_object(found).get("text")) for found in as_list(as_object(result).get("contents")))
    reason = as_object(error).get("message") if isinstance(error, dict) else error
    return as_shown(output) or "\n\n".join(filter(None, texts)) or as_shown(reason)


_CACHED = ("cache_read", "cache_write")


@dataclass(slots=True)
class CopilotSessionInfo:
    """Collects the session header.

    `written` maps the id of each answer to its output tokens. `read` are the input tokens reported at shutdown.
    """

    title: str = ""
    written: dict[str, int] = field(default_factory=dict[str, int])
    read: int = 0

    def learn(self, kind: str, data: Mapping[str, Any], notes: ReadNotes) -> None:
        """Update the header from an event of this *kind*."""
        match kind:
            case "session.start" | "session.resume" | "session.context_changed":
                context = as_object(data.get("context")) or data
                notes.learn(
                    session_id=as_text(data.get("sessionId")),
                    model=as_text(data.get("selectedModel")),
                    cwd=as_text(context.get("cwd")),
                    git_branch=as_text(context.get("branch")),
                    git_commit=as_text(context.get("headCommit")),
                )
            case "session.model_change":
                notes.learn(model=as_text(data.get("newModel")))
            case "session.title_changed":
                self.title = as_text(data.get("title")).strip() or self.title
            case "session.shutdown":
                notes.learn(model=as_text(data.get("currentModel")))
                self.read = max(self.read, _tokens_read(data))
            case _:
                pass

    def charge(self, own: str, data: Mapping[str, Any], notes: ReadNotes) -> None:
        """Count the output tokens of the answer *own* once, however many pieces it comes in."""
        notes.learn(model=as_text(data.get("model")))
        self.written[own] = max(self.written.get(own, 0), as_count(data.get("outputTokens")))

    def conclude(self, notes: ReadNotes) -> None:
        """Learn the title and the token totals, which need the whole file."""
        notes.learn(title=self.title, input_tokens=self.read, output_tokens=sum(self.written.values()))


def _tokens_read(data: Mapping[str, Any]) -> int:
    """Return the input tokens that a shutdown event reports.

    Totals per model include cached tokens. Totals per token type list cached tokens separately.
    """
    usages = (as_object(as_object(of).get("usage")) for of in as_object(data.get("modelMetrics")).values())
    by_model = sum(as_count(usage.get("inputTokens")) for usage in usages)
    details = as_object(data.get("tokenDetails"))
    by_sort = (as_count(as_object(details.get(sort)).get("tokenCount")) for sort in ("input", *_CACHED))
    return by_model or sum(by_sort)


_EVENT_TEXTS = {
    "session.error": (Kind.ERROR, "{message}"),
    "session.warning": (Kind.SYSTEM, "{message}"),
    "session.info": (Kind.SYSTEM, "{message}"),
    "session.handoff": (Kind.SUMMARY, "{summary}"),
    "session.snapshot_rewind": (Kind.SYSTEM, "Went back to an earlier point"),
    "system.notification": (Kind.SYSTEM, "{content}"),
    "subagent.started": (Kind.SUB_AGENT, "Started {agent}: {agentDescription}"),
    "subagent.completed": (Kind.SUB_AGENT, "{agent} has completed"),
    "subagent.failed": (Kind.ERROR, "Sub-agent {agent}: {error}"),
    "skill.invoked": (Kind.SYSTEM, "Skill {name}"),
    "abort": (Kind.SYSTEM, "Aborted: {reason}"),
}
"""Entry kind for each event type, and the template of its text."""

_IN_A_PERSONS_PLACE = frozenset({"system.notification"})
_NOISE = frozenset({"authentication", "mcp", "configuration", "timing"})
"""Types of `session.info` events that do not concern the work."""


def event_draft(kind: str, data: Mapping[str, Any], place: RecordPlace) -> Draft | None:
    """Return the draft of an event; None if its type has no template or its text is empty."""
    if kind not in _EVENT_TEXTS or str(data.get("infoType")) in _NOISE:
        return None
    whose, words = _EVENT_TEXTS[kind]
    text = words.format_map(_Fields(data)).strip()
    is_error, is_meta = whose is Kind.ERROR, kind in _IN_A_PERSONS_PLACE
    return place.draft(whose, text, is_error=is_error, is_meta=is_meta) if text else None


class _Fields(dict[str, Any]):
    """Event fields as text, empty if missing; `agent` is the display name of a sub-agent."""

    def __getitem__(self, name: str) -> str:
        if name == "agent":
            return as_text(self.get("agentDisplayName")) or as_text(self.get("agentName")) or "a sub-agent"
        return as_text(self.get(name))
