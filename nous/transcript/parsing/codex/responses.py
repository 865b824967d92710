"""Parser for conversation items of Codex, in the form of the Responses API.

Reads the item types from before October 2025 too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from nous.transcript.model import Kind
from nous.transcript.parsing.codex.outputs import Output, is_text, output_of, parts_in
from nous.transcript.parsing.codex.session import RESPONSE, CodexReading
from nous.transcript.parsing.codex.user_text import answers_in
from nous.transcript.parsing.values import as_arguments, as_list, as_object, as_shown, as_text
from nous.transcript.reader import Draft, RecordPlace

Item = Mapping[str, Any]

_QUESTIONS = "request_user_input"
_CALLS = frozenset(
    {
        *("function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call"),
        *("image_generation_call", "tool_call", "mcp_call"),
    }
)
_RESULTS = frozenset(
    {
        *("function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"),
        *("mcp_tool_call_output", "tool_result", "function_result"),
    }
)
_UNPAIRED = frozenset({"web_search", "image_generation"})


@dataclass(slots=True)
class ResponseReading(CodexReading):
    """Turns successive items into drafts."""

    def of_response(self, item: Item, place: RecordPlace) -> Iterable[Draft]:
        kind = str(item.get("type", "message" if "role" in item else "no type"))
        match kind:
            case "message":
                return self._message(item, place)
            case "reasoning":
                parts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
                return self.thoughts([as_text(as_object(part).get("text")) for part in parts], RESPONSE, place)
            case "agent_message":
                return self.between_agents(item, RESPONSE, place)
            case "error":
                text = as_text(item.get("message")) or as_text(item.get("text"))
                return (place.draft(Kind.ERROR, text or "no reason given", is_error=True),)
            case _ if kind in _CALLS:
                return self._call(kind, item, place)
            case _ if kind in _RESULTS:
                return self._result(kind, item, place)
            case _:
                self.notes.skip(kind)
                return ()

    def between_agents(self, item: Item, way: str, place: RecordPlace) -> Iterable[Draft]:
        """Return the draft of a message between agents; most of its text may be encrypted."""
        words = "\n\n".join(self._texts(item.get("content"))).strip()
        if not words:
            self.notes.skip("empty message")
            return ()
        ends = " to ".join(filter(None, (as_text(item.get("author")), as_text(item.get("recipient")))))
        return self.once(place.draft(Kind.SUB_AGENT, f"{ends}: {words}" if ends else words), way)

    def search(
        self, tool: str, given: Mapping[str, Any], call_id: str, way: str, place: RecordPlace
    ) -> Iterator[Draft]:
        """Yield a search call without a result.

        It has no id to pair by, so copies are found by the search terms.
        """
        wanted = {name: value for name, value in given.items() if value}
        if self.copies.is_copy(tool, as_shown(wanted), way):
            self.notes.skip("repeated call")
            return
        yield self.call(tool, wanted, call_id, place)

    def _message(self, item: Item, place: RecordPlace) -> Iterable[Draft]:
        texts = self._texts(item.get("content", item.get("message")))
        match str(item.get("role")):
            case "user":
                return self.user(texts, RESPONSE, place)
            case "assistant":
                return self.assistant("\n\n".join(texts), RESPONSE, place)
            case _:
                return self._instructions(texts, place)

    def _instructions(self, texts: Sequence[str], place: RecordPlace) -> Iterator[Draft]:
        """Yield the instructions of Codex to the model, among them notices of interruption."""
        for part, text in enumerate(texts):
            if text.strip().startswith("<turn_aborted>"):
                yield from self.interrupted(place)
            elif text.strip():
                yield place.draft(Kind.SYSTEM, text.strip(), part, is_meta=True)

    def _texts(self, content: object) -> list[str]:
        texts: list[str] = []
        for part in parts_in(content):
            text = part.get("refusal") if part.get("type") == "refusal" else part.get("text")
            if isinstance(text, str) and (is_text(part) or part.get("type") == "refusal"):
                texts.append(text)
            else:
                self.notes.skip(f"{part.get('type')} part")
        return texts

    def _call(self, kind: str, item: Item, place: RecordPlace) -> Iterable[Draft]:
        tool, given = _requested(kind, item)
        call_id = as_text(item.get("call_id")) or as_text(item.get("id")) or tool
        if tool in _UNPAIRED:
            return self.search(tool, given, call_id, RESPONSE, place)
        if call_id in self.observed:
            self.notes.skip("repeated call")
            return ()
        self.made.add(call_id)
        return (self.call(tool, given, call_id, place),)

    def _result(self, kind: str, item: Item, place: RecordPlace) -> Iterable[Draft]:
        tool = as_text(item.get("name"))
        call_id = as_text(item.get("call_id")) or as_text(item.get("tool_call_id")) or tool
        if call_id in self.observed:
            self.notes.skip("repeated result")
            return ()
        output = _found(item) if kind == "tool_search_output" else output_of(item.get("output", item.get("result")))
        asked = self.calls.get(call_id)
        if asked and asked.tool == _QUESTIONS and (answers := _answers(output.text)):
            del self.calls[call_id]
            return (place.draft(Kind.DECISION, f"Answered: {answers}", tool=_QUESTIONS, call_id=call_id),)
        return (self.came(output, call_id, place, tool=tool),)


def sought(action: object, query: object = None) -> dict[str, Any]:
    """Return the target of a web search: words, a page, or a pattern in a page."""
    wanted = as_object(action)
    first = next(iter(as_list(wanted.get("queries"))), None)
    return {
        "query": as_text(wanted.get("query")) or as_text(query) or as_text(first),
        "url": as_text(wanted.get("url")),
        "pattern": as_text(wanted.get("pattern")),
    }


def _requested(kind: str, item: Item) -> tuple[str, dict[str, Any]]:
    """Return the tool and the arguments of a call."""
    match kind:
        case "custom_tool_call":
            return _named(item), _free(item.get("input"))
        case "local_shell_call":
            return "local_shell", as_object(item.get("action"))
        case "tool_search_call":
            return "tool_search", as_arguments(item.get("arguments"))
        case "web_search_call":
            return "web_search", sought(item.get("action"), item.get("query"))
        case "image_generation_call":
            return "image_generation", {"prompt": as_text(item.get("revised_prompt"))}
        case _:
            given = item.get("arguments", as_object(item.get("function")).get("arguments"))
            return _named(item), as_arguments(given)


def _named(item: Item) -> str:
    """Return the name of a tool; for a tool of an MCP server, with the server's name."""
    name = as_text(item.get("name")) or as_text(as_object(item.get("function")).get("name"))
    server = as_text(item.get("namespace"))
    if not server.startswith("mcp"):
        return name
    return f"{server}{name}" if server.endswith("_") else f"{server}__{name}"


def _free(text: object) -> dict[str, Any]:
    """Return the input of a tool that takes free text, which may still be JSON."""
    found = as_arguments(text)
    return {"input": text} if isinstance(text, str) and found.get("arguments") == text else found


def _found(item: Item) -> Output:
    """Return the names of the tools that a tool search found."""
    tools = [as_object(tool) for tool in as_list(item.get("tools"))]
    return Output("\n".join(filter(None, (as_text(tool.get("name")) for tool in tools))))


def _answers(text: str) -> str:
    try:
        return answers_in(orjson.loads(text))
    except orjson.JSONDecodeError:
        return ""
