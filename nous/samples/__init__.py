"""Real sessions in five formats, small enough to ship. Where they are from is told in SOURCE.md."""

from pathlib import Path

_SUFFIXES = frozenset({".json", ".jsonl", ".txt"})


def bundled_sessions() -> tuple[Path, ...]:
    """The files, each one session, in a fixed order."""
    return tuple(sorted(path for path in Path(__file__).parent.glob("*/*") if path.suffix in _SUFFIXES))
