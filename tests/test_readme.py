"""The README and the pages in docs/ do not drift: what they name exists, what exists they name, and their code runs."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from chaos.drill.fault import faults

import nous
from nous.cli import COMMANDS, DEVELOPER_COMMANDS
from nous.cli.search import FACT_COMMANDS
from nous.domain import events
from nous.domain.event_codec import decode
from nous.settings import Loaded, Settings

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()

FENCED = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
HARD_WORDS = (
    *("goes by", "whoever", "whatever", "nobody", "is told", "are told", "set aside", "sets aside", "made anew"),
    *("hand over", "handed over", "hands over", "at all", "comes to", "somebody", "anybody"),
)
"""Words of sentences that have to be read twice."""


def prose_of(page: str) -> str:
    """Return *page* without its fenced code."""
    return FENCED.sub("", page)


@dataclass(frozen=True)
class Page:
    """One Markdown file of the documentation."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def prose(self) -> str:
        return prose_of(self.text)

    @cached_property
    def blocks(self) -> list[tuple[str, str, str]]:
        """Fenced code as (language, mark, text)."""
        return FENCED.findall(self.text)

    @cached_property
    def quoted(self) -> set[str]:
        return set(re.findall(r"`([^`\n]+)`", self.prose))

    @cached_property
    def shell(self) -> list[str]:
        return [
            line for language, _, text in self.blocks if language in {"sh", "console"} for line in text.splitlines()
        ]

    @cached_property
    def script(self) -> str:
        """Its Python blocks, as a reader would type them; those marked `no-run` are left out."""
        return "\n".join(text for language, mark, text in self.blocks if language == "python" and "no-run" not in mark)

    @cached_property
    def needs(self) -> list[str]:
        """Modules, beside those that tests always have, that blocks marked `needs=MODULE` import."""
        return re.findall(r"^```python needs=(\w+)", self.text, re.MULTILINE)

    def words_after(self, program: str) -> list[str]:
        """Return the first argument of each call of *program* in the shell commands, in order."""
        found = re.compile(rf"(?:\$ )?(?:\S*/)?{program} +([a-z][a-z-]*)")
        return [match[1] for line in self.shell if (match := found.match(line))]


README = Page(ROOT / "README.md")
PAGES = [README, *(Page(path) for path in sorted((ROOT / "docs").glob("*.md")))]
BESIDE = [Page(ROOT / folder / "README.md") for folder in ("deploy", "tests/chaos", "tests/benchmarks")]
QUOTED = {words for page in PAGES for words in page.quoted}

each_page = pytest.mark.parametrize("page", PAGES, ids=[page.path.stem for page in PAGES])


def words_after(program: str) -> set[str]:
    return {word for page in PAGES for word in page.words_after(program)}


def anchors_of(page: str) -> set[str]:
    """Return the anchors of the headings of a Markdown page, as GitHub derives them."""
    headings = re.findall(r"^#{1,6} +(.+?) *$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_is_short_begins_with_two_commands_and_leads_to_every_page() -> None:
    targets = set(re.findall(r"\]\((docs/[\w.-]+\.md)", README.prose))

    assert README.words_after("make")[:2] == ["demo", "test"]
    assert len(README.text.splitlines()) <= 250
    assert README.script
    assert targets == {str(page.path.relative_to(ROOT)) for page in PAGES} - {"README.md"}


def test_every_make_target_they_name_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))

    assert words_after("make") | {word.split()[1] for word in QUOTED if word.startswith("make ")} <= targets


def test_every_command_is_named_and_every_named_command_exists() -> None:
    exist = {command.name for command in (*COMMANDS, *DEVELOPER_COMMANDS)}
    quoted = {shlex.split(word)[1] for word in QUOTED if re.match(r"nous [a-z]", word)}

    assert quoted | words_after("nous") == exist


