"""session_compacting → update the session's anchored summary."""

from nous.domain.effects import Effects, ExpectAnchoredSummary, SaveAnchoredSummary, released
from nous.domain.events import SessionCompacting, episode_id
from nous.pipeline.worker import Worker, WorkerContext

NAME = "session-anchorer"

NOTHING_NEW = "nothing new"


class SessionAnchorer:
    """Updates a session's anchored summary when its agent is about to compact its context."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    def __call__(self, event: SessionCompacting, /) -> Effects:
        matter = self._context.cache_subject(event.scope, episode_id(event.scope, event.session_id))
        previous = self._context.anchored_summaries.anchored_summary(
            event.scope, agent_id=event.agent_id, session_id=event.session_id
        )
        seen = previous.event_id if previous else None
        transcript = self._context.transcripts.read(event)
        anchor = self._context.anchored_summarizer.next(transcript, previous, event=event, matter=matter)
        if anchor is None:
            expected = ExpectAnchoredSummary(
                scope=event.scope, agent_id=event.agent_id, session_id=event.session_id, event_id=seen
            )
            return Effects(writes=(expected, *released(event)), skipped=NOTHING_NEW)
        saved = SaveAnchoredSummary(anchor=anchor, replaces=seen)
        return Effects(writes=(saved, *released(event)))


WORKER = Worker(NAME, SessionCompacting, SessionAnchorer)
