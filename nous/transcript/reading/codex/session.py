"""A conversation with Codex while it is read, whichever way its file tells it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.base import Draft, Place
from nous.transcript.model import Kind
from nous.transcript.reading.agent import AgentReading
from nous.transcript.reading.codex.about import About
from nous.transcript.reading.codex.copies import Copies
from nous.transcript.reading.codex.outputs import Output, output_of
from nous.transcript.reading.codex.words import Piece, Sort, piece_of, plan_in, without_citations
from nous.transcript.reading.results import UNKNOWN_CALL, call, rejection

RESPONSE = "response"
EVENT = "event"
ITEM = "item"
ENDING = "ending"


@dataclass(slots=True)
class CodexReading(AgentReading):
    """Tells everything once. A call is told by the conversation if it is there, else by the events around it.

    `made` are the calls of the conversation, `observed` those that only events told, and `failed` those of the first
    whose failure an event has told before their output comes. `is_interrupted` is whether the user's interruption of
    this turn is told, and `review` what the last review said.
    """

    about: About = field(default_factory=About)
    copies: Copies = field(default_factory=Copies)
    made: set[str] = field(default_factory=set[str])
    observed: set[str] = field(default_factory=set[str])
    failed: set[str] = field(default_factory=set[str])
    is_interrupted: bool = False
    review: str = ""

    def conclude(self) -> Iterable[Draft]:
        self.about.conclude(self.notes)
        return ()

    def user(self, texts: Sequence[str], way: str, place: Place) -> Iterator[Draft]:
        """What stands in the user's place. In the thread of a sub-agent it is the parent that speaks there."""
        pieces = [piece_of(text) for text in texts]
        own = [piece.text for piece in pieces if piece.sort is Sort.OWN]
        for draft in self.said(own, place) if own else ():
            is_prompt = draft.kind is Kind.USER
            if is_prompt and self.about.is_sub_agents:
                draft.kind = Kind.SUB_AGENT
            for told in self.once(draft, way):
                self.is_interrupted = self.is_interrupted and not is_prompt
                yield told
        for part, piece in enumerate(pieces, len(pieces)):
            if piece.sort is not Sort.OWN:
                yield from self._inserted(piece, way, place, part)

    def assistant(self, text: str, way: str, place: Place) -> Iterator[Draft]:
        """What the model said; a plan that it proposes comes by itself in other ways, so it does here."""
        words, plan = plan_in(without_citations(text))
        if words and self.review and words.startswith(self.review):
            self.notes.skip("repeated review")
            self.review = words = ""
        if words:
            yield from self.once(place.draft(Kind.ASSISTANT, words), way)
        if plan:
            yield from self.plan(plan, way, place, 1)
        if not text.strip():
            self.notes.skip("empty message")

    def plan(self, text: str, way: str, place: Place, part: int = 0) -> Iterable[Draft]:
        """The plan that the model proposes."""
        if not text.strip():
            self.notes.skip("empty message")
            return ()
        return self.once(place.draft(Kind.ASSISTANT, text.strip(), part), way, who="plan")

    def thoughts(self, texts: Sequence[str], way: str, place: Place) -> Iterator[Draft]:
        told = [text.strip() for text in texts if text.strip()]
        for part, text in enumerate(told):
            yield from self.once(place.draft(Kind.THINKING, text, part), way)
        if not told:
            self.notes.skip("empty reasoning")

    def interrupted(self, place: Place) -> Iterable[Draft]:
        """The user stopped the model. The call that it was at may have told that."""
        if self.is_interrupted:
            self.notes.skip("repeated interruption")
            return ()
        self.is_interrupted = True
        return (place.draft(Kind.DECISION, "Interrupted the turn"),)

    def once(self, draft: Draft, way: str, *, who: str = "") -> Iterable[Draft]:
        """*draft*, unless it was told in another way."""
        if self.copies.is_copy(who or draft.kind, draft.text, way):
            self.notes.skip("repeated message")
            return ()
        return (draft,)

    def came(self, output: Output, call_id: str, place: Place, part: int = 0, *, tool: str = "") -> Draft:
        """What came of the call *call_id*. A user who is never asked has rejected nothing."""
        for reason in output.hidden:
            self.notes.skip(reason)
        made = self.calls.get(call_id) or (call(tool, {}) if tool else UNKNOWN_CALL)
        failed = output.is_error or call_id in self.failed
        self.failed.discard(call_id)
        is_rejected = output.is_rejected and self.about.is_asked
        if not (is_rejected or output.is_aborted):
            failed = failed or output.is_rejected
            return self.result(output.text, call_id, place, part, is_error=failed, tool=tool)
        self.calls.pop(call_id, None)
        self.is_interrupted = self.is_interrupted or output.is_aborted
        text = f"Interrupted {made.summary}" if output.is_aborted else rejection("", made)
        return place.draft(Kind.DECISION, text, part, tool=made.tool or None, call_id=call_id or None)

    def observe_call(self, tool: str, given: Mapping[str, Any], call_id: str, place: Place) -> Iterator[Draft]:
        """An event says that a call begins."""
        if call_id in self.made or call_id in self.observed:
            self.notes.skip("repeated call")
            return
        if call_id:
            self.observed.add(call_id)
        yield self.call(tool, dict(given), call_id, place)

    def observe_end(
        self, tool: str, given: Mapping[str, Any], call_id: str, output: Output, place: Place
    ) -> Iterator[Draft]:
        """An event says that a call ended. If the conversation tells the call, only its failure is news."""
        if call_id in self.made:
            if output.is_error and call_id in self.calls:
                self.failed.add(call_id)
            self.notes.skip("repeated result")
            return
        if call_id and call_id in self.observed and call_id not in self.calls:
            self.notes.skip("repeated result")
            return
        if call_id not in self.calls:
            yield from self.observe_call(tool, given, call_id, place)
        yield self.came(output, call_id, place, 1, tool=tool)

    def _inserted(self, piece: Piece, way: str, place: Place, part: int) -> Iterator[Draft]:
        """What stands in the user's place and is not what the user wrote."""
        match piece.sort:
            case Sort.IMAGE:
                self.notes.skip("image")
            case Sort.SHELL:
                yield from self.shell(piece.text, output_of(piece.result), way, place, part)
            case Sort.ABORTED:
                yield from self.interrupted(place)
            case Sort.AGENT:
                yield from self.once(place.draft(Kind.SUB_AGENT, piece.text, part), way)
            case Sort.ANSWERS:
                yield from self.once(place.draft(Kind.DECISION, f"Answered: {piece.text}", part), way)
            case _:
                yield from self.once(place.draft(Kind.SYSTEM, piece.text, part, is_meta=True), way)

    def shell(self, command: str, output: Output, way: str, place: Place, part: int = 0) -> Iterator[Draft]:
        """A command that the user ran, and what it printed."""
        words = Kind.SUB_AGENT if self.about.is_sub_agents else Kind.USER
        for draft in self.once(place.draft(words, f"! {command}", part), way):
            yield draft
            if output.text.strip():
                yield self.came(output, "", place, part + 1)
