"""Parser for pi messages: prompts, answers, tool results and `!` commands of the user."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from nous.transcript.model import Kind
from nous.transcript.parsing.blocks import blocks_in, text_of
from nous.transcript.parsing.conversation import UNKNOWN_CALL, AgentReading
from nous.transcript.parsing.values import as_arguments, as_count, as_object, as_text
from nous.transcript.reader import Draft, RecordPlace

_FROM_A_PROGRAM = re.compile(
    r"Read HEARTBEAT\.md|\[cron:[\w-]{1,64}[ \]]|A new session was started via /new|Pre-compaction memory flush"
    r"|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>|\[openclaw\.runtime-context\]|OpenClaw runtime |\[Subagent Context\]"
    r'|\[System Message\]|A subagent task "|A cron job "[^"\n]{0,200}" just '
)
_OF_A_SUB_AGENT = re.compile(r'(?:\[System Message\] *(?:\[[^\]\n]{0,80}\] *)?)?A subagent task "')
_SKILL = re.compile(r'<skill name="(?P<name>[^"\n]*)" location="[^"\n]*">')
_SKILL_END = "\n</skill>"
_FILE = re.compile(r'<file name="[^"\n]*">')
_FILE_END = "</file>"
_ENVELOPE = re.compile(
    r"\[(?:[A-Z][a-z]{2} \d{4}-\d\d-\d\d|(?:WhatsApp|Telegram|Slack|Discord|Signal|iMessage|WebChat|Matrix|Feishu) )"
    r"[^\]\n]*\] *"
)
_MESSAGE_ID = re.compile(r"\n\[message_id: [^\]\n]*\]$")
_ABOUT = re.compile(
    r"[A-Z][^\n(]{0,60}\((?:untrusted|untrusted metadata|untrusted, for context)\):[ \t]*\n```json[ \t]*\n"
)
_ABOUT_END = "\n```"
_NOTICE = "System: ["


class UserPrompt(NamedTuple):
    """The user's words in a user message, separated from insertions.

    A bare skill call has a `skill` but no `words`. `files` counts attached files. `is_from_a_program`: no person wrote
    it. `is_sub_agents`: a program delivers the result of a sub-agent.
    """

    words: str
    skill: str = ""
    files: int = 0
    is_from_a_program: bool = False
    is_sub_agents: bool = False


def _is_from_a_program(text: str) -> bool:
    return _FROM_A_PROGRAM.match(text) is not None


def words_in(text: str) -> UserPrompt:
    """Separate the user's own words in *text* from insertions."""
    text, files = _without_files(text.strip())
    if skill := _SKILL.match(text):
        rest = text.partition(_SKILL_END)[2].strip()
        return UserPrompt(f"/skill:{skill['name']} {rest}" if rest else "", f"/skill:{skill['name']}", files)
    text = _without_envelope(text)
    found = _OF_A_SUB_AGENT.match(text) is not None
    return UserPrompt(text, files=files, is_from_a_program=_is_from_a_program(text), is_sub_agents=found)


def _without_files(text: str) -> tuple[str, int]:
    start = files = 0
    while _FILE.match(text, start) and (end := text.find(_FILE_END, start)) >= 0:
        start = end + len(_FILE_END)
        start += text.startswith("\n", start)
        files += 1
    return text[start:].lstrip(), files


def _without_envelope(text: str) -> str:
    """Return *text* without OpenClaw's envelope: notices, sender, time, channel, message id."""
    start = 0
    while (end := _end_of_a_part(text, start)) > start:
        start = end
    return _MESSAGE_ID.sub("", text[start:].rstrip()).strip()


def _end_of_a_part(text: str, start: int) -> int:
    """Return the end of the envelope part at *start*; *start* if none begins there."""
    if text.startswith("\n", start):
        return start + 1
    if text.startswith(_NOTICE, start):
        return text.find("\n", start) + 1 or len(text)
    if about := _ABOUT.match(text, start):
        end = text.find(_ABOUT_END, about.end() - 1)
        return start if end < 0 else end + len(_ABOUT_END)
    envelope = _ENVELOPE.match(text, start)
    return envelope.end() if envelope else start


JsonObject = Mapping[str, Any]

_MIRRORS = frozenset({"delivery-mirror", "gateway-injected"})
"""Models that OpenClaw names for repeats of messages that it sent to a channel."""

_CUT_SHORT = frozenset({"error", "aborted"})
_ABORTED = ("Command aborted", "Operation aborted")
_NOT_RUN = "Skipped due to queued user message"
_FAILED = frozenset({"error", "failed"})


