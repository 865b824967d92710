"""Contracts of hosts: the event that follows from each payload, and what a hook prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from nous.hosts import hosts
from nous.hosts.base import EventKind, Host, HostEvent

GOLDEN = Path(__file__).parents[2] / "hosts"
EVENTS: dict[str, list[str | None] | None] = json.loads((GOLDEN / "events.json").read_text())
NAMES = sorted(hosts())


def event_of(name: str, **changed: Any) -> HostEvent | None:
    """The event of a recorded payload, some of whose fields are *changed*."""
    host, file = name.split("/")
    payload = json.loads((GOLDEN / "payloads" / name).read_text())
    return hosts()[host].event_of(hosts()[host].hooks[file.removesuffix(".json").split("-")[0]], payload | changed)


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/dev")
    for host in hosts().values():
        monkeypatch.delenv(host.home_variable or "HOST_HOME", raising=False)


def test_every_recorded_payload_has_an_event_on_record() -> None:
    assert sorted(EVENTS) == sorted(f"{path.parent.name}/{path.name}" for path in GOLDEN.glob("payloads/*/*.json"))
    assert {name.split("/")[0] for name in EVENTS} == set(NAMES)


@pytest.mark.parametrize("name", EVENTS)
def test_the_event_of_a_recorded_payload_is_as_on_record(name: str) -> None:
    found = event_of(name)

    assert (found and [found.kind, found.transcript, found.cwd, found.reason]) == EVENTS[name]


@pytest.mark.parametrize("name", EVENTS)
def test_a_field_of_a_later_release_changes_nothing(name: str) -> None:
    assert event_of(name, of_a_later_release={"a": [1]}) == event_of(name)


@pytest.mark.parametrize("name", [name for name, event in EVENTS.items() if event])
@pytest.mark.parametrize("odd", [None, 5, "", [], [5], {}, True])
def test_a_field_of_another_type_is_as_good_as_none(name: str, odd: Any) -> None:
    for field in ("transcript_path", "cwd", "session_id", "reason", "workspace_roots"):
        found = event_of(name, **{field: odd})

        assert found is None or isinstance(found, HostEvent)
        assert found is None or field != "cwd" or found.cwd is None or found.cwd.startswith("/")


@pytest.mark.parametrize("host", hosts().values(), ids=NAMES)
def test_a_host_tells_of_every_moment_of_a_session(host: Host) -> None:
    assert sorted({*host.hooks.values(), EventKind.END}) == sorted(EventKind)
    assert (EventKind.END in host.hooks.values()) == (host.name != "opencode")  # it has no such event


TEXT = b'"a \\"b\\"\\n\xc3\xa4"'
NESTED = b'"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":%s}' % TEXT
PRINTED = dict.fromkeys(NAMES, b"{%s}" % NESTED) | {
    "copilot": b'{"additionalContext":%s,%s}' % (TEXT, NESTED),
    "cursor": b'{"additional_context":%s}' % TEXT,
    "opencode": b'{"notes":%s}' % TEXT,
}


@pytest.mark.parametrize("name", NAMES)
def test_notes_are_printed_as_the_host_expects_them(name: str) -> None:
    assert hosts()[name].printed('a "b"\nä') == PRINTED[name]
