"""Names that no session, agent or scope can have: refused by name on every way in, with nothing written."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous

import nous as api
from nous.app.container import Container
from nous.app.services import default_producer
from nous.bus.base import Priority, Subscription
from nous.bus.redis.keys import BusKeys
from nous.cli.framework import BAD_INPUT
from nous.domain.errors import BadInput
from nous.domain.events import DecisionRecorded, SessionCompacting, SessionEnded
from nous.domain.scope import LONGEST_PART

GOOD = "User: Please remember that I live in Berlin.\n\nAssistant: I will.\n"
NAMES = {
    "empty": "",
    "blank": "   ",
    "NUL": "a\0bcd",
    "line break": "a\nbcd",
    "escape": "a\x1b[31mbcd",
    "right to left": "a\u202ebcd",
    "a million": "x" * 1_000_000,
    "lone surrogate": "a\udc80bcd",
}
PARTS = {**NAMES, "too long": "x" * (LONGEST_PART + 1), "four parts": "a/b/c/d", "no project": "a/"}
LONGEST_MESSAGE = 3100

Command = Callable[[str, str], list[str]]

SESSIONS: dict[str, Command] = {
    "publish": lambda name, file: ["publish", file, "--session", name],
    "publish, agent": lambda name, file: ["publish", file, "--agent", name],
    "publish, compacting": lambda name, file: ["publish", file, "--session", name, "--compacting"],
    "publish, upload": lambda name, file: ["publish", file, "--session", name, "--upload"],
    "decide": lambda name, _: ["decide", name, "we take Redis"],
    "decide, agent": lambda name, _: ["decide", "a session", "we take Redis", "--agent", name],
    "learn": lambda name, _: ["facts", "learn", "--session", name],
    "forget": lambda name, _: ["forget", "--session", name, "--yes"],
    "forget, fact": lambda name, _: ["forget", "--fact", name, "--yes"],
    "status": lambda name, _: ["status", name],
    "anchored": lambda name, _: ["anchored", name],
    "editions": lambda name, _: ["episodes", "--editions", name],
    "transcript": lambda name, _: ["transcript", name],
    "recall": lambda name, _: ["recall", "Berlin", name],
    "why": lambda name, _: ["why", name],
    "merge": lambda name, _: ["facts", "merge", name, name],
    "dead": lambda name, _: ["dead", "show", name],
}
SCOPES: dict[str, Command] = {
    "publish": lambda name, file: ["publish", file, "--scope", name],
    "forget all": lambda name, _: ["forget", "--scope", name, "--yes"],
    "why": lambda name, _: ["why", "abcdef", "--scope", name],
    "export": lambda name, _: ["export", "--scope", name],
}
"""One command for each kind of option `--scope`."""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "good.txt"
    path.write_text(GOOD)
    return str(path)


@pytest.fixture
def keys(container: Container) -> Callable[[], dict[bytes, bytes]]:
    """Everything on the server, each key as it is."""
    client: Any = container.client
    return lambda: {key: client.dump(key) for key in client.keys("*")}


@pytest.mark.parametrize(
    ("command", "names"),
    [pytest.param(each, NAMES, id=f"{name} session") for name, each in SESSIONS.items()]
    + [pytest.param(each, PARTS, id=f"{name} scope") for name, each in SCOPES.items()],
)
def test_a_command_refuses_what_can_be_no_name(
    nous: Nous, file: str, keys: Callable[[], dict[bytes, bytes]], command: Command, names: dict[str, str]
) -> None:
    nous("publish", file, "--session", "a session")
    before = keys()

    for what, name in names.items():
        result = nous(*command(name, file), stdin='"The sky is blue."\n')

        assert (what, result.exit_code) == (what, BAD_INPUT), result.stderr
        assert result.stderr.startswith("nous: ")
        assert result.stderr.rstrip("\n").isprintable(), what
        assert len(result.stderr) < LONGEST_MESSAGE, what
    assert keys() == before


@pytest.fixture
def corpus(nous: Nous) -> Iterator[Nous]:
    """The functions of the package, with the settings of the command line."""
    default_producer.cache_clear()
    yield nous
    default_producer.cache_clear()


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_library_refuses_what_can_be_no_name(keys: Callable[[], dict[bytes, bytes]], name: str) -> None:
    before = keys()

    said: dict[str, Any] = {"session_id": "a session", "description": "we take Redis"}
    named: list[dict[str, Any]] = [{"session_id": name}, {"agent_id": name}, {"scope": name}]
    for given in named:
        with pytest.raises(BadInput, match="printable characters"):
            api.publish(GOOD, **given)
        with pytest.raises(BadInput, match="printable characters"):
            api.record_decision(**said | given)
    assert keys() == before


def _entry(**data: Any) -> bytes:
    return json.dumps(
        {"data": {"session_id": "s", "transcript": GOOD, "description": "we take Redis", **data}}
    ).encode()


ODD = [*(name for what, name in NAMES.items() if what != "empty"), 5, ["a"], {"a": "b"}, True]


@pytest.mark.parametrize("kind", [SessionEnded, SessionCompacting, DecisionRecorded])
def test_a_foreign_producers_entry_is_set_aside_by_name_and_those_beside_it_are_taken(
    container: Container, kind: type[SessionEnded]
) -> None:
    client: Any = container.client
    stream = BusKeys().stream(kind.type, Priority.LIVE)
    subscription = Subscription("someone", kind)
    scopes = ({part: odd} for odd in [*ODD, "", "a/b"] for part in ("tenant", "agent", "project"))
    bad = [
        *(_entry(session_id=odd) for odd in [*ODD, ""]),
        *(_entry(agent_id=odd) for odd in ODD),
        *(_entry(scope=odd) for odd in [*ODD, *scopes]),
    ]

    for raw in bad:
        client.xadd(stream, {"event": _entry(session_id=f"good {len(raw)}")})
        client.xadd(stream, {"event": raw})
    taken = container.bus.receive(subscription, priority=Priority.LIVE, limit=1000, lease=60)

    assert {each.event.session_id[:4] for each in taken} == {"good"}
    reasons = [letter.reason for letter in container.dead_letters.letters()]
    assert len(reasons) == len(bad)
    named = ("data.session_id", "data.agent_id", "data.scope", "part of a scope", "not JSON")
    assert not [reason for reason in reasons if not any(each in reason for each in named)]
    assert not [reason for reason in reasons if len(reason) > 500 or not reason.isprintable()]
    assert not [key for key in client.keys("*") if b"abcd" in key or b"xxxx" in key]