@dataclass(slots=True)
class MessageReading(AgentReading):
    """Turns successive messages into drafts; `answer` is the last answer of the model."""

    answer: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    def message(self, message: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        """Return the drafts of *message*."""
        role = str(message.get("role", "no role"))
        match role:
            case "user":
                return self._prompt(message, place)
            case "assistant":
                return self._answered(message, place)
            case "toolResult":
                return self._returned(message, place)
            case "bashExecution":
                return self._typed(message, place)
            case "branchSummary" | "compactionSummary":
                return self.text_draft(Kind.SUMMARY, message.get("summary"), place, role)
            case "custom" | "hookMessage":
                return self.text_draft(Kind.SYSTEM, message.get("content"), place, role, is_meta=True)
            case "system":
                return self.text_draft(Kind.SYSTEM, message.get("content"), place, role)
            case _:
                self.notes.skip(f"{role} message")
                return ()

    def text_draft(
        self, kind: Kind, content: object, place: RecordPlace, what: str, *, is_meta: bool = False
    ) -> Iterable[Draft]:
        """Return a draft of the text in *content*; none if it is empty, counted by *what*."""
        if text := "\n\n".join(self._texts(content)).strip():
            return (place.draft(kind, text, is_meta=is_meta),)
        self.notes.skip(f"empty {what}")
        return ()

    def _prompt(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        said: list[str] = []
        for part, text in enumerate(self._texts(message.get("content")), 1):
            prompt = words_in(text)
            if prompt.files:
                self.notes.skipped["attached file"] += prompt.files
            if prompt.is_sub_agents:
                yield place.draft(Kind.SUB_AGENT, prompt.words, part)
            elif prompt.is_from_a_program:
                yield place.draft(Kind.SYSTEM, prompt.words, part, is_meta=True)
            elif prompt.skill and not prompt.words:
                yield place.draft(Kind.SYSTEM, prompt.skill, part)
            else:
                said.append(prompt.words)
        yield from self.said(said, place)

    def _answered(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        self._charge(message)
        model, text = as_text(message.get("model")), text_of(message.get("content")).strip()
        if model in _MIRRORS and text == self.answer:
            self.notes.skip("repeated message")
            return
        self.notes.learn(model=None if model in _MIRRORS else model)
        self.answer = text or self.answer
        stopped = as_text(message.get("stopReason"))
        for part, block in enumerate(blocks_in(message.get("content")), 1):
            yield from self._block(block, place, part, is_cut_short=stopped in _CUT_SHORT)
        if stopped in _CUT_SHORT:
            why = as_text(message.get("errorMessage")).strip() or f"The answer was cut short ({stopped})"
            failed = stopped == "error"
            ended = place._replace(id=f"{place.id}/end")
            yield ended.draft(Kind.ERROR if failed else Kind.SYSTEM, why, is_error=failed)

    def _charge(self, message: JsonObject) -> None:
        usage = as_object(message.get("usage"))
        self.tokens_in += sum(as_count(usage.get(name)) for name in ("input", "cacheRead", "cacheWrite"))
        self.tokens_out += as_count(usage.get("output"))

    def _block(self, block: JsonObject, place: RecordPlace, part: int, *, is_cut_short: bool) -> Iterable[Draft]:
        """Return drafts of a *block* of an answer; an answer cut short made none of its calls."""
        match block.get("type"):
            case "text":
                text = as_text(block.get("text")).strip()
                return (place.draft(Kind.ASSISTANT, text),) if text else ()
            case "thinking":
                text = as_text(block.get("thinking")).strip()
                return (place.draft(Kind.THINKING, text, part),) if text else ()
            case "toolCall" if not is_cut_short:
                tool, given = as_text(block.get("name")), as_arguments(block.get("arguments"))
                return (self.call(tool, given, as_text(block.get("id")), place, part),)
            case kind:
                self.notes.skip("call that was not made" if kind == "toolCall" else f"{kind} block")
                return ()

    def _returned(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        text = "\n\n".join(self._texts(message.get("content")))
        own, tool = as_text(message.get("toolCallId")), as_text(message.get("toolName"))
        failed = message.get("isError") is True
        if failed and text.rstrip().endswith(_ABORTED):
            yield from self._interrupted(text, own, tool, place)
            return
        status = str(as_object(message.get("details")).get("status"))
        failed = (failed or status in _FAILED) and not text.startswith(_NOT_RUN)
        yield self.result(text, own, place, is_error=failed, tool=tool)

    def _interrupted(self, text: str, own: str, tool: str, place: RecordPlace) -> Iterator[Draft]:
        """Yield the user's interruption of the call *own*, then its output up to there."""
        made = self.calls.get(own, UNKNOWN_CALL)
        yield place.draft(
            Kind.DECISION, f"Interrupted {made.summary}", tool=made.tool or tool or None, call_id=own or None
        )
        so_far = text.rstrip().removesuffix(_ABORTED[0]).removesuffix(_ABORTED[1]).rstrip()
        if so_far:
            yield self.result(so_far, own, place, 1, tool=tool)

    def _typed(self, message: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        """Yield a command that the user ran, and its output."""
        command, output = as_text(message.get("command")), as_text(message.get("output")).strip()
        yield place.draft(Kind.USER, f"! {command}")
        if message.get("cancelled") is True:
            yield place.draft(Kind.DECISION, f"Interrupted ! {command}", 1)
        failed = as_count(message.get("exitCode")) != 0
        if output:
            yield place.draft(Kind.ERROR if failed else Kind.TOOL_RESULT, output, 2, tool="bash", is_error=failed)
        else:
            self.notes.skip("empty output")

    def _texts(self, content: object) -> list[str]:
        """Return the texts in *content*; count its other blocks as skipped."""
        texts: list[str] = []
        for block in blocks_in(content):
            if isinstance(text := block.get("text"), str) and block.get("type", "text") == "text":
                texts.append(text)
            else:
                self.notes.skip(f"{block.get('type')} block")
        return texts
