"""A program for tests: teaches what it reads, session by session, whatever happens to the server meanwhile.

Its argument is the settings, in JSON. Each line of standard input is a session: `{"session", "scope", "texts"}`.
"""

import json
import sys
import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid5

from nous.app.container import Container, build
from nous.bus.base import Conflict
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact
from nous.domain.errors import Retryable
from nous.domain.events import NAMESPACE
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.pipeline.fact_learner import FactLearner
from nous.settings.model import Settings

_PAUSE = 0.05
"""Seconds before a server that does not answer is tried again."""


def source_of(session: str) -> Source:
    episode = uuid5(NAMESPACE, session)
    return Source(episode_id=episode, event_id=episode, session_id=session, turns=(1,))


def teach(container: Container, told: Mapping[str, Any]) -> None:
    """Learn a session; what was refused is judged again, and what failed is tried again."""
    candidates = [CandidateFact(text=text, turns=(1,)) for text in told["texts"]]
    scope, source = Scope.parse(told["scope"]), source_of(told["session"])
    while True:
        try:
            lesson = FactLearner(container.context).ingest(candidates, scope=scope, source=source)
            effects = Effects(writes=(lesson.append,))
            if not lesson.append.rows or not isinstance(container.bus.apply(effects), Conflict):
                return
        except Retryable:
            time.sleep(_PAUSE)


def built(settings: Settings) -> Container:
    """The world, once there is a server: it may be killed before this process has begun."""
    while True:
        try:
            return build(settings)
        except Retryable:
            time.sleep(_PAUSE)


def main() -> None:
    container = built(Settings.model_validate_json(sys.argv[1]))
    for line in sys.stdin:
        teach(container, json.loads(line))


if __name__ == "__main__":
    main()
