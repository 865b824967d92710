"""Base classes of session events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEvent:
    """Something that happened in a session, as the agent reports it.

    `extra` holds fields that a newer program added. They are kept, and written back unchanged.
    """

    TYPE: ClassVar[str] = ""
    OMITTED: ClassVar[frozenset[str]] = frozenset()
    """Fields omitted if they are None; other fields are then written as null."""

    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def type(self) -> str:
        """Type name in the JSON form."""
        return self.TYPE


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownTranscriptEvent(TranscriptEvent):
    """An event of unknown type, or without the fields of its type. All fields are `extra`."""

    name: str

    @property
    def type(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSource:
    """Caller of a tool: the agent itself (`main`), one of its sub-agents, or a workflow step."""

    type: str = "main"
    agent_id: str | None = None
    agent_name: str | None = None
    workflow_id: str | None = None
    workflow_name: str | None = None
    step_name: str | None = None
    step_index: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


MAIN = EventSource()
