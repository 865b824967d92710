"""Where chats say nothing, their words have to tell: of a failure, and of where one session ends and another begins."""

import re
from collections.abc import Mapping
from typing import Any

_FAILURE = re.compile(r"(?:\w{0,80}Error|Traceback)\b", re.IGNORECASE)
_NAMES = ("session_id", "conversation_id", "thread_id", "id", "task_id")


def tells_of_failure(result: str) -> bool:
    """Whether the *result* of a tool is that it failed; formats without error flags leave it to the words."""
    return _FAILURE.match(result) is not None


def own_name(session: Mapping[str, Any]) -> str:
    """What a session calls itself; nothing if it has no name."""
    named = (session.get(key) for key in _NAMES)
    return next((str(own) for own in named if isinstance(own, str | int) and not isinstance(own, bool) and own), "")


def another_session(name: str) -> str:
    """What to say where another session begins."""
    return f"Another session begins: {name}" if name else "Another session begins"
