"""Reader for Grok CLI sessions: `chat_history.jsonl`, with `summary.json` beside it.

Both are in `~/.grok/sessions/<project>/<session>/`. Records have neither ids nor times. Text of the program in user
messages has a `synthetic_reason`. The user's own words may be wrapped in `<user_query>`. Only the summary holds the
session's title and directory.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from nous.transcript.io.lines import LONGEST_LINE
from nous.transcript.io.records import Record
from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.conversation import AgentReading
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_text
from nous.transcript.reader import Draft, Reading, RecordPlace, Sample

_HISTORY = "chat_history.jsonl"
_SUMMARY = "summary.json"
_TYPES = frozenset({"system", "user", "assistant", "tool_result", "reasoning", "backend_tool_call"})
_LONGEST_HISTORY = 8 * LONGEST_LINE
"""Limit in bytes of a history that is gathered; a longer one is read without its summary."""

_SURE_KEYS = ("prompt_index", "synthetic_reason", "model_fingerprint")
_FOREIGN_KEYS = ("role", "message", "uuid")
_LASTING = (
    *("session_summary", "generated_title", "current_model_id", "head_branch", "head_commit", "session_kind"),
    "chat_format_version",
)
_ERROR = re.compile(r"(?:\w{0,60}Error|Traceback)\b|exit(?: code)?: ?[1-9]", re.IGNORECASE)
_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_CONTEXT = ("<user_info>", "<git_status>", "<project_layout>", "<rules>", "<agent_skills>")
_PARENTS = frozenset({"subagent", "sub_agent"})


class Grok:
    """Reads the history of a session, after its summary if both were gathered."""

    format = "grok"

    def sniff(self, sample: Sample) -> float:
        shaped = sum(map(_is_shaped, sample.records))
        if not shaped:
            return 0.0
        is_sure = any(any(key in record for key in _SURE_KEYS) or _is_summary(record) for record in sample.records)
        is_likely = any("tool_call_id" in record or "tool_calls" in record for record in sample.records)
        return (0.95 if is_sure else 0.5 if is_likely else 0.0) * shaped / len(sample.records)

    def begin(self, notes: ReadNotes) -> Reading:
        return _Session(notes)

    def gather(self, path: Path) -> bytes | None:
        """Return the history with the stable fields of the summary before it, as one more line."""
        summary, history = path.with_name(_SUMMARY), path.with_name(_HISTORY)
        if path.name not in {_SUMMARY, _HISTORY} or not (summary.is_file() and history.is_file()):
            return None
        if summary.stat().st_size > LONGEST_LINE or history.stat().st_size > _LONGEST_HISTORY:
            return None
        try:
            fields = as_object(orjson.loads(summary.read_bytes()))
        except orjson.JSONDecodeError:
            return None
        info = {key: as_text(as_object(fields.get("info")).get(key)) for key in ("id", "cwd")}
        lasting = {key: fields[key] for key in _LASTING if isinstance(fields.get(key), str | int)}
        return orjson.dumps({"info": info, **lasting}) + b"\n" + history.read_bytes()


READER = Grok()


def _is_shaped(record: Mapping[str, Any]) -> bool:
    if _is_summary(record):
        return True
    if any(key in record for key in _FOREIGN_KEYS) or str(record.get("type")) not in _TYPES:
        return False
    return any(key in record for key in ("content", "summary", "kind"))


def _is_summary(record: Mapping[str, Any]) -> bool:
    return "type" not in record and "id" in as_object(record.get("info")) and "chat_format_version" in record


@dataclass(slots=True)
class _Session(AgentReading):
    """The records of a session; in one of a sub-agent, user messages are its caller's."""

    is_sub_agents: bool = False

    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        place = RecordPlace(f"line-{record.line}", record.line, record.offset)
        match value.get("type"):
            case None if _is_summary(value):
                return self._summary(value)
            case "system":
                return (place.draft(Kind.SYSTEM, self._text(value.get("content"))),)
            case "user":
                return self._user(value, place)
            case "reasoning":
                return self._reasoning(value, place)
            case "assistant":
                return self._assistant(value, place)
            case "tool_result":
                return (self._result(value, place),)
            case "backend_tool_call":
                return self._backend(as_object(value.get("kind")), place)
            case kind:
                self.notes.skip(str(kind or "no type"))
                return ()

    def _summary(self, value: Mapping[str, Any]) -> Iterable[Draft]:
        info = as_object(value.get("info"))
        self.is_sub_agents = as_text(value.get("session_kind")) in _PARENTS
        self.notes.learn(
            session_id=as_text(info.get("id")),
            title=as_text(value.get("generated_title")) or as_text(value.get("session_summary")),
            cwd=as_text(info.get("cwd")),
            git_branch=as_text(value.get("head_branch")),
            git_commit=as_text(value.get("head_commit")),
            model=as_text(value.get("current_model_id")),
        )
        self.notes.skip("session summary")
        return ()

    def _user(self, value: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        text = self._text(value.get("content"))
        if reason := value.get("synthetic_reason"):
            is_summary = "compaction" in str(reason)
            yield place.draft(Kind.SUMMARY if is_summary else Kind.SYSTEM, text, is_meta=not is_summary)
            return
        if value.get("prior_turn_interrupt"):
            yield place.draft(Kind.SYSTEM, "Interrupted by the user", 1)
        queries = [before.partition(_QUERY)[2].strip() for before in text.split(_QUERY_END)[:-1] if _QUERY in before]
        if not queries and text.lstrip().startswith(_CONTEXT):
            yield place.draft(Kind.SYSTEM, text, is_meta=True)
            return
        for draft in self.said(queries or [text], place):
            if draft.kind is Kind.USER and self.is_sub_agents:
                draft.kind = Kind.SUB_AGENT
            yield draft

    def _reasoning(self, value: Mapping[str, Any], place: RecordPlace) -> Iterable[Draft]:
        found = (as_text(as_object(part).get("text")) for part in as_list(value.get("summary")))
        text = "\n\n".join(filter(None, found)).strip()
        if not text:
            self.notes.skip("reasoning without text")
            return ()
        own = as_text(value.get("id"))
        return ((place._replace(id=own) if own else place).draft(Kind.THINKING, text),)

    def _assistant(self, value: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        self.notes.learn(model=as_text(value.get("model_id")))
        if text := self._text(value.get("content")).strip():
            yield place.draft(Kind.ASSISTANT, text)
        for part, found in enumerate(as_list(value.get("tool_calls")), 1):
            requested = as_object(found)
            function = as_object(requested.get("function")) or requested
            tool, given = as_text(function.get("name")), as_arguments(function.get("arguments"))
            yield self.call(tool, given, as_text(requested.get("id")), place, part)

    def _result(self, value: Mapping[str, Any], place: RecordPlace) -> Draft:
        text = self._text(value.get("content"))
        is_error = value.get("is_error") is True or _ERROR.match(text) is not None
        return self.result(text, as_text(value.get("tool_call_id")), place, is_error=is_error)

    def _backend(self, made: Mapping[str, Any], place: RecordPlace) -> Iterator[Draft]:
        """Yield a call that the provider ran itself; its only known result is its sources."""
        action = as_object(made.get("action"))
        tool, own = as_text(made.get("tool_type")), as_text(made.get("id"))
        given = {name: held for name, held in action.items() if name not in {"type", "sources"}}
        yield self.call(tool, given, own, place)
        sources = (as_object(source) for source in as_list(action.get("sources")))
        if found := "\n".join(filter(None, (as_text(source.get("url")) for source in sources))):
            yield self.result(found, own, place, 1, is_error=made.get("status") == "failed", tool=tool)

    def _text(self, content: object) -> str:
        """Return the text of a string or of parts."""
        if isinstance(content, str):
            return content
        texts: list[str] = []
        for part in map(as_object, as_list(content)):
            if part.get("type") == "text":
                texts.append(as_text(part.get("text")))
            else:
                self.notes.skip(f"{part.get('type')} part")
        return "\n\n".join(filter(None, texts))
