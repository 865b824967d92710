"""A day of an agent with hooks: it starts with notes, works, is compacted, ends, and the server is killed meanwhile."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from nous.app.container import Container, build
from nous.domain.episode import episode_id
from nous.domain.scope import Scope
from nous.hosts.loops import spool_of
from nous.redis_server.data_dir import locate
from nous.services.notes_folder import name_of
from nous.settings.model import Settings

PROJECTS = ("billing", "search", "wiki")
ROUNDS = int(os.environ.get("HOST_ROUNDS", "4"))
"""Sessions in each project: 10 in a drill."""


@dataclass
class Session:
    """A session of Claude Code, whose transcript grows, and which runs the hooks that its settings name."""

    id: str
    folder: Path
    environment: Mapping[str, str]
    lines: list[str] = field(default_factory=list[str])

    @property
    def transcript(self) -> Path:
        return Path(self.environment["HOME"], ".claude", "projects", self.folder.name, f"{self.id}.jsonl")

    def says(self, kind: str, text: str) -> None:
        message: dict[str, Any] = {"role": kind, "content": text}
        if kind == "assistant":
            message |= {"id": f"m{len(self.lines)}", "model": "claude", "content": [{"type": "text", "text": text}]}
        record = {"type": kind, "uuid": f"{self.id}-{len(self.lines)}", "sessionId": self.id, "cwd": str(self.folder)}
        self.lines.append(json.dumps(record | {"timestamp": "2026-11-28T10:00:00.000Z", "message": message}))
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.transcript.write_text("\n".join(self.lines) + "\n")

    def hook(self, event: str, **more: str) -> str:
        settings = json.loads(Path(self.environment["HOME"], ".claude", "settings.json").read_text())
        about = {"session_id": self.id, "transcript_path": str(self.transcript), "cwd": str(self.folder)}
        payload = json.dumps({**about, "hook_event_name": event, **more})
        [entry] = settings["hooks"][event]
        command = entry["hooks"][0]["command"]
        ran = subprocess.run(
            ["sh", "-c", command], input=payload, capture_output=True, text=True, check=True, env=self.environment
        )
        assert ran.stderr == ""
        return ran.stdout

    def notes(self, **more: str) -> str:
        """The notes that its start hook prints for the agent."""
        printed = self.hook("SessionStart", **more)
        return json.loads(printed)["hookSpecificOutput"]["additionalContext"] if printed else ""


@dataclass
class Day:
    """A user with three projects, the hook installed, and `nous up`."""

    home: Path
    data: Path

    def __post_init__(self) -> None:
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")} | {
            "HOME": str(self.home),
            "NOUS_DATA_DIR": str(self.data),
            "NOUS_EMBEDDER": "hashed",
            "NOUS_WORKER__LEASE": "5s",
        }
        for project in PROJECTS:
            (self.home / project / ".git").mkdir(parents=True)
            remote = f'[remote "origin"]\n\turl = git@github.com:acme/{project}.git\n'
            (self.home / project / ".git" / "config").write_text(remote)
        (self.home / ".claude").mkdir()
        subprocess.run(self.command("install", "claude-code"), env=self.environment, check=True, capture_output=True)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "nous", *arguments]

    def session(self, number: int, project: str) -> Session:
        return Session(f"{project}-{number}", self.home / project, self.environment)

    def kill_the_server(self) -> None:
        os.kill(int(locate(self.data).pid.read_text()), signal.SIGKILL)


@pytest.fixture
def day(directory: Path, tmp_path: Path, wait_until: Any) -> Iterator[Day]:
    day = Day(tmp_path / "ann", directory)
    with (tmp_path / "log").open("w") as log:
        up = subprocess.Popen(day.command("up"), env=day.environment, cwd=day.home, stdout=log, stderr=log)
    try:
        wait_until(lambda: " up at " in f" {(tmp_path / 'log').read_text()}", "nous to be up")
        yield day
    finally:
        up.terminate()
        assert up.wait(60) == 0, (tmp_path / "log").read_text()


def scope_of(project: str) -> Scope:
    return Scope(project=f"github.com:acme:{project}")


def fact(number: int, project: str) -> str:
    return f"Service {project}-{number} listens on port {9000 + number}."


def test_each_session_becomes_an_episode_and_the_next_one_starts_with_it(day: Day, wait_until: Any) -> None:
    container = build(Settings(data_dir=day.data, embedder="hashed"))
    killed_after = {(ROUNDS // 3, "search"), (2 * ROUNDS // 3, "wiki")}

    for number in range(ROUNDS):
        for project in PROJECTS:
            session = day.session(number, project)
            notes = session.notes(source="startup")
            known = [fact(before, project) for before in range(number)]
            assert [each for each in known if each.rstrip(".") not in notes] == [], notes
            assert [other for other in PROJECTS if other != project and other in notes] == []
            works(session, number, project)
            if (number, project) in killed_after:
                day.kill_the_server()
            session.hook("SessionEnd", reason="prompt_input_exit")
            if number % 2:  # hosts that load the settings of each other tell of an end twice
                session.hook("SessionEnd", reason="prompt_input_exit")
        wait_until(lambda number=number: is_known(container, number), f"the notes of round {number}")

    assert spool_of(container).waiting() == spool_of(container).rejected() == []
    for project in PROJECTS:
        episodes = container.memory.episodes.recent(scope_of(project))
        assert sorted(each.session_id for each in episodes) == sorted(f"{project}-{n}" for n in range(ROUNDS))
    assert {str(scope) for scope in container.memory.episodes.scopes()} == {str(scope_of(each)) for each in PROJECTS}
    assert container.dead_letters.count() == 0


def works(session: Session, number: int, project: str) -> None:
    """Two turns, with a compaction between them in every third session."""
    session.says("user", f"Which port does service {project}-{number} listen on?")
    session.says("assistant", fact(number, project))
    session.hook("Stop")
    if number % 3 == 1:
        session.hook("PreCompact", trigger="auto")
    session.says("user", "Thank you, that is all.")
    session.says("assistant", "You are welcome.")
    session.hook("Stop")


def is_known(container: Container, number: int) -> bool:
    """True if the notes of each project contain the fact of its last session."""
    for scope, project in ((scope_of(project), project) for project in PROJECTS):
        notes = container.settings.data_dir / "context" / f"{name_of(scope)}.claude-code"
        episode = container.memory.episodes.get(scope, episode_id(scope, f"{project}-{number}"))
        if episode is None or not notes.exists() or fact(number, project).rstrip(".") not in notes.read_text():
            return False
    return True


def test_a_session_that_was_compacted_goes_on_with_its_own_summary(day: Day, wait_until: Any) -> None:
    first, second = day.session(1, "billing"), day.session(2, "billing")
    for session, task in ((first, "the invoice templates"), (second, "the tax tables")):
        session.notes(source="startup")
        session.says("user", f"Please rework {task} of billing, and keep the tests green.")
        session.says("assistant", f"I have begun with {task}; the tests still fail.")
        session.hook("PreCompact", trigger="auto")

    for session, task in ((first, "the invoice templates"), (second, "the tax tables")):
        wait_until(lambda s=session, t=task: t in s.notes(source="compact"), f"the summary of {session.id}")
