"""Erasure tombstones: record type, names to look up for an event or a handler's writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nous.domain.effects import AppendFacts, Effects, RecordResummaryAttempt, SaveEpisode, SaveSessionState
from nous.domain.episode import episode_id
from nous.domain.errors import BadInput
from nous.domain.event_codec import is_of_none
from nous.domain.events import Event
from nous.domain.fact import occurrences
from nous.domain.record_codec import decode
from nous.domain.scope import Scope
from nous.knowledge.candidate_filter import mark_of
from nous.knowledge.normalize import exact_form

FORGOTTEN = "its session was forgotten"
"""Reason for skipping an event of an erased session that a foreign producer wrote into a stream."""

SCOPE_NAME = "scope"  # name of the tombstone of a whole scope: it holds the time of the erasure and blocks nothing
_FORM = "form:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Record of an erasure: when it began, and whether it is complete.

    Until it is, *facts* are still being searched for. *marks* are hashes of the texts that were erased.
    """

    at: datetime
    is_done: bool = False
    facts: tuple[UUID, ...] = ()
    marks: tuple[str, ...] = ()


class WasForgotten(BadInput):
    """The session was erased and stays blocked until its tombstone is lifted."""


def session_name(scope: Scope, session_id: str) -> str:
    return str(episode_id(scope, session_id))


def name_of(event: Event) -> str:
    """Return the name of the tombstone that blocks *event*; empty if it is of no session."""
    return "" if is_of_none(event.session_id, type(event)) else session_name(event.scope, event.session_id)


def form_name(mark: str) -> str:
    """Return the name for a text, given its hash (`nous.knowledge.candidate_filter.mark_of`)."""
    return f"{_FORM}{mark}"


def mark_in(name: str) -> str | None:
    """Return the hash of the text that *name* stands for; None if it is no text's name."""
    return name.removeprefix(_FORM) if name.startswith(_FORM) else None


def fact_name(fact_id: UUID) -> str:
    return f"fact:{fact_id}"


def told_by(effects: Effects) -> Iterator[tuple[Scope, str]]:
    """Yield, by scope and name, the tombstones of sessions and texts that block *effects*."""
    for write in effects.writes:
        match write:
            case AppendFacts(scope=scope, rows=rows):
                yield from ((scope, session_name(scope, each.source.session_id)) for each in occurrences(rows))
            case SaveEpisode(episode=episode):
                yield episode.scope, str(episode.id)
            case RecordResummaryAttempt():
                yield write.scope, str(write.episode_id)
            case SaveSessionState(session_state=session_state):
                yield session_state.scope, session_name(session_state.scope, session_state.session_id)
            case _:
                pass
    yield from texts_told_by(effects)


def texts_told_by(effects: Effects) -> Iterator[tuple[Scope, str]]:
    """Yield, by scope and name, the tombstones of texts of facts that block *effects*."""
    for write in effects.writes:
        match write:
            case AppendFacts(scope=scope, rows=rows):
                yield from ((scope, _name_of_text(scope, each.text)) for each in occurrences(rows))
            case SaveEpisode(episode=episode, replaces=replaces):
                for fact in (*episode.candidate_facts, *(replaces.candidate_facts if replaces else ())):
                    yield episode.scope, _name_of_text(episode.scope, fact.text)
            case _:
                pass


def _name_of_text(scope: Scope, text: str) -> str:
    return form_name(mark_of(scope, exact_form(text)))


def refusal(event: Event, raw: bytes) -> WasForgotten:
    """Return the error for publishing *event*, whose tombstone is *raw*."""
    tombstone = decode(Tombstone, raw)
    state = "was forgotten on" if tombstone.is_done else "is being forgotten since"
    return WasForgotten(
        f"session {event.session_id} of scope {event.scope} {state} {tombstone.at:%Y-%m-%d %H:%M}; "
        "publish with --again to let it back"
    )
