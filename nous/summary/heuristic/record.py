"""Session record of a transcript: turns, tool calls, files, commits, test and build runs."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, partial

from nous.summary.heuristic.sentences import Sentence, is_courtesy, is_farewell, sentences_of
from nous.text.language import patterns, tables, words
from nous.transcript.model import Entry, Kind, Transcript
from nous.transcript.tool_actions import Action, actions_of, subject_of_commit, taken_away_by, writes, written_files


class Purpose(StrEnum):
    TEST = "test"
    BUILD = "build"
    LINT = "lint"
    FORMAT = "format"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """One run of a command in a directory; not `is_whole` if it selects some tests or files."""

    purpose: Purpose
    command: str
    directory: str
    turn: int
    place: int
    passed: bool
    is_whole: bool


_TABLES = tables("nous.summary.heuristic", "patterns")
_PATTERNS = patterns("nous.summary.heuristic", "patterns", "commands")
_KNOWN = {
    Purpose(name): re.compile(
        "".join(pieces).replace("{runner}", _TABLES["runner"]).replace("{wrapped}", _TABLES["wrapped"])
    )
    for name, pieces in _TABLES["known"].items()
}
_LEAD = re.compile(r"(?:(?:[A-Z_][A-Z0-9_]*=\S*|sudo|time|command|timeout(?: -\S+)* \S+)\s+)*")
_PART = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_REDIRECTED = re.compile(r"\s*(?:\d?>&?|&>|<|\|).*|\s+--?\s*\Z", re.DOTALL)
_CHANGE_DIRECTORY = re.compile(r"cd\s+(['\"]?)([^'\"\s]+)\1\Z")
_READ = 10_000  # characters of a command line; a longer one writes a file
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?.*?\n\1\b", re.DOTALL)
_MANNER = _PATTERNS["manner"]
_PICKS = _PATTERNS["picks"]
_FAILED = _PATTERNS["failed"]
_NOTHING_RAN = _PATTERNS["nothing_ran"]
_SOMETHING_RAN = _PATTERNS["something_ran"]
_VERDICT_CHARS = 4_000  # characters at the end of a result in which its verdict is looked for
_RESULTS = frozenset({Kind.TOOL_RESULT, Kind.ERROR, Kind.DECISION})


def results_by_call(transcript: Transcript) -> Mapping[str, Entry]:
    """Return the result of each call by the id of its entry; the latest call of an id counts."""
    calls: dict[str, str] = {}
    results: dict[str, Entry] = {}
    for entry in transcript:
        if entry.kind is Kind.TOOL_CALL and entry.call_id:
            calls[entry.call_id] = entry.id
        elif entry.kind in _RESULTS and not entry.text.startswith("Approved"):
            call = calls.get(entry.call_id or "")
            if call and (call not in results or is_undone(entry)):
                results[call] = entry
    return results


def is_undone(result: Entry | None) -> bool:
    """Return whether a call with that *result* was rejected, or failed."""
    return result is not None and (result.kind in {Kind.DECISION, Kind.ERROR} or result.is_error)


def has_passed(result: Entry) -> bool:
    """Return whether a command with that *result* passed; a test run without tests did not."""
    ending = result.text[-_VERDICT_CHARS:]
    is_idle = _NOTHING_RAN.search(ending) and not _SOMETHING_RAN.search(ending)
    return not (is_undone(result) or is_idle or _FAILED.search(ending))


def runs_of(action: Action, result: Entry | None, place: int, home: str) -> Iterator[CommandRun]:
    """Yield the known runs in a command line; without a result, or rejected, nothing ran.

    None is known to have failed if the line did, shows no failure of theirs, and ends with something else.
    """
    if not action.command or result is None or result.kind is Kind.DECISION:
        return
    passed = has_passed(result)
    run = partial(CommandRun, turn=action.call.turn, place=place, passed=passed)
    found, purpose, directory = list[CommandRun](), None, ""
    for part in filter(str.strip, _PART.split(_HEREDOC.sub("", action.command[:_READ]))):
        if moved := _CHANGE_DIRECTORY.match(part.strip()):
            directory = _below(moved[2], home)
            continue
        command = " ".join(_REDIRECTED.sub("", _LEAD.sub("", part.strip(), count=1)).split())
        command = _MANNER.sub("", command).removesuffix(" --")
        purpose = next((purpose for purpose, known in _KNOWN.items() if known.match(command)), None)
        if purpose:
            is_whole = not _PICKS.search(command)
            found.append(run(purpose=purpose, command=command, directory=directory, is_whole=is_whole))
    if passed or purpose or _FAILED.search(result.text[-_VERDICT_CHARS:]):
        yield from found


def usual(runs: Sequence[CommandRun]) -> list[CommandRun]:
    """Return the run of each purpose and directory that passed most often, the latest of equals."""
    chosen: dict[tuple[Purpose, str], CommandRun] = {}
    whole = [run for run in runs if run.passed and run.is_whole]
    counts = Counter((run.purpose, run.directory, run.command) for run in whole)
    for run in whole:
        key = (run.purpose, run.directory)
        best = chosen.get(key)
        if best is None or counts[(*key, run.command)] >= counts[(*key, best.command)]:
            chosen[key] = run
    return list(chosen.values())


def _below(directory: str, home: str) -> str:
    path, base = directory.rstrip("/"), home.rstrip("/")
    if base and (path == base or path.startswith(f"{base}/")):
        return path[len(base) + 1 :]
    return "" if path in {".", "~"} else path


_HOOK = "Operation stopped by hook"  # begins the text of a hook behind the user's words

_INJECTED = re.compile(
    r"\A\s*(?:\[Request interrupted|Caveat: |<(?:local-command|command-|system-reminder|"
    r"task-notification|bash-)|\{\"type\"|Stop hook feedback)"
)
"""Text that a program wrote in the user's place."""

