"""Parse Codex messages, reasoning, calls and results, old types too, without duplicates."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.model import Kind
from nous.transcript.parsing.chat import blocks_in, is_text
from nous.transcript.parsing.codex import contents
from nous.transcript.parsing.codex.contents import Output, Piece, output_of, piece_of, words_and_plan
from nous.transcript.parsing.fields import JsonObject, object_at, objects_at, text_at
from nous.transcript.parsing.sessions import UNKNOWN_CALL, SessionReading, call, digest_of, rejection
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_shown, as_text
from nous.transcript.reader import Draft, RecordPlace

RESPONSE = "response"
EVENT = "event"
ITEM = "item"
ENDING = "ending"  # channels by which the same message may come
_QUESTIONS = "request_user_input"
_UNPAIRED = frozenset({"web_search", "image_generation"})


@dataclass(slots=True)
class CodexReading(SessionReading):
    """Emits each message and call once, though the file repeats them.

    `listed` are calls from the conversation, `observed` those known only from the events around it, and `failed`
    are listed ones whose failure an event reported before their output. `copies` counts the messages of a turn by
    channel. `is_asked`: the user is asked for approval.
    """

    is_asked: bool = True
    copies: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    listed: set[str] = field(default_factory=set[str])
    observed: set[str] = field(default_factory=set[str])
    failed: set[str] = field(default_factory=set[str])
    is_interrupted: bool = False
    review: str = ""

    def introduce(self, record: JsonObject) -> None:
        """Learn the header from the first `session_meta`; later ones were copied with a history."""
        self.notes.skip("repeated session_meta" if self.is_introduced else "session_meta")
        if self.is_introduced:
            return
        self.is_introduced = True
        given = record.get("source")
        source = as_object(given).get("subagent")
        self.is_sub_agents = source is not None or given == "subagent" or record.get("thread_source") == "subagent"
        self.notes.learn(
            session_id=text_at(record, "id", "session_id"),
            cwd=text_at(record, "cwd"),
            git_branch=text_at(object_at(record, "git"), "branch"),
        )

    def settings(self, context: JsonObject) -> None:
        self.is_asked = context.get("approval_policy") != "never"
        self.notes.learn(cwd=text_at(context, "cwd"), model=text_at(context, "model"))

    def user(self, texts: Sequence[str], way: str, place: RecordPlace) -> Iterator[Draft]:
        pieces = [piece_of(text) for text in texts]
        own = [piece.text for piece in pieces if not piece.tag]
        for draft in self.said(own, place) if own else ():
            is_prompt = draft.kind in {Kind.USER, Kind.SUB_AGENT}
            for new in self.once(draft, way):
                self.is_interrupted = self.is_interrupted and not is_prompt
                yield new
        for part, piece in enumerate(pieces, len(pieces)):
            if piece.tag:
                yield from self._inserted(piece, way, place, part)

    def assistant(self, text: str, way: str, place: RecordPlace) -> Iterator[Draft]:
        """Yield drafts of an answer, apart from a proposed plan: other channels carry it alone."""
        words, plan = words_and_plan(text)
        if words and self.review and words.startswith(self.review):
            self.notes.skip("repeated review")
            self.review = words = ""
        if words:
            yield from self.once(place.draft(Kind.ASSISTANT, words), way)
        if plan:
            yield from self.plan(plan, way, place, 1)
        if not text.strip():
            self.notes.skip("empty message")

    def plan(self, text: str, way: str, place: RecordPlace, part: int = 0) -> Iterator[Draft]:
        for draft in self.text_or_skip(Kind.ASSISTANT, text, place, "empty message", part):
            yield from self.once(draft, way, who="plan")

    def thoughts(self, texts: Sequence[str], way: str, place: RecordPlace) -> Iterator[Draft]:
        thoughts = [text.strip() for text in texts if text.strip()]
        for part, text in enumerate(thoughts):
            yield from self.once(place.draft(Kind.THINKING, text, part), way)
        if not thoughts:
            self.notes.skip("empty reasoning")

    def interrupted(self, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's interruption, unless an interrupted call has already reported it."""
        if self.is_interrupted:
            return self.skip("repeated interruption")
        self.is_interrupted = True
        return (place.draft(Kind.DECISION, "Interrupted the turn"),)

    def once(self, draft: Draft, way: str, *, who: str = "") -> Iterable[Draft]:
        """Return *draft*, unless it is a copy from another channel."""
        if self.is_copy(who or draft.kind, draft.text, way):
            return self.skip("repeated message")
        return (draft,)

    def is_copy(self, who: str, text: str, way: str) -> bool:
        """Return whether *text* came by another channel before; from the same one it is said again."""
        ways = self.copies.setdefault(digest_of(who, *text.split()), {})
        most = max(ways.values(), default=0)
        ways[way] = ways.get(way, 0) + 1
        return ways[way] <= most

    def came(self, output: Output, call_id: str, place: RecordPlace, part: int = 0, *, tool: str = "") -> Draft:
        """Return the draft for a result; a rejection is a failure if the user is never asked."""
        self.notes.skipped.update(output.hidden)
        made = self.calls.get(call_id) or (call(tool, {}) if tool else UNKNOWN_CALL)
        failed = output.is_error or call_id in self.failed
        self.failed.discard(call_id)
        is_rejected = output.is_rejected and self.is_asked
        if not (is_rejected or output.is_aborted):
            failed = failed or output.is_rejected
            return self.result(output.text, call_id, place, part, is_error=failed, tool=tool)
        self.calls.pop(call_id, None)
        self.is_interrupted = self.is_interrupted or output.is_aborted
        text = f"Interrupted {made.summary}" if output.is_aborted else rejection("", made)
        return place.draft(Kind.DECISION, text, part, tool=made.tool or None, call_id=call_id or None)

    def shell(self, command: str, output: Output, way: str, place: RecordPlace, part: int = 0) -> Iterator[Draft]:
        words = Kind.SUB_AGENT if self.is_sub_agents else Kind.USER
        for draft in self.once(place.draft(words, f"! {command}", part), way):
            yield draft
            if output.text.strip():
                yield self.came(output, "", place, part + 1)

    def between_agents(self, item: JsonObject, way: str, place: RecordPlace) -> Iterator[Draft]:
        """Yield the draft of a message between agents; most of its text may be encrypted."""
        words = "\n\n".join(self._texts(item.get("content")))
        ends = " to ".join(filter(None, (text_at(item, "author"), text_at(item, "recipient"))))
        for draft in self.text_or_skip(Kind.SUB_AGENT, words, place, "empty message"):
            draft.text = f"{ends}: {draft.text}" if ends else draft.text
            yield from self.once(draft, way)

    def search(self, tool: str, given: JsonObject, call_id: str, way: str, place: RecordPlace) -> Iterable[Draft]:
        """Return a search, which has no id to pair by; copies are found by the search terms."""
        wanted = {name: value for name, value in given.items() if value}
        if self.is_copy(tool, as_shown(wanted), way):
            return self.skip("repeated call")
        return (self.call(tool, wanted, call_id, place),)

    def of_response(self, item: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        kind = str(item.get("type", "message" if "role" in item else "no type"))
        match kind:
            case "message":
                return self._message(item, place)
            case "reasoning":
                parts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
                return self.thoughts([text_at(as_object(part), "text") for part in parts], RESPONSE, place)
            case "agent_message":
                return self.between_agents(item, RESPONSE, place)
            case "error":
                text = text_at(item, "message", "text")
                return (place.draft(Kind.ERROR, text or "no reason given", is_error=True),)
            case _ if kind.endswith("_call"):
                return self._call(kind, item, place)
            case _ if kind.endswith(("_output", "_result")):
                return self._result(kind, item, place)
            case _:
                return self.skip(kind)

    def _inserted(self, piece: Piece, way: str, place: RecordPlace, part: int) -> Iterable[Draft]:
        match piece.tag:
            case contents.IMAGE:
                return self.skip("image")
            case contents.SHELL:
                return self.shell(piece.text, output_of(piece.result), way, place, part)
            case contents.ABORTED:
                return self.interrupted(place)
            case contents.AGENT:
                return self.once(place.draft(Kind.SUB_AGENT, piece.text, part), way)
            case _:
                return self.once(place.draft(Kind.SYSTEM, piece.text, part, is_meta=True), way)

    def _message(self, item: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        texts = self._texts(item.get("content", item.get("message")))
        match str(item.get("role")):
            case "user":
                return self.user(texts, RESPONSE, place)
            case "assistant":
                return self.assistant("\n\n".join(texts), RESPONSE, place)
            case _:
                told = [text.strip() for text in texts if text.strip()]
                return [place.draft(Kind.SYSTEM, text, part, is_meta=True) for part, text in enumerate(told)]

    def _texts(self, content: object) -> list[str]:
        texts: list[str] = []
        for part in blocks_in(content):
            if is_text(part) or part.get("type") == "refusal":
                texts.append(text_at(part, "text", "refusal"))
            else:
                self.notes.skip(f"{part.get('type')} part")
        return texts

    def _call(self, kind: str, item: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        tool, given = requested(kind, item)
        call_id = text_at(item, "call_id", "id") or tool
        if tool in _UNPAIRED:
            return self.search(tool, given, call_id, RESPONSE, place)
        if call_id in self.observed:
            return self.skip("repeated call")
        self.listed.add(call_id)
        return (self.call(tool, given, call_id, place),)

    def _result(self, kind: str, item: JsonObject, place: RecordPlace) -> Iterable[Draft]:
        tool = text_at(item, "name")
        call_id = text_at(item, "call_id", "tool_call_id") or tool
        if call_id in self.observed:
            return self.skip("repeated result")
        found = "\n".join(filter(None, (text_at(tool, "name") for tool in objects_at(item, "tools"))))
        is_search = kind == "tool_search_output"
        output = Output(found) if is_search else output_of(item.get("output", item.get("result")))
        if item.get("status") == "failed":
            output = output._replace(is_error=True)
        if self.made(call_id).tool == _QUESTIONS and (answers := _answers(output.text)):
            return (self.decision(f"Answered: {answers}", call_id, place),)
        return (self.came(output, call_id, place, tool=tool),)


def sought(action: object, query: object = None) -> dict[str, Any]:
    """Return the target of a web search: words, a page, or a pattern in a page."""
    wanted = as_object(action)
    first = next(iter(as_list(wanted.get("queries"))), None)
    words = text_at(wanted, "query") or as_text(query) or as_text(first)
    return {"query": words, "url": text_at(wanted, "url"), "pattern": text_at(wanted, "pattern")}


def requested(kind: str, item: JsonObject) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments of a call; a platform's tool is named after its items."""
    match kind:
        case "custom_tool_call":
            return _named(item), _free(item.get("input"))
        case "web_search_call":
            return "web_search", sought(item.get("action"), item.get("query"))
        case "image_generation_call":
            return "image_generation", {"prompt": text_at(item, "revised_prompt")}
        case _:
            given = as_arguments(item.get("arguments", object_at(item, "function").get("arguments")))
            beside = object_at(item, "action") or object_at(item, "operation")
            beside = beside or {key: item[key] for key in ("code", "queries") if item.get(key)}
            return _named(item) or kind.removesuffix("_call"), given or beside


def _named(item: JsonObject) -> str:
    """Return the name of a tool; for a tool of an MCP server, with the server's name."""
    name = text_at(item, "name") or text_at(object_at(item, "function"), "name")
    server = text_at(item, "namespace")
    return f"{server.rstrip('_')}__{name}" if server.startswith("mcp") else name


def _free(text: object) -> dict[str, Any]:
    """Return the input of a tool that takes free text, which may still be JSON."""
    found = as_arguments(text)
    return {"input": text} if isinstance(text, str) and found.get("arguments") == text else found


def _answers(text: str) -> str:
    found = as_object(as_arguments(text).get("answers"))
    return "; ".join(f"{question}: {_answer(answer)}" for question, answer in found.items())


def _answer(value: object) -> str:
    given = as_list(as_object(value).get("answers")) if isinstance(value, dict) else [value]
    return ", ".join(str(answer).removeprefix("user_note: ") for answer in given)
