"""Check the project's language: docstrings, class names and log events.

Usage: python tests/checks/words.py [FILE ...]

- A docstring's first line is at most 90 characters, is no relative clause, and uses plain words.
- A public class name exists once in `nous` and `workers`.
- A log event is `subject.event`, with its details in fields.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LONGEST_LINE = 90
RELATIVE_CLAUSE = re.compile(r"(What|Who|Whose|Whom|Whether|Whatever|Whoever)\b")
PLAIN_WORDS_MISSED = re.compile(
    r"\b(who|what|which)ever\b|\b(no|some)body\b|\b(is|are|was|were) told\b|\bgoes? by\b|\bcomes to\b|"
    r"\bmade anew\b|\bset aside\b|\bat all\b",
    re.IGNORECASE,
)
EVENT_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")
LEVELS = frozenset({"debug", "info", "warning", "error", "exception", "critical"})

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Finding(NamedTuple):
    """A place in the code that breaks a rule."""

    path: Path
    line: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.problem}"


def main(arguments: Sequence[str]) -> int:
    """Print findings in the files of *arguments*, by default in all code; return the exit code."""
    code = [path for folder in ("nous", "workers") for path in sorted((ROOT / folder).rglob("*.py"))]
    paths = [Path(each).resolve() for each in arguments] or code
    findings = [finding for path in paths for finding in check(path)]
    if not arguments:
        findings += repeated_classes(code)
    print(*findings, sep="\n") if findings else print("words: fine")
    return 1 if findings else 0


def check(path: Path) -> Iterator[Finding]:
    """Yield what breaks a rule in one file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, Documented) and (text := ast.get_docstring(node)):
            line = node.body[0].lineno
            yield from (Finding(path, line, problem) for problem in docstring_problems(text))
        elif isinstance(node, ast.Call) and (problem := event_problem(node)):
            yield Finding(path, node.lineno, problem)


def docstring_problems(text: str) -> Iterator[str]:
    """Yield what is wrong with the docstring *text*."""
    first = text.splitlines()[0]
    if len(first) > LONGEST_LINE:
        yield f"the first line has {len(first)} characters, more than {LONGEST_LINE}: {first!r}"
    if RELATIVE_CLAUSE.match(first):
        yield f"begins with a relative clause: {first!r}"
    if found := PLAIN_WORDS_MISSED.search(text):
        yield f"says {found.group()!r} where a plain word would do: {first!r}"


def event_problem(call: ast.Call) -> str | None:
    """Return what is wrong with *call*, if it writes a log line."""
    function, event = call.func, call.args[0] if call.args else None
    if not (isinstance(function, ast.Attribute) and function.attr in LEVELS and isinstance(event, ast.Constant)):
        return None
    if ast.unparse(function.value) not in {"log", "self._log"} or EVENT_NAME.fullmatch(str(event.value)):
        return None
    return f"log event {event.value!r} is no `subject.event`"


def repeated_classes(paths: Sequence[Path]) -> Iterator[Finding]:
    """Yield public class names that several modules define."""
    places: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path in paths:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append((path, node.lineno))
    for name, found in places.items():
        yield from (Finding(path, line, f"class {name} is defined elsewhere too") for path, line in found[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
