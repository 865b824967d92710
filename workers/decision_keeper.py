"""decision_recorded → save the decision with the session's episode."""

from nous.domain.effects import Effects, SaveDecision
from nous.domain.events import DecisionRecorded, Event, episode_id
from nous.pipeline.worker import Handler, Worker, WorkerContext

NAME = "decision-keeper"

SAYS_NOTHING = "says nothing"


def keep(event: Event, /) -> Effects:
    """Save the recorded decision. Idempotent.

    A decision without text is skipped.
    """
    if not isinstance(event, DecisionRecorded):
        raise TypeError(f"{NAME} consumes {DecisionRecorded.type}, not {event.type}")
    if not event.description.strip():
        return Effects(skipped=SAYS_NOTHING)
    kept = SaveDecision(
        scope=event.scope,
        episode_id=episode_id(event.scope, event.session_id),
        event_id=event.id,
        decision=event.decision,
    )
    return Effects(writes=(kept,))


def _build(_: WorkerContext) -> Handler:
    return keep


WORKER = Worker(NAME, DecisionRecorded, _build)
