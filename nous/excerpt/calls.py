"""A run of tool calls as one line: each call in short, repeats counted, commits by their subject."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from nous.excerpt.file_names import Naming
from nous.excerpt.items import Item
from nous.excerpt.layout import Ledger
from nous.excerpt.spans import longest_closing, merged, most_added, shown_length
from nous.excerpt.tool_outputs import failure, looks_failed
from nous.text.sentences import Span
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_actions import Action, hands_over, pushes, subject_of_commit, writes
from nous.transcript.tool_summary import extract_tool_summary

FAILED, REJECTED, INTERRUPTED = "failed", "rejected", "interrupted"
_LONGEST_REASON = 100
_DECIDED = {"Rejected": REJECTED, "Interrupted": INTERRUPTED}
_ANSWERS = frozenset({Kind.TOOL_RESULT, Kind.DECISION, Kind.ERROR})


class Fate(NamedTuple):
    """What became of a call that came to nothing, and the answer that tells it."""

    what: str
    answer: Entry

    @property
    def reason(self) -> str:
        """Why it failed, in a few words; empty where that is not told."""
        if self.what != FAILED:
            return ""
        return failure(self.answer.text).partition("\n")[0][:_LONGEST_REASON].replace(" | ", " / ")


class Fates(NamedTuple):
    """The fate of each call that came to nothing, by its entry's id, and the ids of the entries that tell a failure."""

    of_calls: Mapping[str, Fate]
    failures: Collection[str]


def fates_of(transcript: Transcript) -> Fates:
    """What became of the calls of *transcript*.

    An answer belongs to the call that it names. Calls and answers that name none are matched in order, if as many
    answers follow some calls as there are calls; otherwise nobody knows which came to nothing.
    """
    fates: dict[str, Fate] = {}
    failures: set[str] = set()
    named: dict[str, str] = {}
    unnamed = _Unnamed(fates)
    for entry in transcript:
        kind = entry.kind
        if kind is Kind.TOOL_CALL:
            if entry.call_id:
                named[entry.call_id] = entry.id
            else:
                unnamed.called(entry)
        elif kind in _ANSWERS:
            what = _told_by(entry)
            if what == FAILED:
                failures.add(entry.id)
            if not entry.call_id:
                unnamed.answered(entry, what)
            elif call := named.get(entry.call_id):
                _settle(fates, call, what, entry)
        elif kind is Kind.USER or kind is Kind.ASSISTANT:
            unnamed.settle()
    unnamed.settle()
    return Fates(fates, failures)


class _Unnamed:
    """Calls without an id, and the answers that came after them."""

    def __init__(self, fates: dict[str, Fate]) -> None:
        self._fates = fates
        self._calls: list[Entry] = []
        self._answers: list[tuple[Entry, str]] = []

    def called(self, call: Entry) -> None:
        if self._answers:
            self.settle()
        self._calls.append(call)

    def answered(self, answer: Entry, what: str) -> None:
        """Take note of *answer*. Of no tool, a decision that refuses nothing answers no call, nor does an error."""
        kind = answer.kind
        if kind is Kind.TOOL_RESULT or answer.tool or (kind is Kind.DECISION and what):
            self._answers.append((answer, what))

    def settle(self) -> None:
        """Match what there is, tool by tool where the answers tell theirs, if any of them tells of no success."""
        calls, answers, self._calls, self._answers = self._calls, self._answers, [], []
        if not any(what for _, what in answers):
            return
        tools = {answer.tool for answer, _ in answers}
        for tool in [None] if None in tools else tools:
            of_tool = [call for call in calls if tool in {None, call.tool}]
            to_tool = [answered for answered in answers if tool in {None, answered[0].tool}]
            if len(of_tool) != len(to_tool):  # a decision and a result may answer the same call
                to_tool = [answered for answered in to_tool if answered[0].kind is not Kind.DECISION]
            if len(of_tool) == len(to_tool):
                for call, (answer, what) in zip(of_tool, to_tool, strict=True):
                    _settle(self._fates, call.id, what, answer)


def _settle(fates: dict[str, Fate], call: str, what: str, answer: Entry) -> None:
    """The last answer to *call* decides."""
    if what:
        fates[call] = Fate(what, answer)
    else:
        fates.pop(call, None)


def _told_by(answer: Entry) -> str:
    """What *answer* says that its call came to; empty if to something."""
    if answer.kind is Kind.DECISION:
        return next((what for said, what in _DECIDED.items() if answer.text.startswith(said)), "")
    return FAILED if answer.kind is Kind.ERROR or looks_failed(answer) else ""


BETWEEN_CALLS = " | "
LONGEST_CALL = 240
LONGEST_DEED = 400
_LONGEST_VALUE = 80
_SHORT_COMMAND = 40
_LONGEST_SUBJECT = 120
_DEEPEST = 12


class Line(NamedTuple):
    """A line of calls. `parts` are its calls, each with what parts it from the next; `deeds` are those that are deeds.

    A *deed* is a call that changed something outside of the files: a commit, a booking, a message that was sent.
    """

    text: str
    parts: tuple[Span, ...]
    deeds: tuple[Span, ...]


