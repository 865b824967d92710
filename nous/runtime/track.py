"""Where a session is on its way, found by following the ids that events derive from each other."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID, uuid5

from nous.bus.base import Subscription
from nous.bus.ledger import Ledger, Location, Whereabouts
from nous.events import Event
from nous.kit import Worker

_AT_REST = frozenset({Whereabouts.DONE, Whereabouts.SKIPPED, Whereabouts.DEAD, Whereabouts.PARKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One event of a session's chain, as one worker has it."""

    worker: str
    event_id: UUID
    location: Location

    @property
    def is_at_rest(self) -> bool:
        return self.location.where in _AT_REST

    @property
    def has_failed(self) -> bool:
        return self.location.where in {Whereabouts.DEAD, Whereabouts.PARKED}


def follow(event_id: UUID, kind: type[Event], *, workers: Mapping[str, Worker], ledger: Ledger) -> Iterator[Step]:
    """The steps that the event *event_id* has led to so far, in order.

    Nothing has to remember the chain: what a worker emits has an id that derives from what it was given.
    """
    for worker in workers.values():
        if worker.consumes.type != kind.type:
            continue
        location = ledger.locate(event_id, Subscription(worker.name, worker.consumes))
        if location.where is Whereabouts.UNKNOWN:
            continue
        yield Step(worker=worker.name, event_id=event_id, location=location)
        if location.where is Whereabouts.DONE:
            for emitted in worker.emits:
                yield from follow(_first_emitted(event_id, worker), emitted, workers=workers, ledger=ledger)


def all_at_rest(steps: Iterable[Step]) -> bool:
    return all(step.is_at_rest for step in steps)


def _first_emitted(event_id: UUID, worker: Worker) -> UUID:
    return uuid5(event_id, f"{worker.name}/0")
