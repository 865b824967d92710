"""`nous dead`: what was set aside, and what to do about it."""

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

from nous.app import World, build
from nous.bus.accounting import Letter
from nous.bus.base import Grave
from nous.bus.delivery_state import Mishap, gathered
from nous.cli.framework import BAD_INPUT, DECLINED, App
from nous.cli.outline import envelope, payload, size_of
from nous.cli.output import counted, print_json, say, table
from nous.domain.errors import BadInput, NotFound
from nous.redaction.tracebacks import folded, whole
from nous.text.sanitize import one_line, shortened

_MANY = 10
"""More letters than that are told of in sum as well."""
_LONGEST = 100
_DETAIL = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\d+")


def listed(letters: Sequence[Letter], *, most: int | None) -> Iterator[str]:
    """Sections for a list of *letters*, of which at most so many are shown."""
    if len(letters) > _MANY:
        yield table(("count", "what", "worker", "first", "last", "reason"), _totals(letters))
    shown = letters[:most]
    heads = ("id", "set aside", "what", "worker", "session", "attempts", "reason")
    yield table(heads, map(_row, shown))
    if len(shown) < len(letters):
        more = counted(len(letters) - len(shown), "more letter")
        yield f"{more}, newer than these, not shown: nous dead list --limit N, or --json"


def named(letter: Letter) -> str:
    """The letter in a few words."""
    return f"{letter.id} ({letter.group or 'of nobody known'}, session {letter.session_id or 'unknown'})"


def spelled(letter: Letter, event: bytes | int | None, *, is_full: bool) -> Iterator[str]:
    """Sections that tell all there is of one letter."""
    yield "\n".join(f"{name:<10} {one_line(value)}" for name, value in _facts(letter))
    if letter.history:
        rows = map(_mishap, gathered(letter.history))
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
    yield "\n".join(("payload, without what it says:", *(f"  {line}" for line in payload(event))))


def as_object(letter: Letter, event: bytes | int | None) -> dict[str, Any]:
    """The same for programs; the traceback as lines, every frame of it."""
    told = None if event is None else {"bytes": size_of(event), **envelope(event), "payload": payload(event)}
    return {**asdict(letter), "traceback": list(whole(letter.traceback)), "event": told}


def _facts(letter: Letter) -> Iterator[tuple[str, str]]:
    yield "id", letter.id
    yield "what", letter.grave
    yield "worker", letter.group or "-"
    yield "reason", letter.reason
    yield "set aside", f"{_time(letter.at)}, after {counted(letter.attempts, 'attempt')}"
    yield "event", f"{letter.event_id or 'unknown'}, {letter.kind} {letter.lane}/{letter.entry}"
    yield "session", letter.session_id or "unknown"


def _row(letter: Letter) -> tuple[str, ...]:
    session = letter.session_id or "-"
    at = _time(letter.at)
    return letter.id, at, letter.grave, letter.group or "-", session, str(letter.attempts), letter.reason


def _totals(letters: Sequence[Letter]) -> Iterator[tuple[str, ...]]:
    """How many there are of each kind, the most first."""
    ordered = sorted(letters, key=_kind)
    groups = [(kind, list(group)) for kind, group in groupby(ordered, key=_kind)]
    for (grave, worker, reason), group in sorted(groups, key=lambda each: -len(each[1])):
        times = [letter.at for letter in group]
        yield f"{len(group):,}", grave, worker or "-", _time(min(times)), _time(max(times)), reason


def _kind(letter: Letter) -> tuple[str, str, str]:
    """What letters have in common that are alike: their reason without what differs from event to event."""
    return letter.grave, letter.group, shortened(_DETAIL.sub("…", letter.reason), _LONGEST)


def _mishap(mishap: Mishap) -> tuple[str, ...]:
    last, times = mishap.attempt, mishap.times
    attempts = str(last) if times == 1 else f"{last}, {times} times"
    return _time(mishap.at), attempts, mishap.fate, mishap.place or "-", mishap.text or "-"


def _time(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "-"


_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which letters are meant: those with these ids, or all that pass what is set."""

    worker: str | None
    reason: str | None
    is_dead: bool | None
    ids: Sequence[str] = ()
    everything: bool = True

    @property
    def names_some(self) -> bool:
        return (self.worker, self.reason, self.is_dead) != (None, None, None)

    def takes(self, letter: Letter) -> bool:
        has_worker = self.worker in {None, letter.group}
        has_reason = self.reason is None or self.reason.casefold() in letter.reason.casefold()
        return has_worker and has_reason and self.is_dead in {None, letter.grave is Grave.DEAD}

    def of(self, world: World) -> list[Letter]:
        """Raises `NotFound` where an id is of no letter, `BadInput` where nothing says which are meant."""
        if self.ids and not (self.everything or self.names_some):
            return [world.dead.find(each) for each in self.ids]
        if self.ids:
            raise BadInput("name letters, or say which (--worker, --reason, --dead, --parked, --all), but not both")
        if self.everything == self.names_some:
            raise BadInput("name the letters, or say which (--worker, --reason, --dead, --parked), or --all")
        return self.among(world)

    def among(self, world: World) -> list[Letter]:
        """Those of all letters that pass; raises `NotFound` where there is no such worker, and never was one."""
        letters = world.dead.letters()
        if self.worker is not None and all(letter.group != self.worker for letter in letters):
            world.subscription(self.worker)
        return [letter for letter in letters if self.takes(letter)]


def _filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which letters are meant."""
    for option in (
        click.option("--dead/--parked", "is_dead", default=None, help="Only what cannot work, or what is not known."),
        click.option("--reason", metavar="TEXT", help="Only those whose reason contains TEXT."),
        click.option("--worker", metavar="NAME", help="Only those of this worker."),
    ):
        command = option(command)
    return command


@click.group()
def dead() -> None:
    """List, show, redrive or drop events that could not be handled, or that this release does not know (parked)."""


@dead.command("list")
@_filters
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help=f"Show so many; {_SHOWN} if not said.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all of them if no limit is said.")
@click.pass_obj
def list_(app: App, *, limit: int | None, as_json: bool, **filters: Any) -> None:
    """List what was set aside, oldest first; where there is much, how often for which reason, too."""
    wanted = Wanted(**filters)
    letters = wanted.among(build(app.settings))
    if as_json:
        print_json([asdict(letter) for letter in letters[:limit]])
    elif letters:
        say("\n\n".join(listed(letters, most=limit or _SHOWN)))
    else:
        say("no letter is like that" if wanted.names_some else "nothing is dead, nothing is parked")


