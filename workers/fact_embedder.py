"""On facts_unembedded, embed facts without a vector; then merge, supersede or link them."""

from datetime import timedelta
from functools import partial

from nous.domain.effects import Effects
from nous.domain.errors import Deferred, Unavailable
from nous.domain.events import FactLinked, FactsUnembedded, FactSuperseded
from nous.knowledge.decision import announcements
from nous.pipeline.fact_learner import FactLearner
from nous.pipeline.worker import Worker, WorkerContext

NAME = "fact-embedder"
NOTHING_WAITS = "every fact has its vector"

_AT_ONCE = 128
_LOOK_AGAIN = timedelta(minutes=1)


def embed(context: WorkerContext, event: FactsUnembedded, /) -> Effects:
    """Embed a batch of facts that lack a vector, and compare them with all.

    So others can learn in between; a follow-up event is published if more are left. While the embedder is unavailable,
    the event is deferred.
    """
    try:
        repair = FactLearner(context).embed_late(event.scope, most=_AT_ONCE)
    except Unavailable as error:
        raise Deferred(str(error), until=context.clock() + _LOOK_AGAIN) from error
    if not repair.append.rows:
        return Effects(writes=(repair.append,), skipped=NOTHING_WAITS)
    events = announcements(event, repair.fact_decisions, by=NAME, at=context.clock(), waits=repair.waits)
    return Effects(writes=(repair.append,), events=tuple(events))


WORKER = Worker(
    NAME, FactsUnembedded, lambda context: partial(embed, context), emits=(FactSuperseded, FactLinked, FactsUnembedded)
)
