"""`nous dead-letters`: list, show, redrive and drop dead letters."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import click

from nous.app.container import Container
from nous.bus.accounting import DeadLetter
from nous.bus.dead_letter import accepted_at
from nous.cli.framework import BAD_INPUT, LARGEST_LIMIT, App, json_option, yes_option
from nous.cli.output import counted, make_sure, note, render, say, second, table
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import decode
from nous.redaction.error_text import folded, redacted, whole
from nous.text.sanitize import one_line

_MOST = 100  # letters that are listed unless there is a limit
_ORIGIN = ("session_id", "scope", "source", "time", "dataref")
_JSON_KEYS = {"letter_kind": "grave", "priority": "lane"}
"""JSON keys stay as scripts have read them since the start."""


def _selected(container: Container, ids: Sequence[str], *, everything: bool) -> Sequence[DeadLetter]:
    if everything == bool(ids):
        raise BadInput("give ids, or say --all")
    return [container.dead_letters.find(each) for each in ids] if ids else container.dead_letters.letters()


def _selection(command: Callable[..., Any]) -> Callable[..., Any]:
    everything = click.option("--all", "everything", is_flag=True, help="All dead letters.")
    return click.argument("ids", nargs=-1, metavar="[ID...]")(everything(command))


@click.group()
def dead() -> None:
    """List, show, redrive or drop dead letters.

    A dead letter stands for an event that a worker could not handle (dead), or that this release does not know
    (parked).
    """


@dead.command("list")
@click.option("--limit", type=click.IntRange(1, LARGEST_LIMIT), metavar="N", help=f"Show at most N. Default: {_MOST}.")
@json_option
@click.pass_obj
def list_(app: App, *, limit: int | None, as_json: bool) -> None:
    """List dead letters, oldest first. JSON holds all of them unless there is a limit."""
    letters = app.container.dead_letters.letters()
    found = (_as_json(letter) for letter in letters[:limit])
    render(found, _listed(letters, most=limit or _MOST), as_json=as_json, empty="there is no dead letter")


def _listed(letters: Sequence[DeadLetter], *, most: int) -> Iterator[str]:
    if letters:
        heads = {"letter_kind": "what", "group": "worker", "session_id": "session", "attempts": "attempts"}
        yield table(map(asdict, letters[:most]), {"id": "id", "at": "when", **heads, "reason": "reason"})
    if most < len(letters):
        more = counted(len(letters) - most, "more dead letter")
        yield f"\n{more}, newer than these, not shown: nous dead-letters list --limit N, or --json"


def _as_json(letter: DeadLetter) -> dict[str, Any]:
    return {_JSON_KEYS.get(name, name): value for name, value in asdict(letter).items()}


@dead.command()
@click.argument("letter_id", metavar="ID")
@json_option
@click.pass_obj
def show(app: App, letter_id: str, *, as_json: bool) -> None:
    """Show one dead letter: the failure of each attempt, and where its event comes from.

    The event's content is not shown, nor are quotes of it in errors. JSON has every frame of the traceback.
    """
    letters = app.container.dead_letters
    letter = letters.find(letter_id)
    raw = letters.payload(letter)
    app.container.workers.get(letter.group)  # its module may define the event
    event = None if raw is None else origin(raw, letter.kind, at=accepted_at(letter.entry))
    found = {**_as_json(letter), "traceback": list(whole(letter.traceback)), "event": event}
    render(found, _details(letter, event), as_json=as_json)


def _details(letter: DeadLetter, event: dict[str, Any] | None) -> Iterator[str]:
    fields = {
        "id": letter.id,
        "what": letter.letter_kind,
        "worker": letter.group or "-",
        "reason": letter.reason,
        "when": f"{second(letter.at)}, after {counted(letter.attempts, 'attempt')}",
        "event": f"{letter.event_id or 'unknown'}, {letter.kind} {letter.priority}/{letter.entry}",
        "session": letter.session_id or "unknown",
    }
    yield from (f"{name:<10} {one_line(value)}" for name, value in fields.items())
    if letter.history:
        rows = map(asdict, letter.history)
        columns = {"at": "when", "attempt": "attempt", "fate": "what", "place": "where", "text": "why"}
        yield f"\nwhat went wrong:\n{table(rows, columns)}"
    if letter.traceback:
        yield "\ntraceback of the last error:"
        yield from folded(letter.traceback)
    if event is None:
        yield "\nits event is gone: it cannot be redriven"
    elif event:
        yield "\nevent:"
        yield from (f"  {name}: {value}" for name, value in event.items())


def origin(raw: bytes | int, kind: str, *, at: datetime) -> dict[str, str]:
    """Return where the event *raw*, accepted *at*, comes from, masked; nothing if unreadable."""
    try:
        event = None if isinstance(raw, int) else decode(raw, type_hint=kind, accepted_at=at)
    except BadInput:
        event = None
    fields = ((name, getattr(event, name, None)) for name in _ORIGIN)
    return {name.removesuffix("_id"): redacted(str(value)) for name, value in fields if value}


@dead.command()
@_selection
@click.pass_obj
def redrive(app: App, ids: Sequence[str], *, everything: bool) -> None:
    """Retry events under the same identity. Workers pick them up at their next sweep.

    Earlier errors stay in the history, but no longer count.
    """
    container, done = app.container, 0
    letters = _selected(container, ids, everything=everything)
    for letter in letters:
        try:
            is_done = container.dead_letters.redrive(letter, container.subscription(letter.group))
        except NotFound as error:
            note(f"{_named(letter)}: {error}")
            continue
        done += 1
        again = f"is pending again, next as attempt {letter.attempts + 1}"
        say(f"{_named(letter)} {again if is_done else 'was redriven or dropped before'}")
    say(f"{done} of {counted(len(letters), 'dead letter')} redriven", err=True)
    click.get_current_context().exit(BAD_INPUT if done < len(letters) else 0)


@dead.command()
@_selection
@yes_option
@click.pass_obj
def drop(app: App, ids: Sequence[str], *, everything: bool, yes: bool) -> None:
    """Delete dead letters for good. Their events still count as dead or parked."""
    letters = _selected(app.container, ids, everything=everything)
    if letters and not yes:
        say("\n".join(_listed(letters, most=_MOST)), err=True)
        what = f"{counted(len(letters), 'dead letter')} for good? No event of them can be retried then"
        make_sure(f"Drop {what}, even if its session is published again.", otherwise="nothing was dropped")
    for letter in letters:
        gone = "is dropped" if app.container.dead_letters.drop(letter) else "was gone"
        say(f"{_named(letter)} {gone}: {letter.reason}")
    if not letters:
        say("there is no dead letter")


def _named(letter: DeadLetter) -> str:
    return f"{letter.id} ({letter.group or 'unknown worker'}, session {letter.session_id or 'unknown'})"
