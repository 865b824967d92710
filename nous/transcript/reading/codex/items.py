"""The items of a thread as events tell them when they are complete: newer rollouts, and `codex exec --json`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nous.transcript.base import Draft, Place
from nous.transcript.model import Kind
from nous.transcript.reading.codex.events import EventReading
from nous.transcript.reading.codex.outputs import output_of, output_of_event, output_of_mcp, text_of
from nous.transcript.reading.codex.responses import sought
from nous.transcript.reading.codex.session import ITEM
from nous.transcript.reading.codex.words import spoken
from nous.transcript.reading.fields import as_arguments, as_list, as_object, as_text

Item = Mapping[str, Any]


@dataclass(slots=True)
class ItemReading(EventReading):
    """Turns one item after another into entries. Types are written in two ways: `AgentMessage`, `agent_message`."""

    def of_item(self, item: Item, place: Place) -> Iterable[Draft]:
        kind = as_text(item.get("type")) or as_text(item.get("item_type")) or "no type"
        match kind.replace("_", "").lower():
            case "usermessage":
                return self.user([text_of(item.get("content")) or as_text(item.get("text"))], ITEM, place)
            case "agentmessage" | "assistantmessage":
                return self.assistant(as_text(item.get("text")) or text_of(item.get("content")), ITEM, place)
            case "plan":
                return self.plan(as_text(item.get("text")), ITEM, place)
            case "reasoning":
                parts = [*as_list(item.get("summary_text")), *as_list(item.get("raw_content")), item.get("text")]
                return self.thoughts([as_text(part) for part in parts], ITEM, place)
            case "commandexecution" | "filechange" | "mcptoolcall" | "dynamictoolcall":
                return self._worked(kind.replace("_", "").lower(), item, place)
            case "websearch" | "extension" if item.get("query") or item.get("action"):
                given = sought(item.get("action"), item.get("query"))
                return self.search("web_search", given, as_text(item.get("id")), ITEM, place)
            case "collabtoolcall":
                return self._delegated_by(item, place)
            case "error":
                return (place.draft(Kind.ERROR, as_text(item.get("message")) or "no reason given", is_error=True),)
            case _:
                self.notes.skip(f"item: {kind}")
                return ()

    def begins(self, item: Item, place: Place) -> Iterable[Draft]:
        """An item is under way: of a call that is told, of anything else only its end."""
        kind = (as_text(item.get("type")) or as_text(item.get("item_type"))).replace("_", "").lower()
        if kind not in {"commandexecution", "mcptoolcall"}:
            self.notes.skip("item under way")
            return ()
        tool, given = _called(kind, item)
        return self.observe_call(tool, given, as_text(item.get("id")), place)

    def _worked(self, kind: str, item: Item, place: Place) -> Iterable[Draft]:
        tool, given = _called(kind, item)
        if kind == "mcptoolcall":
            output = output_of_mcp(item)
        elif kind == "dynamictoolcall":
            output = output_of(item.get("content_items"))
        else:
            output = output_of_event(item)
        return self.observe_end(tool, given, as_text(item.get("id")), output, place)

    def _delegated_by(self, item: Item, place: Place) -> Iterator[Draft]:
        """What agents were asked, and what they said."""
        if prompt := as_text(item.get("prompt")):
            yield place.draft(Kind.SUB_AGENT, f"{as_text(item.get('tool')) or 'agent'}: {prompt}")
        for part, (name, value) in enumerate(as_object(item.get("agents_states")).items(), 1):
            state = as_object(value)
            if said := as_text(state.get("message")) or spoken(state.get("status")):
                yield place.draft(Kind.SUB_AGENT, f"{name}: {said}", part)


def _called(kind: str, item: Item) -> tuple[str, dict[str, Any]]:
    """The tool that an item is about, and what it was given."""
    match kind:
        case "commandexecution":
            given = {"command": item.get("command"), "cwd": item.get("cwd")}
            return "exec_command", {name: value for name, value in given.items() if value}
        case "filechange":
            changes = item.get("changes")
            paths = list(as_object(changes)) or [as_object(change).get("path") for change in as_list(changes)]
            return "apply_patch", {"paths": paths, "changes": changes}
        case "mcptoolcall":
            return f"mcp__{item.get('server')}__{item.get('tool')}", as_arguments(item.get("arguments"))
        case _:
            return as_text(item.get("tool")), as_arguments(item.get("arguments"))
