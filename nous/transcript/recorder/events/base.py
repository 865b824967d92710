"""What all events of a session have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEvent:
    """Something that happened in a session, as an agent tells it while it works.

    `extra` are fields that a newer program has added: they are kept, and written again as they came.
    """

    TYPE: ClassVar[str] = ""
    OMITTED: ClassVar[frozenset[str]] = frozenset()
    """Fields that are left out where they are None; of all others it is written as null."""

    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def type(self) -> str:
        """The name of what happened, as it is written."""
        return self.TYPE


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEvent(TranscriptEvent):
    """An event of a type that is not known, or that lacks what its type has to say. Its fields are all `extra`."""

    name: str

    @property
    def type(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who called a tool: the agent itself (`main`), one of its sub-agents, or a step of a workflow."""

    type: str = "main"
    agent_id: str | None = None
    agent_name: str | None = None
    workflow_id: str | None = None
    workflow_name: str | None = None
    step_name: str | None = None
    step_index: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


MAIN = Source()
