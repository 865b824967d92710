"""Codex session state: header values, and deduplication of repeated messages and calls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nous.transcript.model import Kind, ReadNotes
from nous.transcript.parsing.codex.outputs import Output, output_of
from nous.transcript.parsing.codex.user_text import MessagePiece, Sort, piece_of, plan_in, without_citations
from nous.transcript.parsing.conversation import UNKNOWN_CALL, AgentReading, call, rejection
from nous.transcript.parsing.values import as_count, as_object, as_text
from nous.transcript.reader import Draft, RecordPlace


@dataclass(slots=True)
class CodexSessionInfo:
    """Collects the session header.

    The first `session_meta` names the session of the file. Later ones were copied along with a history. Token counts in
    the file are running sums. They restart at zero where another process without the earlier counts resumed the
    session.
    """

    is_introduced: bool = False
    is_sub_agents: bool = False
    is_asked: bool = True
    title: str = ""
    read: int = 0
    written: int = 0
    last_read: int = 0
    last_written: int = 0

    def introduce(self, meta: Mapping[str, Any], notes: ReadNotes) -> bool:
        """Learn the session, directory and commit; False if an earlier record gave them."""
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

    def settings(self, context: Mapping[str, Any], notes: ReadNotes) -> None:
        """Learn the model, the directory, and whether the user is asked for approval."""
        self.is_asked = context.get("approval_policy") != "never"
        notes.learn(cwd=as_text(context.get("cwd")), model=as_text(context.get("model")))

    def charge(self, usage: Mapping[str, Any]) -> None:
        """Add the growth of the running token sums."""
        read, written = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
        if not (read or written):
            return
        if read < self.last_read or written < self.last_written:
            self.last_read = self.last_written = 0
        self.read += read - self.last_read
        self.written += written - self.last_written
        self.last_read, self.last_written = read, written

    def conclude(self, notes: ReadNotes) -> None:
        """Learn the title and the token totals, which need the whole file."""
        notes.learn(title=self.title, input_tokens=self.read, output_tokens=self.written)


_MOST = 64


@dataclass(slots=True)
class CopyKind:
    """Author and words (without white space) of a message, and the channels it came by so far."""

    who: str
    words: str
    ways: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Copies:
    """Deduplicates messages within a turn.

    The same words from another channel are a copy. From the same channel they are said again.
    """

    emitted: list[CopyKind] = field(default_factory=list[CopyKind])

    def is_copy(self, who: str, text: str, way: str) -> bool:
        """Return whether *text* is a copy; otherwise remember it."""
        words = "".join(text.split())
        for known in reversed(self.emitted):
            if known.who == who and known.words == words and way not in known.ways:
                known.ways.append(way)
                return True
        self.emitted.append(CopyKind(who, words, [way]))
        del self.emitted[:-_MOST]
        return False

    def forget(self) -> None:
        """Forget all messages at the end of a turn, since the next one may repeat words."""
        self.emitted.clear()


RESPONSE = "response"
EVENT = "event"
ITEM = "item"
ENDING = "ending"


@dataclass(slots=True)
class CodexReading(AgentReading):
    """Emits each message and call once, though the file repeats them.

    A call comes from the conversation if it is there, else from the events around it. `made` are calls from the
    conversation. `observed` are calls known from events only. `failed` are calls in `made` for which an event reported
    a failure before their output. `is_interrupted`: the user's interruption of this turn is already emitted. `review`
    is the text of the last review.
    """

    about: CodexSessionInfo = field(default_factory=CodexSessionInfo)
    copies: Copies = field(default_factory=Copies)
    made: set[str] = field(default_factory=set[str])
    observed: set[str] = field(default_factory=set[str])
    failed: set[str] = field(default_factory=set[str])
    is_interrupted: bool = False
    review: str = ""

    def conclude(self) -> Iterable[Draft]:
        self.about.conclude(self.notes)
        return ()

    def user(self, texts: Sequence[str], way: str, place: RecordPlace) -> Iterator[Draft]:
        """Yield drafts of a user message.

        In the thread of a sub-agent the parent agent wrote it.
        """
        pieces = [piece_of(text) for text in texts]
        own = [piece.text for piece in pieces if piece.sort is Sort.OWN]
        for draft in self.said(own, place) if own else ():
            is_prompt = draft.kind is Kind.USER
            if is_prompt and self.about.is_sub_agents:
                draft.kind = Kind.SUB_AGENT
            for new in self.once(draft, way):
                self.is_interrupted = self.is_interrupted and not is_prompt
                yield new
        for part, piece in enumerate(pieces, len(pieces)):
            if piece.sort is not Sort.OWN:
                yield from self._inserted(piece, way, place, part)

    def assistant(self, text: str, way: str, place: RecordPlace) -> Iterator[Draft]:
        """Yield drafts of an answer of the model.

        A plan that it proposes becomes a separate draft, because other channels carry the plan alone.
        """
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

    def plan(self, text: str, way: str, place: RecordPlace, part: int = 0) -> Iterable[Draft]:
        """Return the draft of a plan that the model proposes."""
        if not text.strip():
            self.notes.skip("empty message")
            return ()
        return self.once(place.draft(Kind.ASSISTANT, text.strip(), part), way, who="plan")

    def thoughts(self, texts: Sequence[str], way: str, place: RecordPlace) -> Iterator[Draft]:
        thoughts = [text.strip() for text in texts if text.strip()]
        for part, text in enumerate(thoughts):
            yield from self.once(place.draft(Kind.THINKING, text, part), way)
        if not thoughts:
            self.notes.skip("empty reasoning")

    def interrupted(self, place: RecordPlace) -> Iterable[Draft]:
        """Return the user's interruption, unless an interrupted call has already reported it."""
        if self.is_interrupted:
            self.notes.skip("repeated interruption")
            return ()
        self.is_interrupted = True
        return (place.draft(Kind.DECISION, "Interrupted the turn"),)

    def once(self, draft: Draft, way: str, *, who: str = "") -> Iterable[Draft]:
        """Return *draft*, unless it is a copy from another channel."""
        if self.copies.is_copy(who or draft.kind, draft.text, way):
            self.notes.skip("repeated message")
            return ()
        return (draft,)

    def came(self, output: Output, call_id: str, place: RecordPlace, part: int = 0, *, tool: str = "") -> Draft:
        """Return the draft for the result of the call *call_id*.

        A rejection counts as a failure if the user is never asked for approval.
        """
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

    def observe_call(self, tool: str, given: Mapping[str, Any], call_id: str, place: RecordPlace) -> Iterator[Draft]:
        """Yield the call whose start an event reports, unless it is already emitted."""
        if call_id in self.made or call_id in self.observed:
            self.notes.skip("repeated call")
            return
        if call_id:
            self.observed.add(call_id)
        yield self.call(tool, dict(given), call_id, place)

    def observe_end(
        self, tool: str, given: Mapping[str, Any], call_id: str, output: Output, place: RecordPlace
    ) -> Iterator[Draft]:
        """Yield the result of a call whose end an event reports.

        If the conversation holds the call, only its failure is recorded.
        """
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

    def _inserted(self, piece: MessagePiece, way: str, place: RecordPlace, part: int) -> Iterator[Draft]:
        """Yield drafts of parts of a user message that the user did not write."""
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

    def shell(self, command: str, output: Output, way: str, place: RecordPlace, part: int = 0) -> Iterator[Draft]:
        """Yield a command that the user ran, and its output."""
        words = Kind.SUB_AGENT if self.about.is_sub_agents else Kind.USER
        for draft in self.once(place.draft(words, f"! {command}", part), way):
            yield draft
            if output.text.strip():
                yield self.came(output, "", place, part + 1)
