"""What the glossaries say of every key: its name, its type, and how long it lives."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import redis

from nous.bus.redis import keys as bus_keys
from nous.llm import state as llm_keys
from nous.store import keys as store_keys

_NUMBERS = {"a": 1, "an": 1}
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_NEVER: Mapping[str, float] = dict.fromkeys(("marker_ttl", "answer_ttl", "job_ttl"), inf)
"""For who asks only whether there is an end."""
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

    @property
    def may_stay(self) -> bool:
        return None in self.lives

    def lets_live(self, ttl: float) -> bool:
        """Whether a key may have *ttl* seconds left; -1 stands for no end."""
        return any(ttl == -1 if life is None else 0 <= ttl <= life for life in self.lives)


def rows_of(module: ModuleType, settings: Mapping[str, float]) -> Iterator[Row]:
    """The rows of the table beside *module*; *settings* are the lives that it calls by their names."""
    for line in Path(module.__file__ or "").with_name("keys.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and cells[0] and cells[0] != "key" and not cells[0].startswith("-"):
            yield Row(cells[0].strip("`"), cells[1], tuple(_seconds(life, settings) for life in cells[2].split(", ")))


def _seconds(life: str, settings: Mapping[str, float]) -> float | None:
    if life in {"kept", "until released"}:
        return None
    if life in settings:
        return settings[life]
    number, unit = life.split()
    return (_NUMBERS.get(number) or int(number)) * _UNITS[unit.removesuffix("s")]


def keys_of(client: redis.Redis, prefix: str = "nous") -> Iterator[tuple[str, bool, Row | None]]:
    """Every key under *prefix*, whether it lacks a TTL, and its row."""
    server: Any = client
    rows = [row for module in (bus_keys, store_keys, llm_keys) for row in rows_of(module, _NEVER)]
    for key in server.scan_iter(f"{prefix}:*", count=1000):
        life, name = server.ttl(key), key.decode()
        if life != -2:  # it has expired since
            yield name, life == -1, next((row for row in rows if row.says(name)), None)


def leaked(client: redis.Redis, prefix: str = "nous") -> list[str]:
    """Keys of ours that are kept for ever although no glossary says so."""
    return [name for name, stays, row in keys_of(client, prefix) if stays and not (row and row.may_stay)]
