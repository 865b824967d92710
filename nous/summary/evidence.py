"""What a transcript shows of how a session went, before anybody judges it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nous.actions import Action, actions_of, part_that_tests, subject_of_commit, writes, written_files
from nous.language import words
from nous.summary.statements import Statement, is_courtesy, statements, statements_of
from nous.transcript.model import Entry, Kind, Transcript, Turn

_UNDOING = frozenset({Kind.DECISION, Kind.ERROR})
_FEWEST_CHAT_TURNS = 3
_FEWEST_WITH_FAREWELL = 2
_LONGEST_FAREWELL = 240
_WORDS_OF_HEADING = 3
_WORD = re.compile(r"[\w.-]{2,}")
_SUBSTANCE = 4
"""Words of a sentence that says something."""

_BALANCED = 4.0
"""How many times as much as the other each of two people talking says, at most."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """A command that ran tests in a turn, and whether its result was no error."""

    command: str
    turn: int
    passed: bool

    __test__ = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What stands for the requests of one turn, and the first heading of a document pasted with them.

    `is_wish` tells requests and questions from answers and other statements.
    """

    text: str
    is_wish: bool
    heading: str | None

    def __str__(self) -> str:
        return f"{self.text.rstrip(':')}: {self.heading}" if self.heading and self.text.endswith(":") else self.text


class Evidence:
    """One session, looked at from the sides that matter for its outcome. Each is worked out when it is first asked."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript

    @cached_property
    def said(self) -> Sequence[Statement]:
        return statements(self.transcript)

    @cached_property
    def requests(self) -> Sequence[Statement]:
        """Where the user asks for something: not greetings, thanks and bare agreement, and not the farewell."""
        asked = [one for one in self.said if one.speaker is Kind.USER and not is_courtesy(one.text)]
        return [one for one in asked if one.turn != self._farewell]

    @cached_property
    def asked(self) -> Sequence[Asked]:
        """What the user asked for, one sentence for each turn; what is asked again is told once, at its first time."""
        asked: dict[str, Asked] = {}
        for turn in sorted({request.turn for request in self.requests}):
            one = self._asked_in(turn)
            asked.setdefault(one.text, one)
        return list(asked.values())

    def _asked_in(self, turn: int) -> Asked:
        """The first sentence of *turn* that wishes something, or else the first of some substance."""
        said = [one for one in self.requests if one.turn == turn]
        headings = (one.text for one in said if one.is_heading and len(one.text.split()) >= _WORDS_OF_HEADING)
        telling = [one for one in said if len(one.text.split()) >= _SUBSTANCE] or said
        wish = next((one for one in telling if _is_wish(one)), None)
        return Asked(text=(wish or telling[0]).text, is_wish=wish is not None, heading=next(headings, None))

    @cached_property
    def _farewell(self) -> int | None:
        """The turn with the user's last words, if they only say thanks or goodbye."""
        prompts = [entry for entry in self.transcript if entry.kind is Kind.USER]
        if len(prompts) < _FEWEST_WITH_FAREWELL or "?" in prompts[-1].text:
            return None
        text, known = prompts[-1].text, words()
        is_farewell = len(text) <= _LONGEST_FAREWELL and (known.says("thanks", text) or known.says("goodbye", text))
        asks_more = known.says("handed_over", text) or known.says("wants_more", text)
        return prompts[-1].turn if is_farewell and not asks_more else None

    @cached_property
    def actions(self) -> Sequence[Action]:
        return list(actions_of(self.transcript).values())

    @cached_property
    def changes(self) -> Sequence[Entry]:
        """The calls that changed something and were neither rejected nor failed."""
        undone = {e.call_id for e in self.transcript if e.call_id and (e.kind in _UNDOING or e.is_error)}
        changing = (action.call for action in self.actions if writes(action))
        return [call for call in changing if not (call.call_id and call.call_id in undone)]

    @cached_property
    def files(self) -> Sequence[str]:
        """The files that were written to, in order of the first write."""
        return list(dict.fromkeys(path for action in self.actions for path in written_files(action)))

    @cached_property
    def commits(self) -> Sequence[tuple[str, int]]:
        """Subject and turn of each commit, said once."""
        told = ((subject_of_commit(action.command), action.call.turn) for action in reversed(self.actions))
        subjects = {subject: turn for subject, turn in told if subject}
        return list(reversed(subjects.items()))

    @cached_property
    def tests(self) -> Sequence[TestRun]:
        failed = {e.call_id for e in self.transcript if e.call_id and (e.kind is Kind.ERROR or e.is_error)}
        return [
            TestRun(command, action.call.turn, action.call.call_id not in failed)
            for action in self.actions
            if (command := part_that_tests(action.command))
        ]

    @cached_property
    def last_request(self) -> int:
        """The turn in which the user last asked for something."""
        return max((request.turn for request in self.requests), default=0)

    @cached_property
    def closing(self) -> Sequence[Statement]:
        """What the user said after the last request."""
        return [one for one in self.said if one.speaker is Kind.USER and one.turn > self.last_request]

    @cached_property
    def answer(self) -> Sequence[Statement]:
        """The agent's last words since the last request, mere politeness aside."""
        replies = [e for e in self.transcript if e.kind is Kind.ASSISTANT and e.turn >= self.last_request]
        spoken = [said for reply in reversed(replies) if (said := list(statements_of(reply)))]
        return next((said for said in spoken if not all(_is_polite(one) for one in said)), spoken[0] if spoken else ())

    @cached_property
    def reports(self) -> Sequence[Statement]:
        """For each turn, the most telling thing that the agent said was done by its end."""
        return [report for turn in self.transcript.turns if (report := _report(turn))]

    @cached_property
    def last(self) -> Entry | None:
        """The last entry that says anything about how it ended."""
        telling = (e for e in reversed(self.transcript.entries) if e.kind is not Kind.THINKING)
        return next((entry for entry in telling if entry.kind is not Kind.SYSTEM or _is_interruption(entry)), None)

    @cached_property
    def failed_last(self) -> Entry | None:
        """The last tool result of the last request, if it was an error."""
        results = [
            e for e in self.transcript if e.kind in {Kind.TOOL_RESULT, Kind.ERROR} and e.turn >= self.last_request
        ]
        return results[-1] if results and (results[-1].is_error or results[-1].kind is Kind.ERROR) else None

    @cached_property
    def is_interrupted(self) -> bool:
        """Whether the user broke it off: a stop, or a rejection to which nobody replied."""
        last = self.last
        return last is not None and (_is_rejection(last) or _is_interruption(last))

    @cached_property
    def is_conversation(self) -> bool:
        """Whether two people talk: no tools, turns of like size, and not one side asking and the other serving."""
        sizes = {
            kind: sum(len(e.text) for e in self.transcript if e.kind is kind) for kind in (Kind.USER, Kind.ASSISTANT)
        }
        if self.actions or not all(sizes.values()) or len(self.transcript.turns) < _FEWEST_CHAT_TURNS:
            return False
        if any(words().says("serves", one.text) for one in self.said if one.speaker is Kind.ASSISTANT):
            return False
        is_balanced = max(sizes.values()) <= _BALANCED * min(sizes.values())
        has_results = any(entry.kind is Kind.TOOL_RESULT for entry in self.transcript)
        return is_balanced and not has_results and "```" not in "".join(e.text for e in self.transcript)


