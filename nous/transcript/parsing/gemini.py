"""Parser for Gemini API messages: text, thoughts, function calls and responses."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from nous.transcript.model import Kind
from nous.transcript.parsing.conversation import PLAN_TOOLS, UNKNOWN_CALL, AgentReading
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_shown, as_text
from nous.transcript.reader import Draft, RecordPlace

_CONTEXT = ("<session_context>", "This is the Gemini CLI.", "This is the Qwen Code.")
_BY_A_PROGRAM = (*_CONTEXT, "System: Please continue.", "[System Notification")
_SNAPSHOT = "<state_snapshot>"
_HOOKS = ("hook_context", "qwen:user-prompt-submit-context")
_FILES = "--- Content from referenced files ---"
_SHELL = "I ran the following shell command:"
_STEERING = "User steering update:"
_BARE_COMMAND = re.compile(r"[/?][A-Za-z][\w:-]*")
_FOLDER = re.compile(
    r"(?:Workspace Directories:\*\*\s*- |working in the directory: |working in the following directories:\s*- )"
    r"(?P<folder>[^\n]+)"
)


class Part(NamedTuple):
    """A piece of a user message and its entry kind: `USER` only for text that a person typed.

    `is_meta`: a program wrote it. Without a kind no entry is made; `text` then gives the reason.
    """

    kind: Kind | None
    text: str
    is_meta: bool = False


def parts_of_prompt(texts: Sequence[str]) -> Iterator[Part]:
    """Yield the pieces of a prompt.

    After the marker for referenced files, nothing is the user's text.
    """
    for text in texts:
        words, files, _ = text.partition(_FILES)
        yield _part(words)
        if files:
            yield Part(None, "referenced files")
            return


def working_folder(text: str) -> str:
    """Return the first directory that a session context names; empty if *text* is no context."""
    found = _FOLDER.search(text) if text.lstrip().startswith(_CONTEXT) else None
    return found["folder"].strip() if found else ""


def _part(text: str) -> Part:
    text = _without_hooks(text).strip()
    if text.startswith(_SNAPSHOT):
        return Part(Kind.SUMMARY, text)
    if text.startswith(_BY_A_PROGRAM):
        return Part(Kind.SYSTEM, text, is_meta=True)
    if text.startswith(_SHELL) and (command := _between(text, "```sh\n", "\n```")):
        return Part(Kind.USER, f"! {command}")
    if text.startswith(_STEERING) and (steering := _between(text, "<user_input>", "</user_input>")):
        return Part(Kind.USER, steering)
    return Part(Kind.SYSTEM if _BARE_COMMAND.fullmatch(text) else Kind.USER, text)


def _between(text: str, begin: str, end: str) -> str:
    return text.partition(begin)[2].partition(end)[0].strip()


def _without_hooks(text: str) -> str:
    for tag in _HOOKS:
        begin, end = f"<{tag}>", f"</{tag}>"
        if begin in text and end in text:
            first, *others = text.split(begin)
            text = first + "".join(other.partition(end)[2] for other in others)
    return text


JsonObject = Mapping[str, Any]

CANCELLED = "cancelled"
_SHELLS = frozenset({"run_shell_command", "shell"})
_QUESTIONS = frozenset({"ask_user", "ask_user_question"})
_CANCELLATION = "[Operation Cancelled] Reason:"
_NO_REASON = re.compile(
    r"(?:user|tool call) (?:did not allow|denied|cancelled|canceled|abort(?:ed)?)[^\n]*", re.IGNORECASE
)
_INTERRUPTED = "Command was cancelled by user"
_EXIT_CODE = re.compile(r"(?:^|\n|\\n)Exit Code: -?[1-9]")
_TAIL = 400
_PLAN_APPROVED = ("Plan approved", "User has approved", "User approved")
_PLAN_REJECTED = ("Plan rejected", "User cancelled the plan", "User rejected", "Plan execution was not approved")
_FEEDBACK, _AFTER_FEEDBACK = "User feedback:", "\n\nThe plan is stored at:"
_ANSWERS = "User has provided the following answers:"
_UNANSWERED = ("User dismissed", "User declined", "User cancelled")


class ApprovalVerdict(NamedTuple):
    """Outcome of a tool call: its text, and whether it failed or the user rejected it."""

    text: str
    is_error: bool = False
    is_rejected: bool = False


@dataclass(slots=True)
class GeminiPartReading(AgentReading):
    """Turns messages into drafts.

    Emits each call and each result once, because files repeat their messages.
    """

    asked: set[str] = field(default_factory=set[str])
    answered: set[str] = field(default_factory=set[str])

    def of_prompt(self, texts: Sequence[str], place: RecordPlace, *, is_delegated: bool = False) -> Iterator[Draft]:
        """Yield drafts of a user message.

        With *is_delegated*, in the session of a sub-agent, it is the sub-agent's task, which no person typed.
        """
        typed: list[str] = []
        for number, part in enumerate(parts_of_prompt(texts), 1):
            if part.kind is None:
                self.notes.skip(part.text)
            elif part.kind is Kind.USER and not is_delegated:
                typed.append(part.text)
            elif part.text:
                self.notes.learn(cwd=working_folder(part.text))
                kind = Kind.SUB_AGENT if part.kind is Kind.USER else part.kind
                yield place.draft(kind, part.text, number, is_meta=part.is_meta)
        if typed:
            yield from self.said(["\n\n".join(filter(None, typed))], place)

    def of_model(self, content: object, place: RecordPlace, *, has_calls: bool = False) -> Iterator[Draft]:
        """Yield thoughts, text and calls of a model message, in the order of its parts.

        With *has_calls* the calls are also listed elsewhere, so calls among the parts are skipped.
        """
        for number, part in enumerate(parts_in(content)):
            text = as_text(part.get("text")).strip()
            if "functionCall" in part:
                if has_calls:
                    self.notes.skip("repeated call")
                else:
                    yield from self.of_call(as_object(part["functionCall"]), place, number)
            elif part.get("thought"):
                if text := text or as_text(part["thought"]).strip():
                    yield _under(place, "thought").draft(Kind.THINKING, text, number)
            elif "text" in part:
                if text:
                    yield place.draft(Kind.ASSISTANT, text)
            else:
                self.notes.skip(_name_of(part))

    def of_call(self, value: JsonObject, place: RecordPlace, number: int) -> Iterator[Draft]:
        """Yield the draft of a call, unless it is already emitted."""
        tool, given = as_text(value.get("name")), as_arguments(value.get("args"))
        own = as_text(value.get("id")) or f"{place.id}/call/{number}"
        if own in self.asked:
            self.notes.skip("repeated call")
            return
        self.asked.add(own)
        yield self.call(tool, given, own, _under(place, "call"), number)

    def of_response(self, value: JsonObject, place: RecordPlace, number: int, *, status: str = "") -> Iterator[Draft]:
        """Yield the draft for the result of a call, unless it is already emitted.

        A response without an id answers the first open call of its tool.
        """
        tool = as_text(value.get("name"))
        own = as_text(value.get("id")) or self._first_open(tool)
        if own and own in self.answered:
            self.notes.skip("repeated result")
            return
        if own:
            self.answered.add(own)
        made = self.calls.get(own, UNKNOWN_CALL)
        yield self._judged(
            text_of_response(value.get("response")), value, place, number, status, made.tool or tool, own
        )

    def _judged(
        self, text: str, value: JsonObject, place: RecordPlace, number: int, status: str, tool: str, own: str
    ) -> Draft:
        place = _under(place, "result")
        if tool in _QUESTIONS and not (status == "error" or _is_cancelled(text, status)):
            self.calls.pop(own, None)
            return place.draft(Kind.DECISION, answered(text), number, tool=tool, call_id=own or None)
        has_failed = status == "error" or "error" in as_object(value.get("response"))
        said = verdict(text, tool, is_cancelled=_is_cancelled(text, status), has_failed=has_failed)
        return self.result(
            said.text, own, place, number, is_error=said.is_error, is_rejected=said.is_rejected, tool=tool
        )

    def _first_open(self, tool: str) -> str:
        return next((own for own, made in self.calls.items() if made.tool == tool), "")


def parts_in(content: object) -> list[dict[str, Any]]:
    """Return *content* as parts; accepts a string, one part without a list, or a list."""
    found = [content] if isinstance(content, str | dict) else as_list(content)
    return [{"text": part} if isinstance(part, str) else as_object(part) for part in found]


def texts_in(content: object) -> list[str]:
    """Return the texts among the parts of *content*, without thoughts."""
    found = (as_text(part.get("text")) for part in parts_in(content) if not part.get("thought"))
    return [text for text in found if text]


def responses_in(content: object) -> list[dict[str, Any]]:
    """Return the function responses among the parts of *content*."""
    return [as_object(part["functionResponse"]) for part in parts_in(content) if "functionResponse" in part]


def others_in(content: object) -> list[str]:
    """Return the names of the parts of *content* that are neither text nor a response."""
    known = {"text", "functionResponse"}
    return [_name_of(part) for part in parts_in(content) if not known & part.keys()]


def text_of_response(response: object) -> str:
    """Return the output or error in *response*; if it has neither, all of it as text."""
    held = as_object(response)
    for key in ("output", "error"):
        if key in held:
            return as_shown(held[key])
    return as_shown(response) if response else ""


def verdict(text: str, tool: str, *, is_cancelled: bool, has_failed: bool) -> ApprovalVerdict:
    """Classify the result of a call of *tool*.

    A cancelled call is a rejection by the user. So is a plan that was sent back.
    """
    if is_cancelled:
        return ApprovalVerdict(_reason(text), is_rejected=True)
    if tool in PLAN_TOOLS and text.startswith(_PLAN_REJECTED):
        feedback = text.partition(_FEEDBACK)[2].partition(_AFTER_FEEDBACK)[0]
        return ApprovalVerdict(feedback.strip(), is_rejected=True)
    if tool in PLAN_TOOLS and not text.startswith(_PLAN_APPROVED):
        return ApprovalVerdict(text, is_error=True)
    if tool in _SHELLS and _EXIT_CODE.search(text[-_TAIL:]):
        has_failed = True
    return ApprovalVerdict(text, is_error=has_failed)


def answered(text: str) -> str:
    """Return the decision text for the user's answer to a question.

    Answers in JSON are joined; prose stays as it is.
    """
    if text.startswith(_UNANSWERED):
        return "Declined to answer"
    answers = as_object(as_arguments(text).get("answers"))
    given = "; ".join(as_shown(answer) for answer in answers.values())
    return f"Answered: {given or text.removeprefix(_ANSWERS).strip()}"


def _is_cancelled(text: str, status: str) -> bool:
    return status == CANCELLED or (not status and text.startswith(_CANCELLATION))


def _reason(text: str) -> str:
    """Return the user's reason for a cancellation; empty if *text* gives none."""
    given = text.removeprefix(_CANCELLATION).strip()
    if given.startswith(_INTERRUPTED):
        return "cancelled while it ran"
    return "" if _NO_REASON.fullmatch(given) else given


