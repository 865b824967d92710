"""What is learned of a session on the way, besides its entries."""

from collections import Counter
from dataclasses import dataclass, field, replace

from nous.transcript.model import Header, Problem

MOST_PROBLEMS = 100
"""How many unreadable lines are named one by one; the rest are only counted."""


@dataclass(slots=True)
class Notes:
    """The session's header, and what was passed over, counted by reason."""

    header: Header = field(default_factory=Header)
    skipped: Counter[str] = field(default_factory=Counter[str])
    problems: list[Problem] = field(default_factory=list[Problem])

    def skip(self, reason: str) -> None:
        """Count something that was passed over on purpose."""
        self.skipped[reason] += 1

    def trouble(self, reason: str, line: int) -> None:
        """Count something that could not be read, and name its line."""
        self.skipped[reason] += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(line, reason))

    def learn(self, **said: str | int | None) -> None:
        """Add to the header what is not known yet."""
        new = {name: value for name, value in said.items() if value and getattr(self.header, name) is None}
        if new:
            self.header = replace(self.header, **new)  # pyright: ignore[reportArgumentType] fields are str | int | None
