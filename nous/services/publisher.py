"""Producer API: publish sessions, decisions and session heartbeats (touches) to the bus."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic
from uuid import uuid5

from typing_extensions import TypeVar  # typing's own has defaults from Python 3.13 on

from nous.bus.accounting import EventStatus
from nous.bus.base import Bus, Priority, PublishReceipt, Subscription
from nous.bus.erasure import WasForgotten, name_of
from nous.bus.redis.accounting import RedisDeadLetterQueue, RedisDeliveryStats
from nous.bus.redis.erasure import RedisTombstones
from nous.domain.effects import Effects, released
from nous.domain.episode import NAMESPACE, Decision
from nous.domain.errors import BadInput, NotAllowed
from nous.domain.events import DecisionRecorded, Event, SessionEvent, SessionTouched
from nous.domain.scope import Scope, checked_name
from nous.services.session_intake import SessionIntake, SessionMetadata, Warn, logged

E = TypeVar("E", bound=Event, default=SessionEvent)
Session = str | Path | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published(Generic[E]):
    event: E
    receipt: PublishReceipt


@dataclass(eq=False)
class Producer:
    """Publisher of sessions; *readers* are the consumer groups of uploaded content."""

    bus: Bus
    delivery_stats: RedisDeliveryStats
    dead: RedisDeadLetterQueue
    session_intake: SessionIntake
    _: KW_ONLY
    readers: Sequence[Subscription]
    tombstones: RedisTombstones | None = None

    def publish(
        self,
        session: Session,
        about: SessionMetadata,
        *,
        upload: bool = False,
        priority: Priority = Priority.LIVE,
        durable: bool = False,
        again: bool = False,
        warn: Warn = logged,
    ) -> Iterator[Published]:
        """Publish the sessions in a file, or one given as messages. Lazy: iterate to publish.

        An erased session is refused, unless *again* lifts its tombstone, after the others of the file were published.
        *warn* is called with a problem that does not prevent publication, and with each step that was skipped because
        the server does not allow it to a user that may only publish.
        """
        refusal: WasForgotten | None = None
        for event in self._events(session, about, upload=upload, warn=warn):
            if again and self.tombstones:
                with _as_far_as_allowed(warn, "this user may not lift the erasure of a session: another one has to"):
                    self.tombstones.lift(event.scope, name_of(event))
            try:
                [receipt] = self.bus.publish(event, priority=priority, durable=durable)
            except WasForgotten as error:
                self._discard_upload(event, warn)
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

    def record(self, decision: Decision, *, session_id: str, scope: Scope, agent_id: str) -> PublishReceipt:
        """Publish a decision made in a session; equal ones are one event. Raises `BadInput`."""
        if not decision.description.strip():
            raise BadInput("a decision needs a description")
        if not 0 <= decision.confidence <= 1:
            raise BadInput(f"a confidence of {decision.confidence}: it has to be between 0 and 1")
        checked_name(session_id, "the id of a session")
        checked_name(agent_id, "the id of an agent")
        content = (decision.category, decision.stakes, f"{decision.confidence:g}", decision.description)
        event_id = uuid5(NAMESPACE, "\n".join((DecisionRecorded.type, str(scope), session_id, *content)))
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
        [receipt] = self.bus.publish(event)
        return receipt

    def touch(
        self, session: str | Path, about: SessionMetadata, *, background: bool = False, at: datetime | None = None
    ) -> Published[SessionTouched]:
        """Publish a session heartbeat for the time *at*, or now. Raises as `SessionIntake.touched`.

        Heartbeats of the same time are one event. *session* is the path of the transcript, or the session's id.
        """
        event = self.session_intake.touched(session, about, background=background, at=at)
        [receipt] = self.bus.publish(event)
        return Published(event=event, receipt=receipt)

    def _events(self, session: Session, about: SessionMetadata, *, upload: bool, warn: Warn) -> Iterable[SessionEvent]:
        if isinstance(session, Path) or (isinstance(session, str) and "\n" not in session):
            return self.session_intake.of_file(Path(session), about, send=upload, warn=warn)
        return [self.session_intake.of_content(session, about)]

    def _discard_upload(self, event: SessionEvent, warn: Warn) -> None:
        if upload := released(event):
            with _as_far_as_allowed(warn, f"the upload of {event.session_id} stays until it is erased again"):
                self.bus.apply(Effects(writes=upload))

    def _follow_up(self, event: SessionEvent) -> None:
        for reader in (each for each in self.readers if each.kind is type(event)):
            location = self.delivery_stats.locate(event.id, reader)
            if location.where is EventStatus.DEAD and location.ref:
                for letter in [each for each in self.dead.each() if each.is_about(location.ref)]:
                    self.dead.redrive(letter, reader)


@contextmanager
def _as_far_as_allowed(warn: Warn, otherwise: str) -> Generator[None]:
    """Run an optional step; call *warn* with *otherwise* if the server forbids it to this user."""
    try:
        yield
    except NotAllowed:
        warn(otherwise)
