"""The spool of hooks: what is published of it, what is kept for later, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from nous.app.container import Container, build
from nous.app.services import producer_of
from nous.domain.episode import episode_id
from nous.domain.errors import Unavailable
from nous.domain.events import SessionCompacting, SessionEnded, SessionTouched
from nous.domain.scope import Scope
from nous.hosts import hosts
from nous.hosts.base import EventKind, Host, HostEvent, Json
from nous.hosts.drain import SpoolDrain
from nous.hosts.hook import MAGIC
from nous.hosts.loops import spool_of
from nous.hosts.spool import Spool
from nous.redis_server.data_dir import locate
from nous.services.workspace import NotesFolder, name_of
from nous.settings.model import Settings

TEXT = "User: Which port does billing use?\n\nAssistant: Billing listens on port 9017.\n"


class Place:
    """A spool, and the server that it is drained to."""

    def __init__(self, container: Container, folder: Path) -> None:
        self.container = container
        self.folder = folder
        self.now = time.time()
        self.spool = Spool(folder / "spool")
        self.spool.folder.mkdir()
        self.project = folder / "shop"
        (self.project / ".git").mkdir(parents=True)

    def drain(self, **hosts_known: Host) -> int:
        return SpoolDrain(
            self.spool,
            producer=producer_of(self.container),
            scopes=self.container.session_scopes,
            hosts=hosts_known or hosts(),
            clock=lambda: self.now,
            interval=1,
        ).drain()

    def transcript(self, name: str = "s1", text: str = TEXT) -> Path:
        path = self.folder / f"{name}.txt"
        path.write_text(text)
        return path

    def put(self, event: str, host: str = "claude-code", *, at: int = 1, **payload: Any) -> Path:
        return self.put_raw(json.dumps({"cwd": str(self.project), **payload}).encode(), event, host, at=at)

    def put_raw(self, payload: bytes, event: str = "SessionEnd", host: str = "claude-code", *, at: int = 1) -> Path:
        path = self.spool.folder / f"{at:020}-7.hook"
        head = f"{MAGIC}\nhost {host}\nevent {event}\nreceived_at {at}\nbytes {len(payload)}\n\n"
        path.write_bytes(head.encode() + payload)
        return path

    def events(self, kind: type[Any]) -> list[Any]:
        client: Any = self.container.client
        entries = [fields for stream in client.keys(f"nous:events:{kind.type}*") for _, fields in client.xrange(stream)]
        return [json.loads(fields[b"event"]) for fields in entries]

    def reasons(self) -> list[str]:
        return [path.with_suffix(".why").read_text() for path in self.spool.rejected()]


@pytest.fixture
def place(container: Container, tmp_path: Path) -> Place:
    return Place(container, tmp_path)


def test_the_end_of_a_session_is_published_in_the_scope_of_its_directory(place: Place) -> None:
    place.put("SessionEnd", transcript_path=str(place.transcript()), reason="logout")

    assert (place.drain(), place.spool.waiting()) == (1, [])
    [event] = place.events(SessionEnded)
    assert event["data"]["scope"] == {"tenant": "default", "agent": "default", "project": "shop"}
    assert (event["data"]["reason"], event["data"]["dataref"]) == ("logout", (place.folder / "s1.txt").as_uri())


def test_a_session_that_two_hosts_and_a_hook_twice_tell_of_is_one_event(place: Place) -> None:
    path = str(place.transcript())
    for at, host, event in (
        (1, "claude-code", "SessionEnd"),
        (2, "cursor", "sessionEnd"),
        (3, "claude-code", "SessionEnd"),
    ):
        place.put(event, host, at=at, transcript_path=path, workspace_roots=[str(place.project)])

    assert place.drain() == 3
    assert len(place.events(SessionEnded)) == 1


def test_turns_are_heartbeats_and_a_compaction_is_told(place: Place) -> None:
    place.put("Stop", transcript_path=str(place.transcript()), at=1_800_000_000 * 10**9)
    place.put("PreCompact", transcript_path=str(place.transcript()), at=2)

    assert place.drain() == 2
    assert [event["data"]["at"] for event in place.events(SessionTouched)] == ["2027-01-15T08:00:00Z"]
    assert len(place.events(SessionCompacting)) == 1


def test_a_start_makes_the_workspace_known_and_publishes_nothing(place: Place) -> None:
    notes = NotesFolder(place.container.settings.data_dir / "context")
    notes.folder.mkdir()
    place.put("SessionStart", transcript_path=str(place.folder / "not there yet"))

    assert place.drain() == 1
    assert notes.roots() == {str(place.project): Scope(project="shop")}
    assert place.events(SessionEnded) == place.events(SessionTouched) == []


def test_a_turn_of_a_session_that_is_not_recorded_is_nothing(place: Place) -> None:
    place.put("Stop", "codex", transcript_path=None)

    assert (place.drain(), place.spool.rejected()) == (1, [])


def test_what_a_sub_agent_does_is_not_published(place: Place) -> None:
    place.put("SessionEnd", transcript_path=str(place.transcript()), agent_id="a1")

    assert (place.drain(), place.events(SessionEnded), place.spool.rejected()) == (1, [], [])


def test_a_transcript_that_is_late_is_waited_for_and_given_up_at_last(place: Place) -> None:
    for at, name in ((1, "late"), (2, "never")):
        place.put("SessionEnd", at=at, transcript_path=str(place.folder / f"{name}.txt"))
    assert (place.drain(), len(place.spool.waiting())) == (0, 2)

    place.transcript("late")
    place.now += 3600

    assert place.drain() == 2
    assert len(place.events(SessionEnded)) == 1
    assert place.reasons() == [f"there is no transcript {place.folder / 'never.txt'}\n"]


def test_bad_input_is_kept_beside_its_reason_and_loses_no_good_input(place: Place) -> None:
    place.put_raw(b"{", at=1)
    place.put("SessionEnd", at=2, transcript_path=str(place.transcript("s2")))
    place.put("SessionEnd", at=3)
    place.put("Unheard", at=4)
    place.put("SessionEnd", "unknown-host", at=5)
    place.put("SessionEnd", at=6, transcript_path=str(place.transcript("empty", "")))
    (place.spool.folder / "7-7.hook").write_bytes(b"half of")

    assert (place.drain(), place.spool.waiting()) == (7, [])
    assert len(place.events(SessionEnded)) == 1
    reasons = place.reasons()
    for part in ("no JSON", "names no transcript", "'Unheard'", "'unknown-host'", "empty.txt", "not written by a hook"):
        assert len([reason for reason in reasons if part in reason]) == 1


def test_an_unusable_override_holds_up_its_own_project_alone(place: Place) -> None:
    override = place.project / ".nous.toml"
    override.write_text("scope = 5")
    place.put("SessionEnd", at=1, transcript_path=str(place.transcript("s1")))
    place.put("SessionEnd", at=2, transcript_path=str(place.transcript("s2")), cwd=str(place.folder))

    assert (place.drain(), len(place.spool.waiting())) == (1, 1)

    override.write_text('scope = "mended"')

    assert place.drain() == 1
    assert [event["data"]["scope"]["project"] for event in place.events(SessionEnded)] == [place.folder.name, "mended"]


def test_a_defect_in_a_plug_in_stops_no_other_file(place: Place) -> None:
    def broken(kind: EventKind, payload: Json) -> HostEvent | None:
        raise ZeroDivisionError(f"{kind} {payload}")

    known = dict(hosts())
    known["broken"] = replace(known["codex"], name="broken", event_of=broken)
    place.put("SessionEnd", "broken", at=1)
    place.put("SessionEnd", at=2, transcript_path=str(place.transcript()))

    assert place.drain(**known) == 2
    assert len(place.events(SessionEnded)) == 1
    assert "a defect in nous: ZeroDivisionError" in place.reasons()[0]


def test_what_the_server_has_not_taken_stays_in_the_spool(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.put("SessionEnd", transcript_path=str(place.transcript()))

    def down(*_: object, **__: object) -> None:
        raise Unavailable("the server does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(place.container.bus, "publish", down)
        with pytest.raises(Unavailable):
            place.drain()

    assert (len(place.spool.waiting()), place.drain(), len(place.events(SessionEnded))) == (1, 1, 1)


PROJECTS = ("billing", "search", "wiki")
ROUNDS = int(os.environ.get("HOST_ROUNDS", "3"))
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
