"""`nous dead-letters`: list, show, redrive and drop dead letters."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

import click
from click.exceptions import Exit

from nous.app.container import Container, build
from nous.bus.accounting import DeadLetter
from nous.bus.base import DeadLetterKind
from nous.bus.delivery_state import AttemptFailure, gathered
from nous.cli.framework import BAD_INPUT, DECLINED, App
from nous.cli.outline import envelope, payload, size_of
from nous.cli.output import counted, print_json, say, table
from nous.domain.errors import BadInput, NotFound
from nous.redaction.tracebacks import folded, whole
from nous.text.sanitize import one_line, shortened

_MANY = 10
"""A list longer than this starts with totals for each reason."""
_LONGEST = 100
_DETAIL = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\d+")


def listed(letters: Sequence[DeadLetter], *, most: int | None) -> Iterator[str]:
    """Yield a list of *letters* as text sections; at most *most* of them are shown."""
    if len(letters) > _MANY:
        yield table(("count", "what", "worker", "first", "last", "reason"), _totals(letters))
    shown = letters[:most]
    heads = ("id", "when", "what", "worker", "session", "attempts", "reason")
    yield table(heads, map(_row, shown))
    if len(shown) < len(letters):
        more = counted(len(letters) - len(shown), "more dead letter")
        yield f"{more}, newer than these, not shown: nous dead list --limit N, or --json"


def named(letter: DeadLetter) -> str:
    """Return the id, worker and session of *letter*, for messages."""
    return f"{letter.id} ({letter.group or 'unknown worker'}, session {letter.session_id or 'unknown'})"


def spelled(letter: DeadLetter, event: bytes | int | None, *, is_full: bool) -> Iterator[str]:
    """Yield all details of *letter* as text sections.

    *event* is its event, or the event's size in bytes if it is too large to be read, or None if it is gone.
    """
    yield "\n".join(f"{name:<10} {one_line(value)}" for name, value in _facts(letter))
    if letter.history:
        rows = map(_failure_row, gathered(letter.history))
        yield "what went wrong:\n" + table(("when", "attempt", "what", "where", "why"), rows)
    if letter.traceback:
        lines = whole(letter.traceback) if is_full else folded(letter.traceback)
        hint = "" if is_full else " (--full shows every frame)"
        yield "\n".join((f"traceback of the last error{hint}:", *lines))
    if event is None:
        yield "its event is gone: it cannot be redriven"
        return
    yield "\n".join(
        (f"event, {size_of(event):,} bytes:", *(f"  {name}: {value}" for name, value in envelope(event).items()))
    )
    yield "\n".join(("payload, without its content:", *(f"  {line}" for line in payload(event))))


def as_object(letter: DeadLetter, event: bytes | int | None) -> dict[str, Any]:
    """Return *letter* as JSON. Its traceback is a list of lines, with every frame."""
    outline = None if event is None else {"bytes": size_of(event), **envelope(event), "payload": payload(event)}
    return {**_as_json(letter), "traceback": list(whole(letter.traceback)), "event": outline}


def _as_json(letter: DeadLetter) -> dict[str, Any]:
    names = {"letter_kind": "grave", "priority": "lane"}  # JSON keys stay as scripts have read them since the start
    return {names.get(name, name): value for name, value in asdict(letter).items()}


def _facts(letter: DeadLetter) -> Iterator[tuple[str, str]]:
    yield "id", letter.id
    yield "what", letter.letter_kind
    yield "worker", letter.group
    yield "reason", letter.reason
    yield "when", f"{_time(letter.at)}, after {counted(letter.attempts, 'attempt')}"
    yield "event", f"{letter.event_id or 'unknown'}, {letter.kind} {letter.priority}/{letter.entry}"
    yield "session", letter.session_id or "unknown"


def _row(letter: DeadLetter) -> tuple[str, ...]:
    session = letter.session_id or "-"
    at = _time(letter.at)
    return letter.id, at, letter.letter_kind, letter.group, session, str(letter.attempts), letter.reason


def _totals(letters: Sequence[DeadLetter]) -> Iterator[tuple[str, ...]]:
    """Yield a row with the count of each kind of letter, the most frequent first."""
    ordered = sorted(letters, key=_kind)
    groups = [(kind, list(group)) for kind, group in groupby(ordered, key=_kind)]
    for (letter_kind, worker, reason), group in sorted(groups, key=lambda each: -len(each[1])):
        times = [letter.at for letter in group]
        yield f"{len(group):,}", letter_kind, worker, _time(min(times)), _time(max(times)), reason


def _kind(letter: DeadLetter) -> tuple[str, str, str]:
    """Return kind, worker and reason of *letter*, without details that vary between events."""
    return letter.letter_kind, letter.group, shortened(_DETAIL.sub("…", letter.reason), _LONGEST)


def _failure_row(attempt_failure: AttemptFailure) -> tuple[str, ...]:
    last, times = attempt_failure.attempt, attempt_failure.times
    attempts = str(last) if times == 1 else f"{last}, {times} times"
    return (
        _time(attempt_failure.at),
        attempts,
        attempt_failure.fate,
        attempt_failure.place or "-",
        attempt_failure.text or "-",
    )


def _time(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "-"


_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFilter:
    """Selection of dead letters: by their ids, or by worker, reason and kind."""

    worker: str | None
    reason: str | None
    is_dead: bool | None
    ids: Sequence[str] = ()
    everything: bool = True

    @property
    def names_some(self) -> bool:
        return (self.worker, self.reason, self.is_dead) != (None, None, None)

    def takes(self, letter: DeadLetter) -> bool:
        has_worker = self.worker in {None, letter.group}
        has_reason = self.reason is None or self.reason.casefold() in letter.reason.casefold()
        return has_worker and has_reason and self.is_dead in {None, letter.letter_kind is DeadLetterKind.DEAD}

    def of(self, container: Container) -> list[DeadLetter]:
        """Return the selected letters.

        Raises:
            NotFound: an id is that of no letter, or there is no such worker.
            BadInput: nothing is selected, or letters are selected both by id and by filter.
        """
        if self.ids and not (self.everything or self.names_some):
            return [container.dead_letters.find(each) for each in self.ids]
        if self.ids:
            raise BadInput("give ids, or select (--worker, --reason, --dead, --parked, --all), but not both")
        if self.everything == self.names_some:
            raise BadInput("give ids, or select dead letters (--worker, --reason, --dead, --parked), or say --all")
        return self.among(container)

    def among(self, container: Container) -> list[DeadLetter]:
        """Return all letters that pass the filter.

        Raises:
            NotFound: there is no such worker, and no letter is of one.
        """
        letters = container.dead_letters.letters()
        if self.worker is not None and all(letter.group != self.worker for letter in letters):
            container.subscription(self.worker)
        return [letter for letter in letters if self.takes(letter)]


def _filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select dead letters."""
    for option in (
        click.option("--dead/--parked", "is_dead", default=None, help="Only failed events, or only unknown ones."),
        click.option("--reason", metavar="TEXT", help="Only those whose reason contains TEXT."),
        click.option("--worker", metavar="NAME", help="Only those of this worker."),
    ):
        command = option(command)
    return command


