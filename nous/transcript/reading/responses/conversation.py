"""A conversation of items, each told once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from nous.transcript.base import Draft, Place
from nous.transcript.input.records import Record
from nous.transcript.model import Kind
from nous.transcript.reading.agent import AgentReading
from nous.transcript.reading.fields import as_list, as_object, as_text
from nous.transcript.reading.responses.items import Item, call_id, fingerprint, is_call, is_output, requested, text_in
from nous.transcript.reading.responses.results import Result, output_of, result_inside
from nous.transcript.reading.results import UNKNOWN_CALL, call, rejection
from nous.transcript.reading.timestamps import parse_time

_NOT_THE_USERS = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>")


@dataclass(slots=True)
class ItemReading(AgentReading):
    """Turns one item after another into entries.

    `seen` are the items that have an id, `told` the fingerprints of all that was said in this conversation.
    """

    items: int = 0
    seen: set[str] = field(default_factory=set[str])
    told: list[str] = field(default_factory=list[str])

    def place(self, item: Item, record: Record, time: datetime | None = None) -> Place:
        self.items += 1
        own = as_text(item.get("id")) or f"item-{self.items}"
        said_at = parse_time(item.get("created_at", item.get("timestamp")))
        return Place(own, record.line, record.offset, said_at or time)

    def unheard(self, items: list[Item]) -> tuple[list[Item], bool]:
        """What is new in *items*, which are a whole conversation, and whether it is another than the one so far."""
        if not self.told:
            return items, False
        heard = 0
        for number, item in enumerate(items):
            mark = fingerprint(item)
            if heard == len(self.told) or (mark and mark != self.told[heard]):
                break
            heard += bool(mark)
            if heard == len(self.told):
                self.notes.skipped["repeated item"] += number + 1
                return items[number + 1 :], False
        self.told.clear()
        return items, True

    def item(self, item: Item, place: Place) -> Iterable[Draft]:
        kind, own = as_text(item.get("type")) or "message", as_text(item.get("id"))
        if own and f"{kind} {own}" in self.seen:
            self.notes.skip("repeated item")
            return ()
        if own:
            self.seen.add(f"{kind} {own}")
        if mark := fingerprint(item):
            self.told.append(mark)
        return self._of(kind, item, place)

    def _of(self, kind: str, item: Item, place: Place) -> Iterable[Draft]:
        if kind == "message":
            return self._message(item, place)
        if kind == "mcp_approval_request":
            self.calls[as_text(item.get("id"))] = call(*requested(item))
        elif kind == "mcp_approval_response":
            return (self._decided(item, place),)
        elif kind == "compaction":
            return (place.draft(Kind.SYSTEM, "Conversation compacted"),)
        elif kind == "reasoning":
            return self._thought(item, place)
        elif is_output(kind):
            return self._came(output_of(item), item, place)
        elif is_call(kind):
            return self._called(item, place)
        self.notes.skip(kind)
        return ()

    def _message(self, item: Item, place: Place) -> Iterable[Draft]:
        text, passed = text_in(item.get("content"))
        self._pass_over(passed)
        role = str(item.get("role"))
        if role == "user" and text.lstrip().startswith(_NOT_THE_USERS):
            return (place.draft(Kind.SYSTEM, text.strip(), is_meta=True),)
        if role == "user":
            return self.said([text], place) if text or not passed else ()
        if not text.strip():
            self.notes.skip("empty message")
            return ()
        return (place.draft(Kind.ASSISTANT if role == "assistant" else Kind.SYSTEM, text.strip()),)

    def _thought(self, item: Item, place: Place) -> Iterable[Draft]:
        thoughts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
        text = "\n\n".join(as_text(as_object(thought).get("text")) for thought in thoughts).strip()
        if text:
            return (place.draft(Kind.THINKING, text),)
        self.notes.skip("empty reasoning")
        return ()

    def _called(self, item: Item, place: Place) -> Iterator[Draft]:
        tool, given = requested(item)
        yield self.call(tool, given, call_id(item), place)
        if inside := result_inside(item):
            yield from self._came(inside, item, place, 1)

    def _came(self, came: Result, item: Item, place: Place, part: int = 0) -> Iterator[Draft]:
        self._pass_over(came.passed)
        if came.text or came.is_rejected or came.is_error or not came.passed:
            yield self.result(
                came.text,
                call_id(item),
                place,
                part,
                is_error=came.is_error,
                is_rejected=came.is_rejected,
            )

    def _decided(self, item: Item, place: Place) -> Draft:
        asked = as_text(item.get("approval_request_id"))
        made = self.calls.get(asked, UNKNOWN_CALL)
        if item.get("approve") is True:
            text = f"Approved {made.summary}"
        else:
            text = rejection(as_text(item.get("reason")), made)
        return place.draft(Kind.DECISION, text, tool=made.tool or None, call_id=asked or None)

    def _pass_over(self, reasons: Iterable[str]) -> None:
        for reason in reasons:
            self.notes.skip(reason)
