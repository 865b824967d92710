"""What models are asked about."""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from nous.scope import Scope


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
