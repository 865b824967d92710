"""How much of a log an index has."""

from dataclasses import dataclass
from typing import Self

from nous.fact import LogVersion


@dataclass(frozen=True, slots=True)
class Mark:
    """Of which generation an index is, the version up to which it is complete, and how many facts it has then.

    A generation begins with an empty index: whatever was seen of an earlier one is worth nothing.
    """

    generation: str
    version: LogVersion
    size: int = 0

    @property
    def begun(self) -> str:
        """All but the size, which the index itself tells."""
        return f"{self.generation} {self.version}"

    def __str__(self) -> str:
        return f"{self.begun} {self.size}"

    @classmethod
    def parse(cls, raw: bytes) -> Self | None:
        if not raw:
            return None
        generation, version, size = raw.decode().split(" ")
        return cls(generation, LogVersion.parse(version), int(size))

    def covers(self, earlier: Self) -> bool:
        """Whether the index has had all that *earlier* tells of ever since."""
        return self.generation == earlier.generation and self.version.n >= earlier.version.n