_SLASH_COMMAND = re.compile(r"/[\w:-]+")
_TAGGED = re.compile(r"\A\s*<(teammate-message|user_query|task)\b[^>]*>\s*(.*?)\s*(?:</\1>|\Z)", re.DOTALL)
_PROTOCOL = re.compile(r"\A\{.*?\"subject\":\"([^\"]{8,200})\"", re.DOTALL)
_LONGEST_FAREWELL = 240
_INTERRUPTED = "interrupted by user"
_PREFIX = re.compile(r"\A(?:[a-z]+(?:\([^)]*\))?!?|[A-Z]{2,}-\d+): (?=\S)")


@dataclass(slots=True)
class RecordedTurn:
    """One user prompt, and the agent's response to it.

    `asked` are the user's own sentences, `brief` those of a long or forwarded text, `report` the sentences of the
    agent's last message, `said` all sentences of the agent, `decisions` the user's approvals, answers and rejections.
    `is_interim` means that calls follow the last message, so that it may have been written while the agent was still
    looking.
    """

    number: int
    asked: tuple[Sentence, ...] = ()
    brief: tuple[Sentence, ...] = ()
    report: tuple[Sentence, ...] = ()
    said: list[Sentence] = field(default_factory=list[Sentence])
    decisions: list[Entry] = field(default_factory=list[Entry])
    changes: int = 0
    is_interim: bool = False

    @property
    def is_question(self) -> bool:
        """Return whether the user asks something: a question, and no polite order."""
        return any(one.is_question and not words().opens("order", one.text) for one in self.asked)

    @property
    def is_farewell(self) -> bool:
        """Return whether the user only thanks, praises or takes leave."""
        text = " ".join(one.text for one in self.asked)
        return len(text) <= _LONGEST_FAREWELL and is_farewell(text) and not self.brief and not self.changes


