"""`nous dead-letters`: list, show, redrive and drop dead letters."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, cast

import click
import orjson

from nous.app.container import Container
from nous.bus.accounting import DeadLetter
from nous.bus.base import DeadLetterKind
from nous.bus.delivery_state import gathered
from nous.cli.framework import BAD_INPUT, App, dry_run_option, json_option, yes_option
from nous.cli.output import counted, make_sure, note, render, say, second, table
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import LARGEST
from nous.redaction.error_text import redacted
from nous.redaction.tracebacks import folded, whole
from nous.text.sanitize import one_line, shortened

_MANY = 10
"""A list longer than this starts with totals for each reason."""
_MOST = 100
"""Letters that are listed unless there is a limit."""
_LONGEST = 100
_DETAIL = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\d+")
_ENVELOPE = ("type", "id", "subject", "time", "source", "dataschema", "correlationid", "causationid", "traceparent")
_MOST_FIELDS = 25
_JSON_KEYS = {"letter_kind": "grave", "priority": "lane"}
"""JSON keys stay as scripts have read them since the start."""


def _matching(
    container: Container, *, worker: str | None, reason: str | None, is_dead: bool | None
) -> list[DeadLetter]:
    """Return the letters of *worker* with *reason* in theirs, dead, parked or both.

    Raises:
        NotFound: there is no such worker, and no letter is of one.
    """
    letters = container.dead_letters.letters()
    if worker is not None and all(letter.group != worker for letter in letters):
        container.subscription(worker)
    return [
        letter
        for letter in letters
        if worker in {None, letter.group}
        and (reason or "").casefold() in letter.reason.casefold()
        and is_dead in {None, letter.letter_kind is DeadLetterKind.DEAD}
    ]


def _selected(container: Container, ids: Sequence[str], *, everything: bool, **filters: Any) -> list[DeadLetter]:
    """Return the letters with these *ids*, or else those that pass the filters.

    Raises:
        NotFound: an id is that of no letter, or there is no such worker.
        BadInput: not exactly one of ids, a filter and *everything* is given.
    """
    has_filter = any(each is not None for each in filters.values())
    if [bool(ids), has_filter, everything].count(True) != 1:
        raise BadInput("give ids, or select letters (--worker, --reason, --dead, --parked), or say --all")
    return [container.dead_letters.find(each) for each in ids] if ids else _matching(container, **filters)


def _filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select dead letters."""
    for option in (
        click.option("--dead/--parked", "is_dead", default=None, help="Only failed events, or only unknown ones."),
        click.option("--reason", metavar="TEXT", help="Only those whose reason contains TEXT."),
        click.option("--worker", metavar="NAME", help="Only those of this worker."),
    ):
        command = option(command)
    return command


