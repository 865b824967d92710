"""Teaches sessions in a process of its own, whatever happens to the server meanwhile."""

import time
from collections.abc import Iterable
from typing import NamedTuple
from uuid import uuid5

from nous.app.container import Container, build
from nous.bus.base import Conflict
from nous.domain.effects import Effects
from nous.domain.episode import NAMESPACE, CandidateFact
from nous.domain.errors import Retryable
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.pipeline.fact_learner import FactLearner
from nous.settings.model import Settings

_PAUSE = 0.05
"""Seconds before a server that does not answer is tried again."""


class Session(NamedTuple):
    session: str
    scope: str
    texts: tuple[str, ...]


def teach(settings: Settings, told: Iterable[Session]) -> None:
    """Learn sessions one by one; what was refused is judged again, and what failed is tried again."""
    container: Container | None = None
    for session in told:
        while True:
            try:
                container = container or build(settings)
                if _is_learned(container, session):
                    break
            except Retryable:
                time.sleep(_PAUSE)


def _is_learned(container: Container, told: Session) -> bool:
    candidates = [CandidateFact(text=text, turns=(1,)) for text in told.texts]
    episode = uuid5(NAMESPACE, told.session)
    source = Source(episode_id=episode, event_id=episode, session_id=told.session, turns=(1,))
    lesson = FactLearner(container.context).ingest(candidates, scope=Scope.parse(told.scope), source=source)
    effects = Effects(writes=(lesson.append,))
    return not lesson.append.rows or not isinstance(container.bus.apply(effects), Conflict)
