"""Parse Grok CLI sessions (`chat_history.jsonl` joined with `summary.json`) into entries.

Both are in `~/.grok/sessions/<project>/<session>/`. Only the summary holds the session's title and directory. Text of
the program in user messages has a `synthetic_reason`. The user's own words may be wrapped in `<user_query>`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from nous.transcript.io.records import Record
from nous.transcript.model import Kind
from nous.transcript.parsing.chat import ChatReading, Parts, calls_in
from nous.transcript.parsing.fields import JsonObject, marks, object_at, objects_at, text_at
from nous.transcript.parsing.values import as_object, parsed
from nous.transcript.reader import Draft, FormatReader, RecordPlace, Sample

_HISTORY = "chat_history.jsonl"
_SUMMARY = "summary.json"
_TYPES = frozenset({"system", "user", "assistant", "tool_result", "reasoning", "backend_tool_call"})
_SURE_KEYS = ("prompt_index", "synthetic_reason", "model_fingerprint")
_FOREIGN_KEYS = ("role", "message", "uuid")
_LASTING = marks("grok", "lasting")
_ERROR = re.compile(r"(?:\w{0,60}Error|Traceback)\b|exit(?: code)?: ?[1-9]", re.IGNORECASE)
_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_CONTEXT = ("<user_info>", "<git_status>", "<project_layout>", "<rules>", "<agent_skills>")
_PARENTS = frozenset({"subagent", "sub_agent"})


def _gathered(path: Path) -> bytes | None:
    """Return the history with the stable fields of the summary before it, as one more line."""
    summary, history = path.with_name(_SUMMARY), path.with_name(_HISTORY)
    if path.name not in {_SUMMARY, _HISTORY} or not (summary.is_file() and history.is_file()):
        return None
    fields = as_object(parsed(summary.read_bytes()))
    if not fields:
        return None
    info = {key: text_at(object_at(fields, "info"), key) for key in ("id", "cwd")}
    lasting = {key: fields[key] for key in _LASTING if isinstance(fields.get(key), str | int)}
    return orjson.dumps({"info": info, **lasting}) + b"\n" + history.read_bytes()


def _confidence(sample: Sample) -> float:
    is_sure = any(any(key in record for key in _SURE_KEYS) or _is_summary(record) for record in sample.records)
    is_likely = any("tool_call_id" in record or "tool_calls" in record for record in sample.records)
    return (0.95 if is_sure else 0.5 if is_likely else 0.0) * sample.share(_is_shaped)


def _is_shaped(record: JsonObject) -> bool:
    if _is_summary(record):
        return True
    if any(key in record for key in _FOREIGN_KEYS) or str(record.get("type")) not in _TYPES:
        return False
    return any(key in record for key in ("content", "summary", "kind"))


def _is_summary(record: JsonObject) -> bool:
    return "type" not in record and "id" in object_at(record, "info") and "chat_format_version" in record


@dataclass(slots=True)
class _Session(ChatReading):
    def entries(self, record: Record) -> Iterable[Draft]:
        value = record.value
        place = RecordPlace(f"line-{record.line}", record.line, record.offset)
        match value.get("type"):
            case None if _is_summary(value):
                self._introduce(value)
                return ()
            case "system":
                return (place.draft(Kind.SYSTEM, self.text(value.get("content"))),)
            case "user":
                return self._user(value, place)
            case "reasoning":
                found = (text_at(part, "text") for part in objects_at(value, "summary"))
                own = place._replace(id=text_at(value, "id") or place.id)
                text = "\n\n".join(filter(None, found))
                return self.text_or_skip(Kind.THINKING, text, own, "reasoning without text")
            case "assistant":
                self.notes.learn(model=text_at(value, "model_id"))
                return self.answered(Parts([self.text(value.get("content"))], calls=calls_in(value)), place)
            case "tool_result":
                text = self.text(value.get("content"))
                is_error = value.get("is_error") is True or _ERROR.match(text) is not None
                return (self.result(text, text_at(value, "tool_call_id"), place, is_error=is_error),)
            case "backend_tool_call":
                return self._backend(object_at(value, "kind"), place)
            case kind:
                return self.skip(str(kind or "no type"))

    def _introduce(self, value: JsonObject) -> None:
        info = object_at(value, "info")
        self.is_sub_agents = text_at(value, "session_kind") in _PARENTS
        self.notes.learn(
            session_id=text_at(info, "id"),
            title=text_at(value, "generated_title", "session_summary"),
            cwd=text_at(info, "cwd"),
            git_branch=text_at(value, "head_branch"),
            model=text_at(value, "current_model_id"),
        )
        self.notes.skip("session summary")

    def _user(self, value: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        text = self.text(value.get("content"))
        if reason := value.get("synthetic_reason"):
            is_summary = "compaction" in str(reason)
            yield place.draft(Kind.SUMMARY if is_summary else Kind.SYSTEM, text, is_meta=not is_summary)
            return
        if value.get("prior_turn_interrupt"):
            yield place.draft(Kind.SYSTEM, "Interrupted by the user", 1)
        queries = [before.partition(_QUERY)[2].strip() for before in text.split(_QUERY_END)[:-1] if _QUERY in before]
        if not queries and text.lstrip().startswith(_CONTEXT):
            yield place.draft(Kind.SYSTEM, text, is_meta=True)
        else:
            yield from self.said(queries or [text], place)

    def _backend(self, made: JsonObject, place: RecordPlace) -> Iterator[Draft]:
        """Yield a call that the provider ran itself; its only known result is its sources."""
        action = object_at(made, "action")
        tool, own = text_at(made, "tool_type"), text_at(made, "id")
        given = {name: held for name, held in action.items() if name not in {"type", "sources"}}
        yield self.call(tool, given, own, place)
        if found := "\n".join(filter(None, (text_at(source, "url") for source in objects_at(action, "sources")))):
            yield self.result(found, own, place, 1, is_error=made.get("status") == "failed", tool=tool)


READER = FormatReader("grok", _confidence, _Session, _gathered)