@click.group()
def dead() -> None:
    """List, show, redrive or drop dead letters.

    A dead letter stands for an event that a worker could not handle (dead), or that this release does not know
    (parked).
    """


@dead.command("list")
@_filters
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help=f"Show at most N. Default: {_SHOWN}.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON. Without --limit it holds all of them.")
@click.pass_obj
def list_(app: App, *, limit: int | None, as_json: bool, **filters: Any) -> None:
    """List dead letters, oldest first. A long list starts with totals for each reason."""
    wanted = LetterFilter(**filters)
    letters = wanted.among(build(app.settings))
    if as_json:
        print_json([_as_json(letter) for letter in letters[:limit]])
    elif letters:
        say("\n\n".join(listed(letters, most=limit or _SHOWN)))
    else:
        say("no dead letter matches" if wanted.names_some else "nothing is dead, nothing is parked")


@dead.command()
@click.argument("letter_id", metavar="ID")
@click.option("--full", is_flag=True, help="Show every frame of the traceback, including those in libraries.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(app: App, letter_id: str, *, full: bool, as_json: bool) -> None:
    """Show one dead letter: the failure of each attempt, and the outline of its event.

    The event's content is not shown, nor are quotes of it in errors.
    """
    letters = build(app.settings).dead_letters
    letter = letters.find(letter_id)
    event = letters.payload(letter)
    if as_json:
        print_json(as_object(letter, event))
    else:
        say("\n\n".join(spelled(letter, event, is_full=full)))


@dead.command()
@click.argument("letter_ids", nargs=-1, metavar="[ID...]")
@_filters
@click.option("--all", "everything", is_flag=True, help="Redrive all dead letters.")
@click.option("--dry-run", is_flag=True, help="Show what would be done. Change nothing.")
@click.pass_obj
def redrive(app: App, letter_ids: Sequence[str], *, everything: bool, dry_run: bool, **filters: Any) -> None:
    """Retry events under the same identity. Workers pick them up at their next sweep.

    Earlier errors stay in the history, but no longer count. Give the ids of dead letters, or select them with the
    options.
    """
    container = build(app.settings)
    letters = LetterFilter(ids=letter_ids, everything=everything, **filters).of(container)
    done = sum([_redrive(letter, container, is_rehearsal=dry_run) for letter in letters])
    verb = "would be redriven" if dry_run else "redriven"
    say(f"{done} of {counted(len(letters), 'dead letter')} {verb}", err=True)
    click.get_current_context().exit(BAD_INPUT if done < len(letters) else 0)


@dead.command()
@click.argument("letter_ids", nargs=-1, metavar="[ID...]")
@_filters
@click.option("--all", "everything", is_flag=True, help="Drop all dead letters.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def drop(app: App, letter_ids: Sequence[str], *, everything: bool, yes: bool, **filters: Any) -> None:
    """Delete dead letters for good. Their events still count as dead or parked."""
    container = build(app.settings)
    letters = LetterFilter(ids=letter_ids, everything=everything, **filters).of(container)
    if not letters:
        say("nothing is dropped: no dead letter matches")
        return
    if not yes:
        _make_sure(letters)
    for letter in letters:
        say(f"{named(letter)} {'is dropped' if container.dead_letters.drop(letter) else 'was gone'}: {letter.reason}")


def _redrive(letter: DeadLetter, container: Container, *, is_rehearsal: bool) -> bool:
    """Redrive one letter, or check that it can be, and print the result.

    Returns False if it cannot be redriven.
    """
    try:
        result = _rehearsed(letter, container) if is_rehearsal else _redriven(letter, container)
    except NotFound as error:
        say(f"nous: {named(letter)}: {error}", err=True)
        return False
    say(f"{named(letter)} {result}")
    return True


def _redriven(letter: DeadLetter, container: Container) -> str:
    if container.dead_letters.redrive(letter, container.subscription(letter.group)):
        return f"is pending again, next as attempt {letter.attempts + 1}"
    return "was redriven or dropped before"


def _rehearsed(letter: DeadLetter, container: Container) -> str:
    container.subscription(letter.group)
    if container.dead_letters.payload(letter) is None:
        raise NotFound("its event is gone: nothing can be redriven; drop the dead letter")
    return f"would be pending again, next as attempt {letter.attempts + 1}"


def _make_sure(letters: Sequence[DeadLetter]) -> None:
    """Show what would be lost, and ask for confirmation.

    Raises:
        BadInput: there is no terminal to ask on.
        Exit: the answer is no.
    """
    say("\n\n".join(listed(letters, most=_SHOWN)), err=True)
    say(
        "\nDropping is for good: without its dead letter an event can never be redriven. Publishing the same session "
        "again, unchanged, does not retry it either, for as long as nous knows it (retention.marker_ttl).",
        err=True,
    )
    if not sys.stdin.isatty():
        raise BadInput(f"nothing was dropped: say --yes to drop {_sum(letters)}; there is no terminal to ask on")
    events = "its event is" if len(letters) == 1 else f"their {len(letters):,} events are"
    if not click.confirm(f"Drop {_sum(letters)} for good, so that {events} never tried again?", err=True):
        say("nous: nothing was dropped", err=True)
        raise Exit(DECLINED)


def _sum(letters: Sequence[DeadLetter]) -> str:
    """Return the number of letters of each kind, in words."""
    counts = Counter(letter.letter_kind for letter in letters)
    return " and ".join(counted(counts[kind], f"{kind} letter") for kind in DeadLetterKind if counts[kind])
