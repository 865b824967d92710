"""What `nous.publish` and `nous publish` do."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid5

from nous.bus.accounting import DeadLetters, Ledger, Whereabouts
from nous.bus.base import Bus, Lane, Receipt, Subscription, Ticket
from nous.bus.tombstones import Tombstones, WasForgotten, name_of
from nous.domain.episode import Decision
from nous.domain.errors import NotAllowed
from nous.domain.event_codec import checked_name
from nous.domain.events import NAMESPACE, DecisionRecorded, SessionEvent, SessionTouched
from nous.domain.scope import Scope
from nous.services.session_intake import About, Handover, Warn, logged

Session = str | Path | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A session that was handed over."""

    event: SessionEvent
    receipt: Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """A session that was said to go on."""

    event: SessionTouched
    receipt: Receipt


class Producer:
    """Hands sessions over to a bus. *readers* read what was uploaded; *tombstones* is None where nobody can forget."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        dead: DeadLetters,
        handover: Handover,
        *,
        readers: Sequence[Subscription],
        tombstones: Tombstones | None = None,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._dead = dead
        self._handover = handover
        self._readers = readers
        self._tombstones = tombstones

    def publish(
        self,
        session: Session,
        about: About,
        *,
        upload: bool = False,
        lane: Lane = Lane.LIVE,
        durable: bool = False,
        again: bool = False,
        warn: Warn = logged,
    ) -> Iterator[Published]:
        """Publish the sessions in a file, or one that is at hand; nothing happens before each is asked for.

        One that was forgotten is refused, unless it is wanted *again*; the others in its file are published before that
        is said. *warn* is told what has to be known of one that is published all the same, and what was left undone
        because the server does not allow it to who only publishes.
        """
        refusal: WasForgotten | None = None
        for event in self._events(session, about, upload=upload, warn=warn):
            if again and self._tombstones:
                with _as_far_as_allowed(warn, "a session that was forgotten is let back by others: this user may not"):
                    self._tombstones.lift(event.scope, name_of(event))
            try:
                [receipt] = self._bus.publish(event, lane=lane, durable=durable)
            except WasForgotten as error:
                with _as_far_as_allowed(warn, f"what {event.session_id} uploaded stays until it is forgotten again"):
                    self._bus.release(event)
                refusal = refusal or error
                continue
            if not receipt.fresh:
                with _as_far_as_allowed(
                    warn, f"{event.session_id} was published before; this user may not see what became of it"
                ):
                    self._follow_up(event)
            yield Published(event=event, receipt=receipt)
        if refusal:
            raise refusal

    def record(self, decision: Decision, *, session_id: str, scope: Scope, agent_id: str) -> Receipt:
        """Publish what was decided in a session; the same words in the same session are said once.

        Raises:
            BadInput: the session or the agent cannot be called so.
        """
        checked_name(session_id, "the id of a session")
        checked_name(agent_id, "the id of an agent")
        told = (decision.category, decision.stakes, f"{decision.confidence:g}", decision.description)
        event_id = uuid5(NAMESPACE, "\n".join((DecisionRecorded.type, str(scope), session_id, *told)))
        now = datetime.now(UTC)
        event = DecisionRecorded(
            id=event_id,
            time=now,
            source="nous/record",
            scope=scope,
            agent_id=agent_id,
            session_id=session_id,
            trace_id=event_id,
            description=decision.description,
            category=decision.category,
            stakes=decision.stakes,
            confidence=decision.confidence,
            at=now,
        )
        [receipt] = self._bus.publish(event)
        return receipt

    def touch(
        self, session: str | Path, about: About, *, background: bool = False, at: datetime | None = None
    ) -> Touched:
        """Publish that a session has moved on, *at* that time or now; said thrice of the same time it is one event.

        *session* is the path of its transcript, or its id where no file is called so. Raises as `Handover.touched`.
        """
        event = self._handover.touched(session, about, background=background, at=at)
        [receipt] = self._bus.publish(event)
        return Touched(event=event, receipt=receipt)

    def _events(self, session: Session, about: About, *, upload: bool, warn: Warn) -> Iterable[SessionEvent]:
        if isinstance(session, Path) or (isinstance(session, str) and "\n" not in session):
            return self._handover.of_file(Path(session), about, send=upload, warn=warn)
        return [self._handover.of_content(session, about)]

    def _follow_up(self, event: SessionEvent) -> None:
        """See to an event that was published before: a dead one is tried again, and nothing is kept for a done one."""
        for reader in (each for each in self._readers if each.kind is type(event)):
            location = self._ledger.locate(event.id, reader)
            if location.where is Whereabouts.DEAD and location.ticket:
                self._redrive(location.ticket, reader)
        self._bus.release(event)

    def _redrive(self, ticket: Ticket, reader: Subscription) -> None:
        for letter in self._dead.each():
            if letter.is_about(ticket):
                self._dead.redrive(letter, reader)


@contextmanager
def _as_far_as_allowed(warn: Warn, otherwise: str) -> Generator[None]:
    """Do what follows from publishing, or *warn* of what comes *otherwise* where the server lets us only publish."""
    try:
        yield
    except NotAllowed:
        warn(otherwise)
