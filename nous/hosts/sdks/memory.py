"""Memory for a program of an agent SDK: notes before a run, its session after it."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import nous
from nous.domain.errors import NousError

_Result = TypeVar("_Result")
_LONGEST_QUERY = 2_000
"""Characters. Searching for a megabyte that a user has pasted takes seconds."""


class HostMemory:
    """The calls of nous that an adapter makes. A failure costs memory, and never the run.

    The first failure is logged as a warning, further ones for debugging. Every call blocks.
    """

    def __init__(self, scope: str | None) -> None:
        self._options: dict[str, Any] = {} if scope is None else {"scope": scope}
        self._level = logging.WARNING

    def notes(self, query: str) -> str:
        return self._attempt(lambda: nous.context(query[:_LONGEST_QUERY], **self._options), "")

    def publish(self, session: Path | Sequence[Mapping[str, Any]], name: str, *, compacting: bool = False) -> None:
        """Publish the session *name* as it is now; grown, it becomes a new version of itself."""
        self._attempt(lambda: nous.publish(session, session_id=name, compacting=compacting, **self._options), ())

    def touch(self, session: Path, name: str) -> None:
        self._attempt(lambda: nous.touch(session, session_id=name, **self._options), None)

    def _attempt(self, call: Callable[[], _Result], otherwise: _Result) -> _Result:
        try:
            return call()
        except (NousError, OSError) as error:
            logging.getLogger(__name__).log(self._level, "the agent goes on without its memory: %s", error)
            self._level = logging.DEBUG
            return otherwise
