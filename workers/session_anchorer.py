"""session_compacting → update the session's anchored summary."""

from typing import Self

from nous.domain.effects import Effects, ExpectAnchoredSummary, ReleaseTranscript, SaveAnchoredSummary, Write
from nous.domain.events import Event, SessionCompacting, episode_id
from nous.pipeline.worker import Worker, WorkerContext

NAME = "session-anchorer"

NOTHING_NEW = "nothing new"


class SessionAnchorer:
    """Updates a session's anchored summary when its agent is about to compact its context."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    @classmethod
    def from_context(cls, context: WorkerContext) -> Self:
        return cls(context)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, SessionCompacting):
            raise TypeError(f"{NAME} consumes {SessionCompacting.type}, not {event.type}")
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
            return Effects(writes=(expected, *_releases(event)), skipped=NOTHING_NEW)
        saved = SaveAnchoredSummary(anchor=anchor, replaces=seen)
        return Effects(writes=(saved, *_releases(event)))


def _releases(event: SessionCompacting) -> tuple[Write, ...]:
    is_uploaded = event.dataref is not None and event.dataref.startswith("redis:")
    return (ReleaseTranscript(scope=event.scope, dataref=event.dataref),) if is_uploaded and event.dataref else ()


WORKER = Worker(NAME, SessionCompacting, SessionAnchorer.from_context)
