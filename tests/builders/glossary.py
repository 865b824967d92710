"""What the glossaries say of every key: its name, its type, and how long it lives."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

_NUMBERS = {"a": 1, "an": 1}
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_WITH_COLON = {"<stream>": r"[^:]+:[^:]+"}


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of keys. *lives* are in seconds, None for one that is kept; some live one way, and then another."""

    name: str
    type: str
    lives: tuple[float | None, ...]

    def says(self, key: str) -> bool:
        """Whether *key* is one of these."""
        parts = re.split(r"(<[^>]+>)", self.name.replace("<p>", "nous"))
        pattern = "".join(
            _WITH_COLON.get(part, r"[^:]+") if part.startswith("<") else re.escape(part) for part in parts
        )
        return re.fullmatch(pattern, key) is not None

    def lets_live(self, ttl: float) -> bool:
        """Whether a key may have *ttl* seconds left; -1 stands for no end."""
        return any(ttl == -1 if life is None else 0 <= ttl <= life for life in self.lives)


def rows_of(module: ModuleType, settings: Mapping[str, float]) -> Iterator[Row]:
    """The rows of the table on top of *module*; *settings* are the lives that it calls by their names."""
    for line in (module.__doc__ or "").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[0] and cells[0] != "key" and not cells[0].startswith("-"):
            yield Row(cells[0], cells[1], tuple(_seconds(life, settings) for life in cells[2].split(", ")))


def _seconds(life: str, settings: Mapping[str, float]) -> float | None:
    if life in {"kept", "until released"}:
        return None
    if life in settings:
        return settings[life]
    number, unit = life.split()
    return (_NUMBERS.get(number) or int(number)) * _UNITS[unit.removesuffix("s")]
