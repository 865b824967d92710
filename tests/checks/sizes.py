"""Check the sizes of the project: modules, lines, and what stands at the top of `nous`.

Usage: python tests/checks/sizes.py

Prints each figure beside its goal. A figure may exceed its goal, though not its limit, which only ever shrinks.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FRAGMENT = 40
"""Lines below which a module is a fragment. Plug-ins and `__init__` modules are exempt."""

PLUG_INS = (
    "nous/transcript/readers",
    "nous/llm/providers",
    "nous/hosts/contracts",
    "workers",
)


class Size(NamedTuple):
    """A figure, the most that is accepted today, and the most that is wanted."""

    name: str
    value: int
    limit: int
    goal: int


def main() -> int:
    """Print all sizes and return 1 if one exceeds its limit."""
    found = sizes()
    for size in found:
        print(f"{size.name:28} {size.value:7,}   goal {size.goal:7,}", "" if size.value <= size.goal else "  over")
    exceeded = [size for size in found if size.value > size.limit]
    for size in exceeded:
        print(f"{size.name}: {size.value:,} is more than the {size.limit:,} that are accepted")
    return 1 if exceeded else 0


def sizes() -> list[Size]:
    """Return every size that has a limit."""
    product = sorted(path for folder in ("nous", "workers") for path in (ROOT / folder).rglob("*.py"))
    tops = [path for path in (ROOT / "nous").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    fragments = [path for path in product if not is_exempt(path) and lines_of([path]) < FRAGMENT]
    return [
        Size("modules", len(product), limit=330, goal=330),
        Size("lines of the product", lines_of(product), limit=40_000, goal=40_000),
        Size("lines of the tests", lines_of((ROOT / "tests").rglob("*.py")), limit=40_000, goal=40_000),
        Size(f"modules under {FRAGMENT} lines", len(fragments), limit=4, goal=30),
        Size("packages and modules of nous", len(tops), limit=30, goal=30),
        Size("lines of the README", lines_of([ROOT / "README.md"]), limit=250, goal=250),
    ]


def is_exempt(path: Path) -> bool:
    """Return whether *path* may be as small as it likes."""
    return path.name == "__init__.py" or path.relative_to(ROOT).parent.as_posix() in PLUG_INS


def lines_of(paths: Iterable[Path]) -> int:
    """Count the lines of all *paths*."""
    return sum(len(path.read_text().splitlines()) for path in paths)


if __name__ == "__main__":
    sys.exit(main())