def line_of_calls(run: Sequence[Action], naming: Naming, fates: Mapping[str, Fate]) -> Line:
    """The calls of *run* in order of their first use; empty if none of them is worth a word.

    A call that came to nothing, of which *fates* knows by its id, says so, and what would have been a deed says why. It
    is no deed, but for a commit, of whose command another part may have failed.
    """
    times: dict[str, int] = {}
    deeds: set[str] = set()
    for action in run:
        call, _, command, paths = action
        commit = subject_of_commit(command) if command else None
        is_deed = commit is not None if command else not paths and (writes(action) or hands_over(action))
        brief = _commit(commit, command) if commit else brief_call(action, is_deed=is_deed)
        if brief := naming.brief(brief if brief.isprintable() else " ".join(brief.split()), paths):
            if fate := fates.get(call.id):
                why = f": {reason}" if is_deed and (reason := fate.reason) else ""
                brief, is_deed = f"{brief} ({fate.what}{why})", is_deed and commit is not None
            times[brief] = times.get(brief, 0) + 1
            if is_deed:
                deeds.add(brief)
    pieces = [f"{brief} x{count}" if count > 1 else brief for brief, count in times.items()]
    spans = _spans(pieces)
    of_deeds = (span for brief, span in zip(times, spans, strict=True) if brief in deeds) if deeds else ()
    return Line(BETWEEN_CALLS.join(pieces), tuple(spans), tuple(of_deeds))


def _commit(subject: str, command: str) -> str:
    pushed = f" + {push}" if (push := pushes(command)) else ""
    return f'git commit "{subject[:_LONGEST_SUBJECT]}"{pushed}'


def _spans(pieces: Sequence[str]) -> list[Span]:
    """Where each of *pieces* stands in the line, with what parts it from the next."""
    spans: list[Span] = []
    begun = 0
    for piece in pieces:
        end = begun + len(piece) + len(BETWEEN_CALLS)
        spans.append((begun, end))
        begun = end
    if spans:
        spans[-1] = spans[-1][0], begun - len(BETWEEN_CALLS)
    return spans


def brief_call(action: Action, *, is_deed: bool) -> str:
    """One call in at most `LONGEST_CALL` characters, a deed in `LONGEST_DEED`; none of its paths is ever cut."""
    call, _, command, paths = action
    given = call.tool_input or {}
    if command and (purpose := given.get("description")) and isinstance(purpose, str):
        return _command_for(purpose, command, call)
    summary = extract_tool_summary(call.tool, given, paths) if call.tool and given else _as_written(call)
    if given and summary == call.tool:
        summary = f"{call.tool}({', '.join(_arguments(given, LONGEST_DEED if is_deed else _LONGEST_VALUE))})"
    most = LONGEST_DEED if is_deed else LONGEST_CALL
    return summary if len(summary) <= most or paths else f"{summary[: most - 3]}..."


def _as_written(call: Entry) -> str:
    """A call of which only the text is known. One without input says no more than its tool does."""
    text = " ".join(call.text.split())
    return text if not call.tool or f"{call.tool}(" in text else extract_tool_summary(call.tool)


def _command_for(purpose: str, command: str, call: Entry) -> str:
    """A command by what it is for, and itself if it is short: purpose and command mostly tell the same twice."""
    purpose = " ".join(purpose.split())[:_LONGEST_VALUE]
    return f"{call.tool}({purpose}: {command})" if _is_short(command) else f"{call.tool}({purpose})"


def _is_short(command: str) -> bool:
    return len(command) <= _SHORT_COMMAND and "\n" not in command


def _arguments(given: Mapping[str, Any], most: int) -> Iterator[str]:
    for name, value in given.items():
        shown = " ".join(" ".join(_leaves(value)).split())
        yield f"{name}={shown if len(shown) <= most else f'{shown[: most - 3]}...'}"


def _leaves(value: object, depth: int = 0) -> Iterator[str]:
    """What a nested argument says, without the names: `[{"flight": "HAT1", "seats": 2}]` says `HAT1 2`."""
    if depth > _DEEPEST:
        yield "..."
    elif isinstance(value, Mapping):
        for inner in cast("Mapping[str, object]", value).values():
            yield from _leaves(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[object]", value):
            yield from _leaves(inner, depth + 1)
    else:
        yield str(value)


_LEAST = 16
_LONG = 20_000
"""From so many characters on, measuring exactly for each deed would take too long."""

Deed = tuple[int, Span]
"""A deed: the position of its item, and where it stands in that."""


def deeds_in(items: Sequence[Item], *, but: Collection[int]) -> list[Deed]:
    """The deeds of *items*, the last first, without those of the items at *but*."""
    return [
        (index, deed)
        for index in range(len(items) - 1, -1, -1)
        if items[index].deeds and index not in but
        for deed in reversed(items[index].deeds)
    ]


def take_deeds(items: Sequence[Item], deeds: Sequence[Deed], ledger: Ledger, most: int) -> dict[int, tuple[Span, ...]]:
    """Those of *deeds* that *most* characters hold, the first first, by item; *ledger* takes them."""
    limit = ledger.spent + most
    taken: dict[int, tuple[Span, ...]] = {}
    closing: dict[int, int] = {}
    for index, deed in deeds:
        if limit - ledger.spent < _LEAST:
            break
        before = taken.get(index, ())
        spans = merged((*before, deed))
        if index not in closing:
            closing[index] = longest_closing(items[index].text)
        more = _more(items[index].text, before, spans, deed, closing=closing[index])
        if ledger.spent + ledger.cost(index, more) <= limit:
            ledger.take(index, more)
            taken[index] = spans
    return taken


def _more(text: str, before: tuple[Span, ...], after: tuple[Span, ...], deed: Span, *, closing: int) -> int:
    """How many characters more it takes to show *after* than *before*; of a long text, at most how many."""
    if len(text) > _LONG:
        return most_added(text, deed, closing=closing, to_nothing=not before)
    return shown_length(text, after) - (shown_length(text, before) if before else 0)


def are_all(deeds: Sequence[Deed], taken: dict[int, tuple[Span, ...]]) -> bool:
    """Whether each of *deeds* is among what was *taken*."""
    return all(any(start <= deed[0] and deed[1] <= end for start, end in taken.get(index, ())) for index, deed in deeds)
