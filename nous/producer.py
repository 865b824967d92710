"""What `nous.publish` and `nous publish` do."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nous.bus.base import Bus, Lane, Receipt, Subscription
from nous.bus.ledger import Ledger, Whereabouts
from nous.effects import Effects, ReleaseTranscript
from nous.events import SessionEnded
from nous.runtime.publish import About, Handover
from nous.settings import load_settings
from nous.wiring import World, build

Session = str | Path | Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A session that was handed over."""

    event: SessionEnded
    receipt: Receipt


class Producer:
    """Hands sessions over to a bus. *readers* read what was uploaded."""

    def __init__(self, bus: Bus, ledger: Ledger, handover: Handover, *, readers: Sequence[Subscription]) -> None:
        self._bus = bus
        self._ledger = ledger
        self._handover = handover
        self._readers = readers

    def publish(
        self, session: Session, about: About, *, upload: bool = False, lane: Lane = Lane.LIVE, durable: bool = False
    ) -> Iterator[Published]:
        """Publish the sessions in a file, or one that is at hand; nothing happens before each is asked for."""
        for event in self._events(session, about, upload=upload):
            [receipt] = self._bus.publish(event, lane=lane, durable=durable)
            if not receipt.fresh:
                self._release_if_done(event)
            yield Published(event=event, receipt=receipt)

    def _events(self, session: Session, about: About, *, upload: bool) -> Iterable[SessionEnded]:
        if isinstance(session, Path) or (isinstance(session, str) and "\n" not in session):
            return self._handover.of_file(Path(session), about, send=upload)
        return [self._handover.of_content(session, about)]

    def _release_if_done(self, event: SessionEnded) -> None:
        """Let go of what was uploaded for an event that was dealt with before; nobody else would."""
        if not event.dataref or not event.dataref.startswith("redis:"):
            return
        seen = {self._ledger.locate(event.id, reader).where for reader in self._readers}
        if seen <= {Whereabouts.DONE, Whereabouts.SKIPPED}:
            self._bus.apply(Effects(writes=(ReleaseTranscript(dataref=event.dataref),)))


def producer_of(world: World) -> Producer:
    readers = [each for each in world.subscriptions if each.kind is SessionEnded]
    return Producer(world.bus, world.ledger, world.handover, readers=readers)


@cache
def default_producer() -> Producer:
    """The producer for the settings of this process; one connection serves every call."""
    return producer_of(build(load_settings()))
