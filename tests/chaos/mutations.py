"""Breaks the code on purpose, one promise at a time, and looks whether a test notices: `make mutations`.

Each `[[mutant]]` in tests/chaos/mutants/*.toml says what it is, which promises it breaks (of those in promises.toml),
which text of which file gives way to which other, and the tests that have to fail then. The text has to stand in its
file once, and the tests have to pass without the change, so the list cannot rot. What is changed is a copy.

A mutant is caught when one of its tests fails. One that cannot be loaded, or lets no test begin, proves nothing.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from shutil import copytree
from typing import Any

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).with_name("mutants")
PROMISES = Path(__file__).with_name("promises.toml")

_AT_ONCE = 2
_LONGEST = 240
"""Seconds for the tests of one mutant; they take some three, and up to sixty where processes have to die."""
_SHOWN = 100
"""Characters of how a test failed."""
_FAILED = re.compile(r"^(?P<kind>FAILED|ERROR|SKIPPED) (?P<test>(?:tests/|\[).*?)(?: - (?P<said>.*))?$", re.MULTILINE)
"""A line of what pytest says in the end. Lines of a log that it shows may begin alike."""
_LEFT_BEHIND = ("build", "dist", "__pycache__")
_NO_TEST = re.compile(
    r"(ImportError|ModuleNotFoundError|SyntaxError|NameError)|compiling script|undefined global|nil value"
)
"""How a failure reads that shows no broken promise, but code that does not work at all."""
_LOAD = """
import importlib, sys
from pathlib import Path
from lupa import LuaRuntime
for name in sys.argv[1:]:
    if name.endswith(".lua"):
        LuaRuntime().compile(Path(name).read_text("utf-8"))
    else:
        importlib.import_module(name.removesuffix(".py").replace("/", "."))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """In *file*, *old* gives way to *new*."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A way to break a promise, and the tests that have to notice it."""

    name: str
    breaks: tuple[str, ...]
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]

    @classmethod
    def read(cls, told: dict[str, Any]) -> "Mutant":
        """Read one as the lists have it: with one edit in itself, or several in `edit`."""
        edits = told.get("edit") or [{name: told[name] for name in ("file", "old", "new")}]
        return cls(
            name=told["name"],
            breaks=tuple(told["breaks"]),
            edits=tuple(Edit(**edit) for edit in edits),
            tests=tuple(told["tests"]),
        )

    def misfits(self, root: Path) -> Iterator[str]:
        """Why it does not fit the code and the tests of *root*, if it does not."""
        for edit in self.edits:
            found = (root / edit.file).read_text("utf-8").count(edit.old)
            if found != 1:
                yield f"{self.name}: its text stands {found} times in {edit.file}"
        for test in self.tests:
            path, _, rest = test.partition("::")
            file, name = root / path, re.escape(rest.partition("[")[0])
            if not file.exists() or not re.search(rf"^def {name}\(", file.read_text("utf-8"), re.MULTILINE):
                yield f"{self.name}: there is no {test}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one run of tests: "caught", "survived" or "useless"; *said* are the words of *test*."""

    verdict: str
    test: str = ""
    said: str = ""
    seconds: float = 0.0


def mutants() -> list[Mutant]:
    """All there are, as the lists have them."""
    lists = [tomllib.loads(path.read_text("utf-8")) for path in sorted(LISTS.glob("*.toml"))]
    return [Mutant.read(told) for each in lists for told in each["mutant"]]


def promises() -> dict[str, str]:
    """What is promised, by the name that the lists have for it."""
    return tomllib.loads(PROMISES.read_text("utf-8"))