def _under(place: RecordPlace, name: str) -> RecordPlace:
    return place._replace(id=f"{place.id}/{name}")


def _name_of(part: JsonObject) -> str:
    return f"{next(iter(part), 'empty')} part"


def kind_of(message: Mapping[str, Any]) -> str:
    """Return the author of *message*: its type in a session, its role in the bare API."""
    return as_text(message.get("type")) or as_text(message.get("role")) or "no type"


def response_of(call: Mapping[str, Any], own: str) -> object:
    """Return the response to the call *own*, or else the result that was displayed.

    The result may also hold responses to neighbouring calls.
    """
    responses = responses_in(call.get("result"))
    found = next((response for response in responses if response.get("id") == own), next(iter(responses), {}))
    texts = "\n\n".join(texts_in(call.get("result")))
    return found.get("response") or {"output": texts or as_shown(call.get("resultDisplay"))}


def mark_of(message: Mapping[str, Any]) -> str:
    """Return a digest of the author and words of *message*; empty if it has no words."""
    words = "\n\n".join(text.strip() for text in texts_in(message.get("content", message.get("parts"))))
    role = "user" if kind_of(message) == "user" else "model"
    return blake2b(f"{role} {words}".encode(errors="replace"), digest_size=12).hexdigest() if words else ""
