"""Build and parse dead-letter records, and build the event that announces one. No I/O.

Older releases read these records, and this one reads theirs: fields are added and never changed.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import uuid5

from nous.bus.accounting import DeadLetter
from nous.bus.base import DeadLetterKind, DeliveryRef, Priority
from nous.bus.delivery_state import DeliveryState, history_of
from nous.domain.episode import NAMESPACE
from nous.domain.errors import BadInput
from nous.domain.event_codec import decode
from nous.domain.events import Event, JobDeadLettered
from nous.domain.scope import NO_SESSION, Scope
from nous.redaction.error_text import redacted
from nous.text.sanitize import shortened

DROPPED = "its letter was dropped"
"""Why the event of a dropped dead letter is skipped: it was dead or parked, and is not retried."""

_LATEST = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * 1000


def fields_of(
    ref: DeliveryRef,
    *,
    progress: DeliveryState | None,
    reason: str,
    grave: DeadLetterKind,
    event: Event | None,
    traceback: str = "",
) -> dict[str, str | int]:
    about = {} if event is None else {"event_id": str(event.id), "session_id": event.session_id}
    if traceback:
        about["traceback"] = traceback
    return {
        "group": ref.subscription.group,
        "kind": ref.subscription.kind.type,
        "lane": ref.priority.value,
        "entry": ref.entry,
        "grave": grave.value,
        "reason": redacted(reason),
        "attempts": progress.attempt if progress else 0,
        **about,
    }


def announcement(
    ref: DeliveryRef, *, event: Event | None, reason: str, progress: DeliveryState | None, at: datetime
) -> JobDeadLettered | None:
    """Return the `job_dead_lettered` event for *ref*; None if its own event is of that type.

    If the event cannot be read, the announcement is in the default scope and of no session. A dead `job_dead_lettered`
    is not announced: a consumer that cannot handle that event would get another one without end.
    """
    if issubclass(ref.subscription.kind, JobDeadLettered):
        return None
    group, kind = ref.subscription.group, ref.subscription.kind.type
    counted = progress or DeliveryState(attempt=0)
    what = {"worker": group, "type": kind, "lane": ref.priority.value, "entry": ref.entry}
    counts = {
        "attempts": counted.attempt,
        "errors": counted.errors,
        "crashes": counted.crashes,
        "deaths": counted.deaths,
    }
    if event is not None:
        by, index = f"{group}/dead", counted.attempt
        return JobDeadLettered.after(event, by=by, index=index, at=at, what=what, why=reason, counts=counts)
    event_id = uuid5(NAMESPACE, f"dead\n{group}\n{kind}\n{ref.name}")
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


def dropped(letter: DeadLetter) -> str:
    return shortened(f"{DROPPED}; {letter.reason}")


def event_of(raw: bytes | int | None, ref: DeliveryRef) -> Event | None:
    """Decode the event at *ref*; None if it cannot be read, or *raw* is only its size."""
    try:
        return decode(
            raw if isinstance(raw, bytes) else b"",
            type_hint=ref.subscription.kind.type,
            accepted_at=accepted_at(ref.entry),
        )
    except BadInput:
        return None


def read_letter(letter_id: bytes, stored: Mapping[bytes, bytes]) -> DeadLetter:
    """Read a dead letter as Redis returns it.

    One that replaced another has the id of that one, and so its time, in `first`.
    """
    fields = {name.decode(): value.decode(errors="replace") for name, value in stored.items()}
    return DeadLetter(
        id=letter_id.decode(),
        group=fields["group"],
        kind=fields["kind"],
        priority=Priority(fields["lane"]),
        entry=fields["entry"],
        letter_kind=DeadLetterKind(fields["grave"]),
        reason=fields["reason"],
        at=accepted_at(fields.get("first", letter_id.decode())),
        attempts=int(fields.get("attempts", 0)),
        event_id=fields.get("event_id"),
        session_id=fields.get("session_id"),
        history=history_of(fields.get("history", "")),
        traceback=fields.get("traceback", ""),
    )


def order(entry: str) -> tuple[int, int]:
    milliseconds, _, sequence = entry.partition("-")
    return int(milliseconds), int(sequence)


def accepted_at(entry: str) -> datetime:
    """Return when a stream accepted an entry; a producer may have chosen any id."""
    return datetime.fromtimestamp(min(int(entry.partition("-")[0]), _LATEST) / 1000, tz=UTC)