class Copy:
    """A copy of everything in *home*, where nothing that is broken does harm."""

    def __init__(self, home: Path) -> None:
        self._home = home
        copytree(ROOT, home, ignore=_left_behind)
        self._temporary = home / "tmp"
        self._temporary.mkdir()
        self._changes = 0

    @contextmanager
    def broken(self, mutant: Mutant) -> Generator[None]:
        before = {edit.file: (self._home / edit.file).read_text("utf-8") for edit in mutant.edits}
        try:
            for edit in mutant.edits:
                path = self._home / edit.file
                self._write(path, path.read_text("utf-8").replace(edit.old, edit.new))
            yield
        finally:
            for file, text in before.items():
                self._write(self._home / file, text)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        # Bytecode is taken for that of a file by the second of its time: none has one that it had before.
        self._changes += 1
        os.utime(path, (self._changes, self._changes))

    def load(self, mutant: Mutant) -> str:
        """Why a file that *mutant* has changed cannot be loaded; "" if it can."""
        files = [edit.file for edit in mutant.edits]
        done = subprocess.run(
            [sys.executable, "-c", _LOAD, *files],
            cwd=self._home,
            env=self._environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""

    def run(self, tests: Sequence[str]) -> Outcome:
        """Run *tests* up to the first that fails."""
        began = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfEs", "--tb=short", "-p", "no:cacheprovider", *tests]
        with subprocess.Popen(
            command,
            cwd=self._home,
            env=self._environment() | {"COLUMNS": "1000"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                told, _ = process.communicate(timeout=_LONGEST)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                told = f"ERROR none - not done after {_LONGEST} s"
        _end_all_in(self._temporary)
        return replace(_read(told, process.returncode), seconds=time.monotonic() - began)

    def _environment(self) -> dict[str, str]:
        # The copy comes before whatever is installed; nothing that is set for somebody's own use counts.
        ours = ("NOUS_", "PYTEST_", "PYTHON")
        given = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return given | {"PYTHONPATH": str(self._home), "TMPDIR": str(self._temporary)}


def _left_behind(folder: str, names: list[str]) -> Iterable[str]:
    at_top = Path(folder) == ROOT
    return [name for name in names if name in _LEFT_BEHIND or (at_top and name.startswith("."))]


def _end_all_in(folder: Path) -> None:
    """End the servers that a mutant has left behind: each works in its data, which is in *folder*."""
    for works_in in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if works_in.readlink().is_relative_to(folder):
                os.kill(int(works_in.parent.name), signal.SIGKILL)


def _read(told: str, code: int) -> Outcome:
    """What came of the tests, by the last words and the exit code of pytest."""
    found = _FAILED.search(told)
    if not found:
        return Outcome(verdict="useless" if code else "survived", said="no test was run" if code else "")
    said = found["said"] or ""
    is_test = found["kind"] == "FAILED" or "ERROR at teardown of" in told
    is_caught = is_test and not _NO_TEST.search(said)
    return Outcome(verdict="caught" if is_caught else "useless", test=found["test"].rpartition("::")[2], said=said)


def judge(mutant: Mutant, *, copies: "SimpleQueue[Copy]") -> Outcome:
    """Break a copy and run the tests that have to notice."""
    copy = copies.get()
    try:
        with copy.broken(mutant):
            trouble = copy.load(mutant)
            outcome = Outcome(verdict="useless", said=trouble) if trouble else copy.run(mutant.tests)
    finally:
        copies.put(copy)
    verdict = outcome.verdict if outcome.verdict == "caught" else outcome.verdict.upper()
    how = f"{mutant.name} ({', '.join(mutant.breaks)}): {outcome.test}: {outcome.said[:_SHOWN]}"
    print(f"{verdict:9}{outcome.seconds:4.0f} s  {how}", flush=True)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="WORDS", help="those whose name has these words in it")
    only = parser.parse_args().only or [""]
    chosen = [mutant for mutant in mutants() if any(words in mutant.name for words in only)]
    misfits = [misfit for mutant in chosen for misfit in mutant.misfits(ROOT)]
    if misfits or not chosen:
        print("\n".join(misfits) or "there is no such mutant", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="mutants-") as home:
        copies: SimpleQueue[Copy] = SimpleQueue()
        first = Copy(Path(home, "0"))
        sound = first.run(tuple(dict.fromkeys(test for mutant in chosen for test in mutant.tests)))
        if sound.verdict != "survived":
            print(f"without any mutant: {sound.verdict}: {sound.test} {sound.said}", file=sys.stderr)
            return 1
        for copy in (first, *(Copy(Path(home, str(number))) for number in range(1, min(_AT_ONCE, len(chosen))))):
            copies.put(copy)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            outcomes = list(pool.map(partial(judge, copies=copies), chosen))
    caught = sum(outcome.verdict == "caught" for outcome in outcomes)
    print(f"\n{caught} of {len(outcomes)} caught")
    return int(caught < len(outcomes))


if __name__ == "__main__":
    sys.exit(main())