def _is_rejection(entry: Entry) -> bool:
    return entry.kind is Kind.DECISION and entry.text.startswith("Rejected")


def _is_interruption(entry: Entry) -> bool:
    return entry.kind is Kind.SYSTEM and "interrupted by user" in entry.text


def says_done(one: Statement) -> bool:
    """Whether a statement says that something came to be; what is promised, refused or only possible does not count."""
    known = words()
    is_less = any(known.says(name, one.text) for name in ("undone", "about_to", "hedge"))
    is_less = is_less or known.opens("condition", one.text) or one.is_question
    return known.says("done", one.text) and not is_less


def _report(turn: Turn) -> Statement | None:
    for reply in reversed(turn.of(Kind.ASSISTANT)):
        done = [one for one in statements_of(reply) if says_done(one) and not words().says("formality", one.text)]
        if done:
            return next((one for one in done if len(one.text.split()) >= _SUBSTANCE), done[0])
    return None


def _is_wish(one: Statement) -> bool:
    """Whether a statement asks for something, and says for what."""
    known = words()
    terms = set(_WORD.findall(one.text.lower())) - known.sets["stopwords"] - known.sets["general"]
    return (bool(terms) and known.opens("wish", one.text)) or (len(terms) > 1 and one.is_question)


def _is_polite(one: Statement) -> bool:
    return is_courtesy(one.text) or words().says("offers_more", one.text)
