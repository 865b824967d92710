"""Whose memory it is. Nothing is read or merged across scopes."""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from nous.domain.errors import BadInput

LONGEST_PART = 200
"""Characters in one part of a scope, so that a key built from it stays short."""


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """The (tenant, agent, project) that a session, an episode or a fact belongs to.

    Written `tenant/agent/project`. A slash cannot occur inside a part, so two scopes never share a text form.
    """

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
        """Read `project`, `agent/project` or `tenant/agent/project`; what is left out is `default`.

        Raises:
            BadInput: there are more than three parts, or one of them is blank, too long or unprintable.
        """
        parts = text.split("/")
        if len(parts) > 3:
            raise BadInput(f"{text!r} is not a scope: write project, agent/project or tenant/agent/project")
        return cls(*["default"] * (3 - len(parts)), *parts)


def _can_be_part(part: object) -> bool:
    if not isinstance(part, str) or not part.strip():
        return False
    return len(part) <= LONGEST_PART and "/" not in part and part.isprintable()


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """A subject in a scope: the answers about it are kept under both, so that forgetting finds them.

    `drops` is how often answers about it had been dropped before anything was read that a question may quote. Were
    there more when the answer comes, it may quote what is forgotten, and is not kept. It is None where the subject is
    forgotten already, and only somebody who is late still asks.
    """

    scope: Scope
    subject: UUID
    drops: int | None = 0

    @classmethod
    def of(cls, scope: Scope, subject: UUID) -> Self:
        """A matter of which nothing was ever dropped."""
        return cls(scope=scope, subject=subject)
