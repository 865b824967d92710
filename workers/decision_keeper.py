"""decision_recorded → kept with the session's episode."""

from nous.domain.effects import Effects, KeepDecision
from nous.domain.events import DecisionRecorded, Event, episode_id
from nous.pipeline.worker import Handler, Kit, Worker

NAME = "decision-keeper"

SAYS_NOTHING = "says nothing"


def keep(event: Event, /) -> Effects:
    """Keep what was decided, once; a decision without words is skipped."""
    if not isinstance(event, DecisionRecorded):
        raise TypeError(f"{NAME} consumes {DecisionRecorded.type}, not {event.type}")
    if not event.description.strip():
        return Effects(skipped=SAYS_NOTHING)
    kept = KeepDecision(
        scope=event.scope,
        episode_id=episode_id(event.scope, event.session_id),
        event_id=event.id,
        decision=event.decision,
    )
    return Effects(writes=(kept,))


def _build(_: Kit) -> Handler:
    return keep


WORKER = Worker(NAME, DecisionRecorded, _build)
