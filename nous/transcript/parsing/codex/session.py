"""What a file says of its session as a whole."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.model import Kind, Notes
from nous.transcript.parsing.codex.outputs import Output, output_of
from nous.transcript.parsing.codex.user_text import Piece, Sort, piece_of, plan_in, without_citations
from nous.transcript.parsing.conversation import UNKNOWN_CALL, AgentReading, call, rejection
from nous.transcript.parsing.values import as_count, as_object, as_text
from nous.transcript.reader import Draft, Place


@dataclass(slots=True)
class About:
    """Gathers the header. The first `session_meta` says whose file it is; others were copied with a history.

    Tokens are given as running sums, which begin anew where a session was taken up by a program that had forgotten.
    """

    is_introduced: bool = False
    is_sub_agents: bool = False
    is_asked: bool = True
    title: str = ""
    read: int = 0
    written: int = 0
    last_read: int = 0
    last_written: int = 0

    def introduce(self, meta: Mapping[str, Any], notes: Notes) -> bool:
        """Learn who is speaking where; False if another record has said that."""
        if self.is_introduced:
            return False
        self.is_introduced = True
        given = meta.get("source")
        source = as_object(given).get("subagent")
        self.is_sub_agents = source is not None or given == "subagent" or meta.get("thread_source") == "subagent"
        spawned = as_object(as_object(source).get("thread_spawn"))
        parent = as_text(spawned.get("parent_thread_id")) or as_text(meta.get("parent_thread_id"))
        git = as_object(meta.get("git"))
        notes.learn(
            session_id=as_text(meta.get("id")) or as_text(meta.get("session_id")),
            parent_session_id=parent,
            cwd=as_text(meta.get("cwd")),
            git_branch=as_text(git.get("branch")),
            git_commit=as_text(git.get("commit_hash")),
        )
        return True

    def settings(self, context: Mapping[str, Any], notes: Notes) -> None:
        """Learn with which model, and where; and whether the user is asked before something is done."""
        self.is_asked = context.get("approval_policy") != "never"
        notes.learn(cwd=as_text(context.get("cwd")), model=as_text(context.get("model")))

    def charge(self, usage: Mapping[str, Any]) -> None:
        """Count by how much the running sums have grown."""
        read, written = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
        if not (read or written):
            return
        if read < self.last_read or written < self.last_written:
            self.last_read = self.last_written = 0
        self.read += read - self.last_read
        self.written += written - self.last_written
        self.last_read, self.last_written = read, written

    def conclude(self, notes: Notes) -> None:
        """Learn what only the whole file tells."""
        notes.learn(title=self.title, input_tokens=self.read, output_tokens=self.written)


_MOST = 64


@dataclass(slots=True)
class Told:
    """Words without their white space, whose they are, and the ways in which they came so far."""

    who: str
    words: str
    ways: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Copies:
    """Knows what was told in this turn. The same words are a copy in another way, and said anew in the same way."""

    told: list[Told] = field(default_factory=list[Told])

    def is_copy(self, who: str, text: str, way: str) -> bool:
        """Whether *text* was told already; it is told now."""
        words = "".join(text.split())
        for known in reversed(self.told):
            if known.who == who and known.words == words and way not in known.ways:
                known.ways.append(way)
                return True
        self.told.append(Told(who, words, [way]))
        del self.told[:-_MOST]
        return False

    def forget(self) -> None:
        """A turn is over: what is said from here on is said anew."""
        self.told.clear()


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
