"""What a transcript shows of how a session went, before anybody judges it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from nous.actions import Action, actions_of, part_that_tests, subject_of_commit, writes, written_files
from nous.language import words
from nous.summary.changed import Changed
from nous.summary.lessons import LONGEST, SHORTEST_OF_USER, is_lesson
from nous.summary.results import has_committed, has_passed, is_undone, paired
from nous.summary.statements import (
    SPOKEN,
    SUBSTANCE,
    Asked,
    Statement,
    asked_in,
    deeds,
    is_courtesy,
    is_polite,
    refused,
    says_done,
    statements_of,
    terms,
)
from nous.summary.talk import is_talk
from nous.summary.voices import own_words
from nous.transcript.model import Entry, Kind, Transcript

_INTERRUPTED = "interrupted by user"
_FEWEST_WITH_FAREWELL = 2
_LONGEST_FAREWELL = 240
_TERMS_TAKEN_UP = 2
"""How many words of what was put off the user has to use again for it to have been taken up."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """A command that ran tests in a turn, at a place of the transcript, and whether its result was no error."""

    command: str
    turn: int
    place: int
    passed: bool

    __test__ = False


class Evidence:
    """One session, looked at from the sides that matter for its outcome. Each is worked out when it is first asked."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript

    @cached_property
    def spoken(self) -> Sequence[tuple[Entry, Sequence[Statement]]]:
        """What each entry says in words, in order. Code, tables and tool output are left out."""
        numbered = ((place, entry) for place, entry in enumerate(self.transcript) if entry.kind in SPOKEN)
        return [(entry, tuple(statements_of(entry, place))) for place, entry in numbered]

    @cached_property
    def said(self) -> Sequence[Statement]:
        return [one for _, said in self.spoken for one in said]

    @cached_property
    def said_in(self) -> Mapping[int, Sequence[Statement]]:
        """What was said in each turn, by whomever."""
        return {turn: list(said) for turn, said in groupby(self.said, key=lambda one: one.turn)}

    @cached_property
    def own_words(self) -> Sequence[Statement]:
        """What the user says in their own name: not what they quote, play, or have worked on as a text."""
        return list(own_words([one for one in self.said if one.speaker is Kind.USER and not one.is_quoted]))

    @cached_property
    def stated(self) -> Sequence[Statement]:
        """What of that is a sentence that can stand alone."""
        said = (one for one in self.own_words if SHORTEST_OF_USER <= len(one.text) <= LONGEST)
        return [one for one in said if not (one.is_question or is_courtesy(one.text))]

    @cached_property
    def taught(self) -> Sequence[Statement]:
        """What of it teaches something."""
        return [one for one in self.said if is_lesson(one)]

    @cached_property
    def requests(self) -> Sequence[Statement]:
        """Where the user asks for something: no greeting, thanks, agreement or farewell, nor what a program reports."""
        asked = [one for one in self.said if one.speaker is Kind.USER and not is_courtesy(one.text)]
        return [one for one in asked if one.turn != self._farewell and _INTERRUPTED not in one.text]

    @cached_property
    def asked(self) -> Sequence[Asked]:
        """What the user asked for, one sentence for each turn; what is asked again is told once, at its first time."""
        asked: dict[str, Asked] = {}
        for _, said in groupby(self.requests, key=lambda one: one.turn):
            one = asked_in(list(said))
            asked.setdefault(one.text, one)
        return list(asked.values())

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
    def results(self) -> Mapping[str, Entry]:
        """What came of each call, by the id of its entry; of several entries, the one that undid it.

        That it was approved does not say what came of it.
        """
        return paired(self.transcript)

    @cached_property
    def _done(self) -> Sequence[Action]:
        """What was neither rejected nor failed."""
        return [action for action in self.actions if not is_undone(self.results.get(action.call.id))]

    @cached_property
    def changes(self) -> Sequence[Entry]:
        """The calls that changed something and were neither rejected nor failed."""
        return [action.call for action in self._done if writes(action)]

    @cached_property
    def changed(self) -> Changed:
        """What those changed, by names."""
        return Changed([(self._places[action.call.id], action) for action in self._done])

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {entry.id: place for place, entry in enumerate(self.transcript)}

    def works_after(self, place: int) -> bool:
        """Whether something was changed or committed after *place*, or tests passed."""
        return self._last_work > place

    @cached_property
    def _last_work(self) -> int:
        ran = ((place, action) for place, action in self.changed.actions)
        works = (place for place, action in ran if writes(action) or subject_of_commit(action.command))
        return max(works, default=-1)

    @cached_property
    def begins(self) -> Mapping[int, int]:
        """The place at which each turn begins."""
        places = ((entry.turn, place) for place, entry in enumerate(self.transcript))
        return dict(reversed(list(places)))

    @cached_property
    def failed_changes(self) -> Sequence[Entry]:
        """The last call of each tool that would have changed something, where that was rejected or failed."""
        last = {action.call.tool: action.call for action in self.actions if writes(action)}
        return [call for call in last.values() if is_undone(self.results.get(call.id))]

    @cached_property
    def files(self) -> Sequence[str]:
        """The files that were written to, in order of the first write."""
        return list(dict.fromkeys(path for action in self.actions for path in written_files(action)))

    @cached_property
    def commits(self) -> Sequence[tuple[str, int]]:
        """Subject and turn of each commit that was made, said once."""
        made = [action for action in self.actions if has_committed(self.results.get(action.call.id))]
        told = ((subject_of_commit(action.command), action.call.turn) for action in reversed(made))
        subjects = {subject: turn for subject, turn in told if subject}
        return list(reversed(subjects.items()))

    @cached_property
    def tests(self) -> Sequence[TestRun]:
        """The test runs that the user let run."""
        ran = [(action, self.results.get(action.call.id)) for action in self.actions]
        return [
            TestRun(command, action.call.turn, self._places[action.call.id], has_passed(result))
            for action, result in ran
            if (command := part_that_tests(action.command)) and not (result and result.kind is Kind.DECISION)
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
        replies = [said for e, said in self.spoken if e.kind is Kind.ASSISTANT and e.turn >= self.last_request and said]
        telling = (said for said in reversed(replies) if not all(is_polite(one) for one in said))
        return next(telling, replies[-1] if replies else ())

    @cached_property
    def reports(self) -> Sequence[Statement]:
        """For each turn, the most telling thing that the agent said was done by its end."""
        replies = [(entry.turn, said) for entry, said in self.spoken if entry.kind is Kind.ASSISTANT]
        by_turn = (([said for _, said in turn]) for _, turn in groupby(replies, key=lambda reply: reply[0]))
        return [report for turn in by_turn if (report := _report(turn))]

    @cached_property
    def put_off(self) -> Sequence[Statement]:
        """What the agent said was left for later, or out, and the user did not take up again."""
        known = words()
        told = [one for one in self.said if one.speaker is Kind.ASSISTANT and known.says("put_off", one.text)]
        asked = {term: one.turn for one in self.requests for term in terms(one.text)}
        return [one for one in told if not (one.is_question or known.says("hedge", one.text) or _later(one, asked))]

    @cached_property
    def is_service(self) -> bool:
        """Whether an agent serves somebody by calls of its own tools: no files, no command lines, no mere talk."""
        is_work = self.files or any(action.command for action in self.actions)
        return self._says_it_serves and not (is_work or self.is_conversation)

    @cached_property
    def _says_it_serves(self) -> bool:
        return any(words().says("serves", one.text) for one in self.said if one.speaker is Kind.ASSISTANT)

    @cached_property
    def refusals(self) -> Sequence[Statement]:
        """Where a service said that it cannot do a thing, and did nothing of that kind later."""
        if not self.is_service:
            return ()
        done = {deed: call.turn for call in self.changes for deed in deeds(call.tool or call.text)}
        for one in (one for one in self.said if one.speaker is Kind.ASSISTANT and says_done(one)):
            done.update((deed, one.turn) for deed in deeds(one.text))
        told = [one for _, said in self.spoken for one in refused(said)]
        latest = max(done.values(), default=-1)
        return [
            one for one in told if max((done.get(deed, -1) for deed in deeds(one.text)), default=latest) <= one.turn
        ]

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
        """Whether two people talk, and nobody serves or works."""
        return not self.actions and not self._says_it_serves and is_talk(self.transcript)

    def has_passed_since(self, announced: Statement) -> bool:
        """Whether tests passed after what was *announced*; some formats tell what a turn said after its calls."""
        last = self.tests[-1] if self.tests else None
        if last is None or not last.passed:
            return False
        is_last_of_turn = last.turn == announced.turn and not self.works_after(last.place)
        return last.place > announced.place or (is_last_of_turn and "test" in announced.text)


def _is_rejection(entry: Entry) -> bool:
    return entry.kind is Kind.DECISION and entry.text.startswith("Rejected")


def _is_interruption(entry: Entry) -> bool:
    return entry.kind is Kind.SYSTEM and _INTERRUPTED in entry.text


def _report(replies: Sequence[Sequence[Statement]]) -> Statement | None:
    for said in reversed(replies):
        done = [one for one in said if says_done(one) and not words().says("formality", one.text)]
        if done:
            return next((one for one in done if len(one.text.split()) >= SUBSTANCE), done[0])
    return None


def _later(one: Statement, asked: Mapping[str, int]) -> bool:
    """Whether the user's requests come back to a statement; *asked* has the last turn of each of their words."""
    return sum(asked.get(term, -1) > one.turn for term in terms(one.text)) >= _TERMS_TAKEN_UP