def test_every_command_about_facts_public_name_and_event_is_named() -> None:
    quoted = {word.split()[2] for word in QUOTED if re.match(r"nous\s+facts\s+[a-z]", word)}
    ours = {name for name, kind in events.kinds().items() if kind.__module__.startswith("nous.")}

    assert quoted == {command.name for command in FACT_COMMANDS}
    assert set(nous.__all__) <= {name for page in PAGES for name in re.findall(r"\bnous\.(\w+)", page.text)}
    assert ours <= QUOTED


def test_every_event_that_a_page_adds_to_a_stream_is_accepted() -> None:
    added = re.compile(r"""XADD nous:(?:events|bulk):(\w+) '?\*'? event '([^']+)'""")
    found = [entry for page in PAGES for _, _, text in page.blocks for entry in added.findall(text)]

    assert found
    assert [decode(entry, type_hint=kind).type for kind, entry in found] == [kind for kind, _ in found]


def test_every_setting_they_name_exists() -> None:
    keys = [key for key, _, _ in Loaded(Settings(), None, {}).rows()]
    variables = {f"NOUS_{key.replace('.', '__').upper()}" for key in keys} | {
        "NOUS_CONFIG",
        "NOUS_DEBUG",
        "NOUS_DISABLED",
    }
    tables = {key.partition(".")[0] for key in keys if "." in key}
    quoted = {word for word in QUOTED if re.fullmatch(rf"(?:{'|'.join(tables)})\.[a-z_]+", word)}

    assert {name for page in PAGES for name in re.findall(r"\bNOUS_[A-Z_]*[A-Z]", page.text)} <= variables
    assert quoted <= set(keys)
    assert any("config/nous.toml)" in page.text for page in PAGES)


@each_page
def test_every_relative_link_leads_somewhere(page: Page) -> None:
    links = {link for link in re.findall(r"\]\(([^)\s]+)\)", page.prose) if "://" not in link}
    dead: list[str] = []
    for link in sorted(links):
        name, _, anchor = link.partition("#")
        target = page.path.parent / name if name else page.path
        if not target.exists() or (anchor and anchor not in anchors_of(_page_at(target).read_text())):
            dead.append(link)

    assert dead == []


def _page_at(target: Path) -> Path:
    return target / "README.md" if target.is_dir() else target


@each_page
def test_every_file_it_names_exists(page: Page) -> None:
    top = "nous|workers|config|tests|deploy|docs"
    paths = {word for word in page.quoted if re.fullmatch(rf"(?:{top})/[\w./-]*", word)}

    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, *BESIDE], ids=lambda page: str(page.path.relative_to(ROOT)))
def test_its_sentences_need_no_second_reading(page: Page) -> None:
    words = " ".join(page.prose.lower().split())

    assert [word for word in HARD_WORDS if re.search(rf"\b{word}\b", words)] == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.script], ids=[page.path.stem for page in PAGES if page.script]
)
def test_its_python_runs(page: Page, tmp_path: Path) -> None:
    for module in page.needs:
        pytest.importorskip(module, reason=f"{module} comes with nous-bus[dev]")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    own = {"NOUS_DATA_DIR": str(tmp_path / "data"), "NOUS_EMBEDDER": "hashed", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    environment = {**inherited, **own}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    try:
        ran = run("-c", page.script)
    finally:
        run("-m", "nous", "down")

    assert ran.returncode == 0, ran.stderr
    assert "without its memory" not in ran.stderr  # adapters log failures instead of raising them


def test_the_page_of_promises_names_every_kind_of_fault_and_only_proofs_that_there_are() -> None:
    page = prose_of((ROOT / "tests" / "chaos" / "README.md").read_text())
    quoted = {" ".join(words.split()) for words in re.findall(r"`([^`]+)`", page)}

    assert {f"G{number}" for number in range(1, 21)} <= set(re.findall(r"^\| (G\d+) \|", page, re.MULTILINE))
    assert set(faults()) <= quoted
    assert [path for path in quoted if path.startswith("tests/") and not (ROOT / path).exists()] == []
