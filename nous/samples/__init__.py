"""List the paths of the sample session files, in five formats, that ship with the package.

SOURCE.md lists their sources.
"""

from pathlib import Path

_SUFFIXES = frozenset({".json", ".jsonl", ".txt"})


def bundled_sessions() -> tuple[Path, ...]:
    """Return the sample files, one session each, in a fixed order."""
    return tuple(sorted(path for path in Path(__file__).parent.glob("*/*") if path.suffix in _SUFFIXES))
