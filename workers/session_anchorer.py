"""session_compacting → the session's anchored summary."""

from typing import Self

from nous.domain.effects import Effects, ExpectAnchor, ReleaseTranscript, SaveAnchor, Write
from nous.domain.events import Event, SessionCompacting, episode_id
from nous.pipeline.worker import Kit, Worker

NAME = "session-anchorer"

NOTHING_NEW = "nothing new"


class SessionAnchorer:
    """Makes a session's anchored summary anew when its agent is about to forget the beginning."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @classmethod
    def from_kit(cls, kit: Kit) -> Self:
        return cls(kit)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, SessionCompacting):
            raise TypeError(f"{NAME} consumes {SessionCompacting.type}, not {event.type}")
        matter = self._kit.matter(event.scope, episode_id(event.scope, event.session_id))
        previous = self._kit.anchors.anchor(event.scope, agent_id=event.agent_id, session_id=event.session_id)
        seen = previous.event_id if previous else None
        transcript = self._kit.transcripts.read(event)
        anchor = self._kit.anchorer.next(transcript, previous, event=event, matter=matter)
        if anchor is None:
            expected = ExpectAnchor(
                scope=event.scope, agent_id=event.agent_id, session_id=event.session_id, event_id=seen
            )
            return Effects(writes=(expected, *_releases(event)), skipped=NOTHING_NEW)
        saved = SaveAnchor(anchor=anchor, replaces=seen)
        return Effects(writes=(saved, *_releases(event)))


def _releases(event: SessionCompacting) -> tuple[Write, ...]:
    is_uploaded = event.dataref is not None and event.dataref.startswith("redis:")
    return (ReleaseTranscript(scope=event.scope, dataref=event.dataref),) if is_uploaded and event.dataref else ()


WORKER = Worker(NAME, SessionCompacting, SessionAnchorer.from_kit)
