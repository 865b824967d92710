"""Events of one session."""

from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import uuid5

from nous.domain.episode import NAMESPACE
from nous.domain.events import Event
from nous.domain.scope import Scope

E = TypeVar("E", bound=Event)


def event_of(kind: type[E], name: str, **fields: Any) -> E:
    """An event of session `s1`, whose id derives from *name*."""
    event_id = uuid5(NAMESPACE, name)
    known: dict[str, Any] = {
        "id": event_id,
        "time": datetime(2026, 1, 1, tzinfo=UTC),
        "source": "tests",
        "scope": Scope(),
        "agent_id": "tester",
        "session_id": "s1",
        "trace_id": event_id,
    }
    return kind(**{**known, **fields})
