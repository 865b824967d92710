"""Value types: scope (tenant, agent, project) of memory, and cache tag of model answers."""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from nous.domain.errors import BadInput

LONGEST_PART = 200
"""Maximum characters of one part of a scope, so that a key built from it stays short."""


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """Owner of all memory, written `tenant/agent/project`; no part contains a slash."""

    tenant: str = "default"
    agent: str = "default"
    project: str = "default"

    def __post_init__(self) -> None:
        for part in (self.tenant, self.agent, self.project):
            if not _can_be_part(part):
                raise BadInput(
                    f"{str(part)[:40]!r} cannot be part of a scope: "
                    f"use a text of 1 to {LONGEST_PART} printable characters, no slash, and not blank"
                )

    def __str__(self) -> str:
        return f"{self.tenant}/{self.agent}/{self.project}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `project`, `agent/project` or `tenant/agent/project`. Raises `BadInput`."""
        parts = text.split("/")
        if len(parts) > 3:
            raise BadInput(f"{text!r} is not a scope: write project, agent/project or tenant/agent/project")
        return cls(*["default"] * (3 - len(parts)), *parts)


def _can_be_part(part: object) -> bool:
    if not isinstance(part, str) or not part.strip():
        return False
    return len(part) <= LONGEST_PART and "/" not in part and part.isprintable()


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSubject:
    """Cache tag of model responses: a subject in a scope, by which an erasure invalidates them.

    `invalidation_count` is read before anything that a prompt may quote. If it has grown when the response arrives,
    that may quote erased content and is not cached. It is None if the subject is erased already.
    """

    scope: Scope
    subject: UUID
    invalidation_count: int | None = 0

    @classmethod
    def of(cls, scope: Scope, subject: UUID) -> Self:
        """Return the tag of a subject that was never invalidated."""
        return cls(scope=scope, subject=subject)
