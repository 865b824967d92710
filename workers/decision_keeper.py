"""On decision_recorded, save the decision under its session's episode; emit no event."""

from nous.domain.effects import Effects, SaveDecision
from nous.domain.episode import episode_id
from nous.domain.events import DecisionRecorded
from nous.pipeline.worker import Worker

NAME = "decision-keeper"

SAYS_NOTHING = "says nothing"


def keep(event: DecisionRecorded, /) -> Effects:
    """Save the recorded decision; one without text is skipped. Idempotent."""
    if not event.description.strip():
        return Effects(skipped=SAYS_NOTHING)
    kept = SaveDecision(
        scope=event.scope,
        episode_id=episode_id(event.scope, event.session_id),
        event_id=event.id,
        decision=event.decision,
    )
    return Effects(writes=(kept,))


WORKER = Worker(NAME, DecisionRecorded, lambda _: keep)