class SessionRecord:
    """The record of a session, read from its transcript; each part is computed on first use."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.entries: Sequence[Entry] = transcript.entries

    @cached_property
    def actions(self) -> Sequence[tuple[int, Action]]:
        found = actions_of(self.transcript)
        return [(place, found[entry.id]) for place, entry in enumerate(self.entries) if entry.id in found]

    @cached_property
    def results(self) -> Mapping[str, Entry]:
        return results_by_call(self.transcript)

    @cached_property
    def done(self) -> Sequence[tuple[int, Action]]:
        """The calls that were neither rejected nor failed."""
        return [(place, each) for place, each in self.actions if not is_undone(self.results.get(each.call.id))]

    @cached_property
    def changes(self) -> Sequence[tuple[int, Action]]:
        """The calls of `done` that changed something outside of the conversation."""
        return [(place, each) for place, each in self.done if writes(each)]

    @cached_property
    def files(self) -> Sequence[str]:
        return list(dict.fromkeys(path for _, action in self.done for path in written_files(action)))

    @cached_property
    def files_left(self) -> Sequence[str]:
        """The `files` that no later command removed, without the agent's own plans."""
        gone = [path for _, action in self.done for path in taken_away_by(action.command)]
        left = [file for file in self.files if not any(file.endswith(path) or path.endswith(file) for path in gone)]
        return [file for file in left if "/.claude/" not in file]

    @cached_property
    def commits(self) -> Sequence[tuple[str, int]]:
        """Subject and turn of each commit that was made, without its type, each once."""
        found: dict[str, int] = {}
        for _, action in self.actions:
            subject = subject_of_commit(action.command)
            if subject and not is_undone(self.results.get(action.call.id)):
                found[_PREFIX.sub("", subject)] = action.call.turn
        return list(found.items())

    @cached_property
    def runs(self) -> Sequence[CommandRun]:
        home = self.transcript.header.cwd or ""
        return [
            run
            for place, action in self.actions
            for run in runs_of(action, self.results.get(action.call.id), place, home)
        ]

    @cached_property
    def turns(self) -> Sequence[RecordedTurn]:
        """The turns in order; entries before the first prompt are turn 0."""
        turns: dict[int, RecordedTurn] = {}
        for place, entry in enumerate(self.entries):
            turn = turns.setdefault(entry.turn, RecordedTurn(entry.turn))
            if entry.kind is Kind.USER:
                own, brief = _user_sentences(entry, place)
                turn.asked, turn.brief = (*turn.asked, *own), (*turn.brief, *brief)
            elif entry.kind is Kind.ASSISTANT:
                if said := sentences_of(entry, place):
                    turn.report, turn.is_interim = said, False
                    turn.said.extend(said)
            elif entry.kind is Kind.TOOL_CALL:
                turn.is_interim = True
            elif entry.kind is Kind.DECISION:
                turn.decisions.append(entry)
        for _, action in self.changes:
            turns[action.call.turn].changes += 1
        return list(turns.values())

    @cached_property
    def requests(self) -> Sequence[RecordedTurn]:
        """The turns with a request of the user or a task's sender; the last one decides the end."""
        asked = [turn for turn in self.turns if turn.asked or turn.brief]
        return [turn for turn in asked if not turn.is_farewell] or asked

    @cached_property
    def closing(self) -> RecordedTurn | None:
        """The last turn with words of the user, if they only thank, praise or take leave in it."""
        last = next((turn for turn in reversed(self.turns) if turn.asked), None)
        return last if last and last.is_farewell and last.number > self.requests[-1].number else None

    @cached_property
    def last(self) -> Entry | None:
        """The last entry that shows how the session ended."""
        telling = (entry for entry in reversed(self.entries) if entry.kind is not Kind.THINKING)
        return next((entry for entry in telling if entry.kind is not Kind.SYSTEM or _INTERRUPTED in entry.text), None)

    @cached_property
    def report(self) -> Sequence[Sentence]:
        """The agent's last message that is more than a courtesy."""
        said = (turn.report for turn in reversed(self.turns) if turn.report)
        return next((report for report in said if not all(is_courtesy(one.text) for one in report)), ())

    @cached_property
    def is_service(self) -> bool:
        """Return whether an agent serves a customer with its own tools: no files, no command lines."""
        is_work = self.files or self.is_coding
        serves = any(words().says("serves", one.text) for turn in self.turns for one in turn.said)
        return serves and not is_work

    @cached_property
    def is_coding(self) -> bool:
        return any(action.command for _, action in self.actions)

    @cached_property
    def is_talk(self) -> bool:
        """Return whether people only talk: no tools, no code, and no service."""
        has_code = any("```" in entry.text for entry in self.entries)
        return not (self.actions or self.is_service or has_code)


def _user_sentences(entry: Entry, place: int) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """Return the user's own sentences, and those of a text that is long, forwarded or pasted."""
    if tagged := _TAGGED.match(entry.text):
        body = tagged[2]
        if protocol := _PROTOCOL.match(body):
            body = protocol[1]
        elif _INJECTED.match(body):
            return (), ()
        return (), sentences_of(entry._replace(kind=Kind.ASSISTANT, text=body), place)
    text = entry.text.partition(_HOOK)[0]
    if _INJECTED.match(text) or _SLASH_COMMAND.fullmatch(text.strip()):
        return (), ()
    said = sentences_of(entry._replace(text=text), place)
    return tuple(one for one in said if not one.is_quoted), tuple(one for one in said if one.is_quoted)
