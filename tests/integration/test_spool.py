"""The spool of hooks: what is published of it, what is kept for later, and what is refused."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nous.app.container import Container
from nous.app.services import producer_of
from nous.domain.errors import Unavailable
from nous.domain.events import SessionCompacting, SessionEnded, SessionTouched
from nous.domain.scope import Scope
from nous.hosts import hosts
from nous.hosts.base import EventKind, Host, HostEvent, Json
from nous.hosts.drain import SpoolDrain
from nous.hosts.hook import MAGIC
from nous.hosts.spool import Spool
from nous.services.notes_folder import NotesFolder

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
