"""What is written down of a delivery that was set aside. The event itself stays in its stream; none of it is copied.

Letters are read by older releases too, and theirs by this one: a field is added and never changed.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import uuid5

from nous.bus.accounting import Letter
from nous.bus.base import Grave, Lane, Ticket
from nous.bus.delivery_state import Progress, history_of
from nous.domain.errors import BadInput
from nous.domain.event_codec import NO_SESSION, decode
from nous.domain.events import NAMESPACE, Event, JobDeadLettered
from nous.domain.scope import Scope
from nous.redaction.error_text import redacted
from nous.text.sanitize import shortened

DROPPED = "its letter was dropped"
"""Why an event is skipped that was dead, or parked, and is not to be tried again."""

_LATEST = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * 1000


def fields_of(
    ticket: Ticket,
    *,
    progress: Progress | None,
    reason: str,
    grave: Grave,
    event: Event | None,
    traceback: str = "",
) -> dict[str, str | int]:
    """The letter about *ticket* as the fields of a stream entry. Its id, and so its time, is given by the stream.

    Its `history` is added where it is kept (see `nous.bus.delivery_state`).
    """
    about = {} if event is None else {"event_id": str(event.id), "session_id": event.session_id}
    if traceback:
        about["traceback"] = traceback
    return {
        "group": ticket.subscription.group,
        "kind": ticket.subscription.kind.type,
        "lane": ticket.lane.value,
        "entry": ticket.entry,
        "grave": grave.value,
        "reason": redacted(reason),
        "attempts": progress.attempt if progress else 0,
        **about,
    }


def announcement(
    ticket: Ticket, *, event: Event | None, reason: str, progress: Progress | None, at: datetime
) -> JobDeadLettered | None:
    """What is said of *ticket*, which is dead; where its event cannot be read, in the scope of those that name none.

    Nothing is said of what itself says that something is dead: whoever cannot take that would be told so without end.
    """
    if issubclass(ticket.subscription.kind, JobDeadLettered):
        return None
    group, kind = ticket.subscription.group, ticket.subscription.kind.type
    counted = progress or Progress(attempt=0)
    what = {"worker": group, "type": kind, "lane": ticket.lane.value, "entry": ticket.entry}
    counts = {
        "attempts": counted.attempt,
        "errors": counted.errors,
        "crashes": counted.crashes,
        "deaths": counted.deaths,
    }
    if event is not None:
        by, index = f"{group}/dead", counted.attempt
        return JobDeadLettered.after(event, by=by, index=index, at=at, what=what, why=reason, counts=counts)
    event_id = uuid5(NAMESPACE, f"dead\n{group}\n{kind}\n{ticket.name}")
    return JobDeadLettered(
        id=event_id,
        time=at,
        source=f"nous/{group}",
        scope=Scope(),
        agent_id="default",
        session_id=NO_SESSION,
        trace_id=event_id,
        what=what,
        why=reason,
        counts=counts,
    )


def dropped(letter: Letter) -> str:
    """Why the event of *letter* is skipped once that is dropped; somebody else's may have a reason of any length."""
    return shortened(f"{DROPPED}; {letter.reason}")


def event_of(raw: bytes | int | None, ticket: Ticket) -> Event | None:
    """The event that stands behind a ticket, if it can be read: not its size alone."""
    try:
        return decode(
            raw if isinstance(raw, bytes) else b"",
            type_hint=ticket.subscription.kind.type,
            accepted_at=accepted_at(ticket.entry),
        )
    except BadInput:
        return None


def read_letter(letter_id: bytes, fields: Mapping[bytes, bytes]) -> Letter:
    """Read a letter as Redis returns it; of one that `fields_of` has not written, what it takes to show and drop it."""
    told = {name.decode(errors="replace"): value.decode(errors="replace") for name, value in fields.items()}
    try:
        return letter_of(letter_id.decode(), told)
    except KeyError as error:
        return _unreadable(letter_id.decode(), told, f"it has no field {error}")
    except ValueError as error:
        return _unreadable(letter_id.decode(), told, str(error))


def _unreadable(letter_id: str, fields: Mapping[str, str], why: str) -> Letter:
    return Letter(
        id=letter_id,
        group="",
        kind="",
        lane=Lane.LIVE,
        entry="",
        grave=Grave.DEAD,
        reason=f"unreadable: {why}",
        at=accepted_at(letter_id),
        attempts=0,
        event_id=fields.get("event_id"),
        session_id=fields.get("session_id"),
    )


def letter_of(letter_id: str, fields: Mapping[str, str]) -> Letter:
    """Read a letter back. One that took the place of another tells the id of the *first*, and so when that was.

    Raises `KeyError` or `ValueError` if it is none.
    """
    return Letter(
        id=letter_id,
        group=fields["group"],
        kind=fields["kind"],
        lane=Lane(fields["lane"]),
        entry=fields["entry"],
        grave=Grave(fields["grave"]),
        reason=fields["reason"],
        at=accepted_at(fields.get("first", letter_id)),
        attempts=int(fields.get("attempts", 0)),
        event_id=fields.get("event_id"),
        session_id=fields.get("session_id"),
        history=history_of(fields.get("history", "")),
        traceback=fields.get("traceback", ""),
    )


def order(entry: str) -> tuple[int, int]:
    """Where an entry stands; what a foreign letter calls an entry and is none, stands before all."""
    milliseconds, _, sequence = entry.partition("-")
    return (int(milliseconds), int(sequence)) if milliseconds.isdigit() and sequence.isdigit() else (-1, -1)


def accepted_at(entry: str) -> datetime:
    """When a stream took an entry: its id begins with the milliseconds since the epoch, or what a producer said."""
    return datetime.fromtimestamp(min(int(entry.partition("-")[0]), _LATEST) / 1000, tz=UTC)
