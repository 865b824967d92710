"""On session_compacting, update the session's rolling summary from its transcript."""

from functools import partial

from nous.domain.effects import Effects, ExpectAnchoredSummary, SaveAnchoredSummary, released
from nous.domain.episode import episode_id
from nous.domain.events import SessionCompacting
from nous.pipeline.worker import Worker, WorkerContext

NAME = "session-anchorer"

NOTHING_NEW = "nothing new"


def anchor(context: WorkerContext, event: SessionCompacting, /) -> Effects:
    """Update a session's anchored summary when its agent is about to compact its context."""
    matter = context.cache_subject(event.scope, episode_id(event.scope, event.session_id))
    previous = context.anchored_summaries.anchored_summary(
        event.scope, agent_id=event.agent_id, session_id=event.session_id
    )
    seen = previous.event_id if previous else None
    transcript = context.transcripts.read(event)
    after = context.anchored_summarizer.next(transcript, previous, event=event, matter=matter)
    if after is None:
        expected = ExpectAnchoredSummary(
            scope=event.scope, agent_id=event.agent_id, session_id=event.session_id, event_id=seen
        )
        return Effects(writes=(expected, *released(event)), skipped=NOTHING_NEW)
    saved = SaveAnchoredSummary(anchor=after, replaces=seen)
    return Effects(writes=(saved, *released(event)))


WORKER = Worker(NAME, SessionCompacting, lambda context: partial(anchor, context))
