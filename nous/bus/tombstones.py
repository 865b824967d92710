"""What was forgotten, as far as it takes to know it again: so that publishing it again does not bring it back."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from pydantic import TypeAdapter

from nous.domain.effects import AppendFacts, Effects, NoteCourse, NoteTried, SaveEpisode
from nous.domain.errors import BadInput
from nous.domain.event_codec import is_of_none
from nous.domain.events import Event, episode_id
from nous.domain.fact import tellings
from nous.domain.scope import Scope
from nous.facts.candidate_filter import Forgotten, mark_of
from nous.facts.normalize import exact_form

FORGOTTEN = "its session was forgotten"
"""Why an event is skipped that a foreign producer wrote straight into a stream."""

SCOPE_NAME = "scope"
"""The name for a scope as a whole: it says when, and keeps nobody away."""

_FORM = "form:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """When forgetting began, and whether it has come to its end; until then, *facts* are still being looked for.

    *marks* are those of the texts that were forgotten with it.
    """

    at: datetime
    is_done: bool = False
    facts: tuple[UUID, ...] = ()
    marks: tuple[str, ...] = ()


class WasForgotten(BadInput):
    """The session is not wanted any more, until somebody says that it is."""


class Tombstones(Protocol):
    """The tombstones of each scope, by name: see `session_name` and what follows it. They are kept for good.

    Every method raises `Unavailable` when the server does not answer.
    """

    def put(self, scope: Scope, names: Iterable[str], tombstone: Tombstone) -> None:
        """Put *tombstone* under each of *names*, in place of what is there."""
        ...

    def find(self, scope: Scope, name: str) -> Tombstone | None: ...

    def renew(self, scope: Scope, names: Iterable[str], tombstone: Tombstone) -> None:
        """As `put`, but where there is none any more: somebody has let that back meanwhile."""
        ...

    def lift(self, scope: Scope, name: str) -> bool:
        """Take a tombstone away; false where there was none."""
        ...

    def forms(self, scope: Scope) -> Forgotten:
        """The texts that must not be learned again in *scope*."""
        ...


def session_name(scope: Scope, session_id: str) -> str:
    return str(episode_id(scope, session_id))


def name_of(event: Event) -> str:
    """The name of the tombstone that keeps *event* away; "", which none has, for one that is of no session."""
    return "" if is_of_none(event.session_id, type(event)) else session_name(event.scope, event.session_id)


def form_name(mark: str) -> str:
    """The name for a text, of which `nous.facts.candidate_filter.mark_of` is left."""
    return f"{_FORM}{mark}"


def mark_in(name: str) -> str | None:
    """The mark that *name* stands for; None if it is of anything but a text."""
    return name.removeprefix(_FORM) if name.startswith(_FORM) else None


def fact_name(fact_id: UUID) -> str:
    return f"fact:{fact_id}"


def told_by(effects: Effects) -> Iterator[tuple[Scope, str]]:
    """By scope and name, the tombstones that would keep *effects* from being stored: of their sessions and texts."""
    for write in effects.writes:
        match write:
            case AppendFacts(scope=scope, rows=rows):
                yield from ((scope, session_name(scope, each.source.session_id)) for each in tellings(rows))
            case SaveEpisode(episode=episode):
                yield episode.scope, str(episode.id)
            case NoteTried():
                yield write.scope, str(write.episode_id)
            case NoteCourse(course=course):
                yield course.scope, session_name(course.scope, course.session_id)
            case _:
                pass
    yield from texts_told_by(effects)


def texts_told_by(effects: Effects) -> Iterator[tuple[Scope, str]]:
    """Those of texts alone: of facts, and of the candidates of episodes, be it of the edition that is set aside."""
    for write in effects.writes:
        match write:
            case AppendFacts(scope=scope, rows=rows):
                yield from ((scope, _name_of_text(scope, each.text)) for each in tellings(rows))
            case SaveEpisode(episode=episode, replaces=replaces):
                for fact in (*episode.candidate_facts, *(replaces.candidate_facts if replaces else ())):
                    yield episode.scope, _name_of_text(episode.scope, fact.text)
            case _:
                pass


def _name_of_text(scope: Scope, text: str) -> str:
    return form_name(mark_of(scope, exact_form(text)))


def refusal(event: Event, raw: bytes) -> WasForgotten:
    """What is said to whoever publishes *event*, whose tombstone is *raw*."""
    tombstone = TypeAdapter(Tombstone).validate_json(raw)
    state = "was forgotten on" if tombstone.is_done else "is being forgotten since"
    return WasForgotten(
        f"session {event.session_id} of scope {event.scope} {state} {tombstone.at:%Y-%m-%d %H:%M}; "
        "publish with --again to let it back"
    )