@dead.command()
@click.argument("letter_id", metavar="ID")
@click.option("--full", is_flag=True, help="Show every frame of the traceback, those in libraries too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(app: App, letter_id: str, *, full: bool, as_json: bool) -> None:
    """Show all there is of one letter: what went wrong at each attempt, and what the event looks like.

    What the event says is not shown, nor what an error quotes of it.
    """
    letters = build(app.settings).dead
    letter = letters.find(letter_id)
    event = letters.payload(letter)
    if as_json:
        print_json(as_object(letter, event))
    else:
        say("\n\n".join(spelled(letter, event, is_full=full)))


@dead.command()
@click.argument("letter_ids", nargs=-1, metavar="[ID...]")
@_filters
@click.option("--all", "everything", is_flag=True, help="Redrive whatever is set aside.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.pass_obj
def redrive(app: App, letter_ids: Sequence[str], *, everything: bool, dry_run: bool, **filters: Any) -> None:
    """Try again, under the same identity; workers take it up at their next sweep.

    Earlier errors stay in its history and count no more. A letter is named by its id, or found by what was set aside.
    """
    world = build(app.settings)
    letters = Wanted(ids=letter_ids, everything=everything, **filters).of(world)
    done = sum([_redrive(letter, world, is_rehearsal=dry_run) for letter in letters])
    verb = "would be redriven" if dry_run else "redriven"
    say(f"{done} of {counted(len(letters), 'letter')} {verb}", err=True)
    click.get_current_context().exit(BAD_INPUT if done < len(letters) else 0)


@dead.command()
@click.argument("letter_ids", nargs=-1, metavar="[ID...]")
@_filters
@click.option("--all", "everything", is_flag=True, help="Drop whatever is set aside.")
@click.option("--yes", is_flag=True, help="Do not ask whether that is meant.")
@click.pass_obj
def drop(app: App, letter_ids: Sequence[str], *, everything: bool, yes: bool, **filters: Any) -> None:
    """Forget letters for good. Their events stay counted as dead or parked."""
    world = build(app.settings)
    letters = Wanted(ids=letter_ids, everything=everything, **filters).of(world)
    if not letters:
        say("nothing is dropped: no letter is like that")
        return
    if not yes:
        _make_sure(letters)
    for letter in letters:
        say(f"{named(letter)} {'is dropped' if world.dead.drop(letter) else 'was gone'}: {letter.reason}")


def _redrive(letter: Letter, world: World, *, is_rehearsal: bool) -> bool:
    """Redrive one letter, or see whether that could be done, and say what came of it; false if it cannot be done."""
    try:
        told = _rehearsed(letter, world) if is_rehearsal else _redriven(letter, world)
    except NotFound as error:
        say(f"nous: {named(letter)}: {error}", err=True)
        return False
    say(f"{named(letter)} {told}")
    return True


def _redriven(letter: Letter, world: World) -> str:
    _refuse_unreadable(letter)
    if world.dead.redrive(letter, world.subscription(letter.group)):
        return f"is pending again, next as attempt {letter.attempts + 1}"
    return "was redriven or dropped before"


def _rehearsed(letter: Letter, world: World) -> str:
    _refuse_unreadable(letter)
    world.subscription(letter.group)
    if world.dead.payload(letter) is None:
        raise NotFound("its event is gone: nothing can be redriven; drop the letter")
    return f"would be pending again, next as attempt {letter.attempts + 1}"


def _refuse_unreadable(letter: Letter) -> None:
    if not letter.is_readable:
        raise NotFound(f"it is {letter.reason}; drop the letter")


def _make_sure(letters: Sequence[Letter]) -> None:
    """Say what would be lost, and ask. Raises `Exit` where the answer is no."""
    say("\n\n".join(listed(letters, most=_SHOWN)), err=True)
    say(
        "\nDropping is for good: without its letter an event can never be redriven. Publishing the same session again, "
        "unchanged, does not have it tried again either, for as long as nous knows it (retention.marker_ttl).",
        err=True,
    )
    if not sys.stdin.isatty():
        raise BadInput(f"nothing was dropped: say --yes to drop {_sum(letters)}; there is no terminal to ask on")
    events = "its event is" if len(letters) == 1 else f"their {len(letters):,} events are"
    if not click.confirm(f"Drop {_sum(letters)} for good, so that {events} never tried again?", err=True):
        say("nous: nothing was dropped", err=True)
        raise Exit(DECLINED)


def _sum(letters: Sequence[Letter]) -> str:
    """How many letters there are, dead and parked."""
    graves = Counter(letter.grave for letter in letters)
    return " and ".join(counted(graves[grave], f"{grave} letter") for grave in Grave if graves[grave])
