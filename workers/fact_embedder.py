"""facts_unembedded → fact_superseded | fact_linked: embed facts that have no vector yet."""

from datetime import timedelta
from typing import Self

from nous.domain.effects import Effects
from nous.domain.errors import Deferred, Unavailable
from nous.domain.events import Event, FactLinked, FactsUnembedded, FactSuperseded
from nous.knowledge.decision import announcements
from nous.pipeline.fact_learner import FactLearner
from nous.pipeline.worker import Worker, WorkerContext

NAME = "fact-embedder"
NOTHING_WAITS = "every fact has its vector"

_AT_ONCE = 128
_LOOK_AGAIN = timedelta(minutes=1)


class FactEmbedder:
    """Embeds facts that lack a vector of the configured embedder, and compares them with all.

    It embeds a batch at a time, so that others can learn in between, and publishes a follow-up event if more are left.
    While the embedder is unavailable, the event is deferred.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    @classmethod
    def from_context(cls, context: WorkerContext) -> Self:
        return cls(context)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, FactsUnembedded):
            raise TypeError(f"{NAME} consumes {FactsUnembedded.type}, not {event.type}")
        try:
            repair = FactLearner(self._context).embed_late(event.scope, most=_AT_ONCE)
        except Unavailable as error:
            raise Deferred(str(error), until=self._context.clock() + _LOOK_AGAIN) from error
        if not repair.append.rows:
            return Effects(writes=(repair.append,), skipped=NOTHING_WAITS)
        at = self._context.clock()
        events: list[Event] = [*announcements(event, repair.fact_decisions, by=NAME, at=at)]
        if repair.waits:
            events.append(FactsUnembedded.after(event, by=NAME, index=len(events), at=at))
        return Effects(writes=(repair.append,), events=tuple(events))


WORKER = Worker(NAME, FactsUnembedded, FactEmbedder.from_context, emits=(FactSuperseded, FactLinked, FactsUnembedded))
