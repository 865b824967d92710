"""facts_unembedded → fact_superseded | fact_linked: what had to be learned without a vector gets one."""

from datetime import timedelta
from typing import Self

from nous.domain.effects import Effects
from nous.domain.errors import Deferred, Unavailable
from nous.domain.events import Event, FactLinked, FactsUnembedded, FactSuperseded
from nous.facts.events import repairs
from nous.pipeline.worker import Kit, Worker

NAME = "fact-embedder"
NOTHING_WAITS = "every fact has its vector"

_AT_ONCE = 128
_LOOK_AGAIN = timedelta(minutes=1)


class FactEmbedder:
    """Embeds facts that have no vector by the embedder that is set now, and compares them with all that have.

    It takes some at a time, so that others can learn in between, and says when more are left. While the embedder is
    out, it waits.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @classmethod
    def from_kit(cls, kit: Kit) -> Self:
        return cls(kit)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, FactsUnembedded):
            raise TypeError(f"{NAME} consumes {FactsUnembedded.type}, not {event.type}")
        try:
            repair = self._kit.learner.repair(event.scope, most=_AT_ONCE)
        except Unavailable as error:
            raise Deferred(str(error), until=self._kit.clock() + _LOOK_AGAIN) from error
        if not repair.append.rows:
            return Effects(writes=(repair.append,), skipped=NOTHING_WAITS)
        at = self._kit.clock()
        told: list[Event] = [*repairs(event, repair.mended, by=NAME, at=at)]
        if repair.waits:
            told.append(FactsUnembedded.after(event, by=NAME, index=len(told), at=at))
        return Effects(writes=(repair.append,), events=tuple(told))


WORKER = Worker(NAME, FactsUnembedded, FactEmbedder.from_kit, emits=(FactSuperseded, FactLinked, FactsUnembedded))
