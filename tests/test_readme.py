"""The README does not drift: what it names exists, what exists it names, and its code runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from chaos.drill.fault import faults

from nous.cli import COMMANDS
from nous.cli.memory import facts
from nous.domain import events
from nous.settings import Loaded, Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()

BLOCKS = re.findall(r"^```(\S*)([^\n]*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
"""Fenced code as (language, mark, text)."""

SHELL = [line for language, _, text in BLOCKS if language in {"sh", "console"} for line in text.splitlines()]


def prose_of(page: str) -> str:
    """*page* without its fenced code."""
    return re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)


PROSE = prose_of(README)
QUOTED = set(re.findall(r"`([^`\n]+)`", PROSE))


def words_after(program: str) -> list[str]:
    """The first argument of each call of *program* in the README's shell commands, in order."""
    found = re.compile(rf"(?:\$ )?(?:\S*/)?{program} +([a-z][a-z-]*)")
    return [match[1] for line in SHELL if (match := found.match(line))]


def test_the_first_two_commands_are_the_demo_and_the_tests() -> None:
    assert words_after("make")[:2] == ["demo", "test"]


def test_every_make_target_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))

    assert set(words_after("make")) | {word.split()[1] for word in QUOTED if word.startswith("make ")} <= targets


def test_every_command_is_named_and_every_named_command_exists() -> None:
    exist = {command.name for command in COMMANDS}
    quoted = {shlex.split(word)[1] for word in QUOTED if re.match(r"nous [a-z]", word)}

    assert quoted | set(words_after("nous")) == exist


def test_every_command_about_facts_is_named() -> None:
    quoted = {word.split()[2] for word in QUOTED if re.match(r"nous\s+facts\s+[a-z]", word)}

    assert quoted == set(facts.commands)


def test_every_event_is_named() -> None:
    ours = {name for name, kind in events.kinds().items() if kind.__module__.startswith("nous.")}

    assert ours <= QUOTED


def test_every_setting_it_names_exists() -> None:
    keys = [key for key, _, _ in Loaded(Settings(), None, {}).rows()]
    variables = {f"NOUS_{key.replace('.', '__').upper()}" for key in keys} | {"NOUS_CONFIG", "NOUS_DEBUG"}

    assert set(re.findall(r"\bNOUS_[A-Z_]*[A-Z]", README)) <= variables


def test_it_says_where_every_setting_stands() -> None:
    assert "(config/nous.toml)" in README


def test_every_relative_link_leads_somewhere() -> None:
    targets = {link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", README) if "://" not in link}

    assert [target for target in sorted(targets) if not (ROOT / target).exists()] == []


def test_every_file_it_names_exists() -> None:
    top = "nous|workers|config|tests|deploy"
    paths = {word for word in QUOTED if re.fullmatch(rf"(?:{top})/[\w./-]*", word)}

    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_its_python_runs(tmp_path: Path) -> None:
    """All blocks in one go, as a reader would type them; those marked `no-run` are left out."""
    script = "\n".join(text for language, mark, text in BLOCKS if language == "python" and "no-run" not in mark)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    environment = {**inherited, "NOUS_DATA_DIR": str(tmp_path / "data"), "NOUS_EMBEDDER": "hashed"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    try:
        ran = run("-c", script)
    finally:
        run("-m", "nous", "down")

    assert script
    assert ran.returncode == 0, ran.stderr


def test_the_page_of_promises_names_every_kind_of_fault_and_only_proofs_that_there_are() -> None:
    page = prose_of((ROOT / "tests" / "chaos" / "README.md").read_text())
    quoted = {" ".join(words.split()) for words in re.findall(r"`([^`]+)`", page)}

    assert {f"G{number}" for number in range(1, 21)} <= set(re.findall(r"^\| (G\d+) \|", page, re.MULTILINE))
    assert set(faults()) <= quoted
    assert [path for path in quoted if path.startswith("tests/") and not (ROOT / path).exists()] == []
