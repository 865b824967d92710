"""Value types: scope (tenant, agent, project) of memory, and cache tag of model answers."""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from nous.domain.errors import BadInput

LONGEST_PART = 200  # maximum characters of one part of a scope, so that a key built from it stays short

NO_SESSION = "no session (nous)"
"""Placeholder session of an event that belongs to none, and of its consequences. No session has this id."""

LONGEST_NAME = 400  # maximum characters of a session or agent id


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
    def parse(cls, text: object) -> Self:
        """Parse `project`, `agent/project` or `tenant/agent/project`. Raises `BadInput`."""
        parts = text.split("/") if isinstance(text, str) else []
        if not 1 <= len(parts) <= 3:
            raise BadInput(f"{text!r} is not a scope: write project, agent/project or tenant/agent/project")
        return cls(*["default"] * (3 - len(parts)), *parts)


def _can_be_part(part: object) -> bool:
    if not isinstance(part, str) or not part.strip():
        return False
    return len(part) <= LONGEST_PART and "/" not in part and part.isprintable()


def checked_name(value: object, what: str) -> str:
    """Return *value* if it can be the id of a session or an agent, named *what* in `BadInput`."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME or not value.isprintable():
        raise BadInput(f"{what} has to be a text of 1 to {LONGEST_NAME} printable characters, and not blank")
    if value == NO_SESSION:
        raise BadInput(f"{what} cannot be {NO_SESSION!r}, which stands for the session of events that are of none")
    return value


@dataclass(frozen=True, slots=True)
class CacheSubject:
    """Cache tag of model responses: a subject in a scope, by which an erasure invalidates them.

    `invalidation_count` is read before anything that a prompt may quote. If it has grown when the response arrives,
    that may quote erased content and is not cached. It is None if the subject is erased already.
    """

    scope: Scope
    subject: UUID
    invalidation_count: int | None = 0