def _selection(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments and options that select the letters to change."""
    everything = click.option("--all", "everything", is_flag=True, help="All dead letters.")
    return click.argument("ids", nargs=-1, metavar="[ID...]")(_filters(everything(command)))


@click.group()
def dead() -> None:
    """List, show, redrive or drop dead letters.

    A dead letter stands for an event that a worker could not handle (dead), or that this release does not know
    (parked).
    """


@dead.command("list")
@_filters
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help=f"Show at most N. Default: {_MOST}.")
@json_option
@click.pass_obj
def list_(app: App, *, limit: int | None, as_json: bool, **filters: Any) -> None:
    """List dead letters, oldest first. A long list starts with totals for each reason.

    JSON holds all of them unless there is a limit.
    """
    letters = _matching(app.container, **filters)
    found = (_as_json(letter) for letter in letters[:limit])
    render(found, _listed(letters, most=limit or _MOST), as_json=as_json, empty="no dead letter matches")


def _listed(letters: Sequence[DeadLetter], *, most: int) -> Iterator[str]:
    """Yield a table of *letters*; at most *most* of them are shown."""
    if len(letters) > _MANY:
        totals = Counter((each.letter_kind, each.group, _without_details(each.reason)) for each in letters)
        heads = ("count", "what", "worker", "reason")
        yield table((dict(zip(heads, (count, *kind), strict=True)) for kind, count in totals.most_common()), heads)
        yield ""
    if letters:
        heads = {"letter_kind": "what", "group": "worker", "session_id": "session", "attempts": "attempts"}
        yield table(map(asdict, letters[:most]), {"id": "id", "at": "when", **heads, "reason": "reason"})
    if most < len(letters):
        more = counted(len(letters) - most, "more dead letter")
        yield f"\n{more}, newer than these, not shown: nous dead-letters list --limit N, or --json"


def _without_details(reason: str) -> str:
    """Return *reason* without details that vary between events."""
    return shortened(_DETAIL.sub("…", reason), _LONGEST)


def _as_json(letter: DeadLetter) -> dict[str, Any]:
    return {_JSON_KEYS.get(name, name): value for name, value in asdict(letter).items()}


@dead.command()
@click.argument("letter_id", metavar="ID")
@click.option("--full", is_flag=True, help="Show every frame of the traceback, including those in libraries.")
@json_option
@click.pass_obj
def show(app: App, letter_id: str, *, full: bool, as_json: bool) -> None:
    """Show one dead letter: the failure of each attempt, and the outline of its event.

    The event's content is not shown, nor are quotes of it in errors.
    """
    letters = app.container.dead_letters
    letter = letters.find(letter_id)
    event = letters.payload(letter)
    outline = None if event is None else {"bytes": _size_of(event), **envelope(event), "payload": payload(event)}
    found = {**_as_json(letter), "traceback": list(whole(letter.traceback)), "event": outline}
    render(found, _spelled(letter, event, is_full=full), as_json=as_json)


def _spelled(letter: DeadLetter, event: bytes | int | None, *, is_full: bool) -> Iterator[str]:
    """Yield all details of *letter*.

    *event* is its event, or the event's size in bytes if it is too large to be read, or None if it is gone.
    """
    yield f"id         {letter.id}"
    yield f"what       {letter.letter_kind}"
    yield f"worker     {one_line(letter.group) or '-'}"
    yield f"reason     {one_line(letter.reason)}"
    yield f"when       {second(letter.at)}, after {counted(letter.attempts, 'attempt')}"
    yield one_line(f"event      {letter.event_id or 'unknown'}, {letter.kind} {letter.priority}/{letter.entry}")
    yield f"session    {one_line(letter.session_id or 'unknown')}"
    if letter.history:
        rows = ({**asdict(each), "attempt": _attempts(each.attempt, each.times)} for each in gathered(letter.history))
        columns = {"at": "when", "attempt": "attempt", "fate": "what", "place": "where", "text": "why"}
        yield f"\nwhat went wrong:\n{table(rows, columns)}"
    if letter.traceback:
        yield f"\ntraceback of the last error{'' if is_full else ' (--full shows every frame)'}:"
        yield from whole(letter.traceback) if is_full else folded(letter.traceback)
    if event is None:
        yield "\nits event is gone: it cannot be redriven"
        return
    yield f"\nevent, {_size_of(event):,} bytes:"
    yield from (f"  {name}: {value}" for name, value in envelope(event).items())
    yield "\npayload, without its content:"
    yield from (f"  {line}" for line in payload(event))


def _size_of(raw: bytes | int) -> int:
    """Return the size of an event in bytes; an event too large to be read is given as its size."""
    return raw if isinstance(raw, int) else len(raw)


def envelope(raw: bytes | int) -> dict[str, str]:
    """Return the readable envelope fields of event *raw*, its scope, session and transcript."""
    message = _object(raw)
    data = _as_dict(message.get("data"))
    fields = {name: message.get(name) for name in _ENVELOPE}
    fields |= {"scope": data.get("scope"), "session": data.get("session_id")}
    fields["dataref"] = message.get("dataref") or data.get("dataref")
    return {name: redacted(value if isinstance(value, str) else str(value)) for name, value in fields.items() if value}


def payload(raw: bytes | int) -> list[str]:
    """Return a line for each field of the event's payload: name, type and size, but no value.

    For operators who must not read what an event says.
    """
    if _size_of(raw) > LARGEST:
        return [f"not read: it has {_size_of(raw):,} bytes, and no event may have more than {LARGEST:,}"]
    fields = _as_dict(_object(raw).get("data"))
    lines = [f"{redacted(name)}: {_described(value)}" for name, value in list(fields.items())[:_MOST_FIELDS]]
    more = [f"... {len(fields) - _MOST_FIELDS} more fields"] if len(fields) > _MOST_FIELDS else []
    return [*lines, *more] or [f"no JSON object with a field: {_size_of(raw):,} bytes"]


def _object(raw: bytes | int) -> dict[str, Any]:
    try:
        return {} if _size_of(raw) > LARGEST else _as_dict(orjson.loads(cast("bytes", raw)))
    except orjson.JSONDecodeError:
        return {}


def _as_dict(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _described(value: Any) -> str:
    match value:
        case str():
            return f"text of {len(value):,} characters"
        case list():
            return f"list of {len(cast('list[Any]', value)):,}"
        case dict():
            return f"object of {len(cast('dict[str, Any]', value)):,}"
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case _:
            return "number"


def _attempts(last: int, times: int) -> str:
    return str(last) if times == 1 else f"{last}, {times} times"


@dead.command()
@_selection
@dry_run_option
@click.pass_obj
def redrive(app: App, ids: Sequence[str], *, everything: bool, dry_run: bool, **filters: Any) -> None:
    """Retry events under the same identity. Workers pick them up at their next sweep.

    Earlier errors stay in the history, but no longer count. Give the ids of dead letters, or select them with the
    options.
    """
    letters = _selected(app.container, ids, everything=everything, **filters)
    done = 0
    for letter in letters:
        try:
            say(f"{_named(letter)} {_redriven(letter, app.container, dry_run=dry_run)}")
            done += 1
        except NotFound as error:
            note(f"{_named(letter)}: {error}")
    say(f"{done} of {counted(len(letters), 'dead letter')} {'would be redriven' if dry_run else 'redriven'}", err=True)
    click.get_current_context().exit(BAD_INPUT if done < len(letters) else 0)


def _redriven(letter: DeadLetter, container: Container, *, dry_run: bool) -> str:
    """Redrive one letter, or check that it can be; return the result in words."""
    subscription = container.subscription(letter.group)
    if dry_run and container.dead_letters.payload(letter) is None:
        raise NotFound("its event is gone: nothing can be redriven; drop the dead letter")
    if not dry_run and not container.dead_letters.redrive(letter, subscription):
        return "was redriven or dropped before"
    return f"{'would be' if dry_run else 'is'} pending again, next as attempt {letter.attempts + 1}"


@dead.command()
@_selection
@yes_option
@click.pass_obj
def drop(app: App, ids: Sequence[str], *, everything: bool, yes: bool, **filters: Any) -> None:
    """Delete dead letters for good. Their events still count as dead or parked."""
    letters = _selected(app.container, ids, everything=everything, **filters)
    if letters and not yes:
        _make_sure(letters)
    for letter in letters:
        gone = "is dropped" if app.container.dead_letters.drop(letter) else "was gone"
        say(f"{_named(letter)} {gone}: {letter.reason}")
    if not letters:
        say("nothing is dropped: no dead letter matches")


def _make_sure(letters: Sequence[DeadLetter]) -> None:
    """Show what would be lost, and ask for confirmation."""
    counts = Counter(letter.letter_kind for letter in letters)
    what = " and ".join(counted(counts[kind], f"{kind} letter") for kind in DeadLetterKind if counts[kind])
    events = "its event is" if len(letters) == 1 else f"their {len(letters):,} events are"
    say("\n".join(_listed(letters, most=_MOST)), err=True)
    say(
        "\nDropping is for good: without its dead letter an event can never be redriven. Publishing the same session "
        "again, unchanged, does not retry it either, for as long as nous knows it (retention.marker_ttl).",
        err=True,
    )
    make_sure(f"Drop {what} for good, so that {events} never tried again?", otherwise="nothing was dropped")


def _named(letter: DeadLetter) -> str:
    """Return the id, worker and session of *letter*, for messages."""
    return f"{letter.id} ({letter.group or 'unknown worker'}, session {letter.session_id or 'unknown'})"
