"""Saying that a session has moved on."""

from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from nous.bus.base import Priority, Subscription
from nous.bus.erasure import said
from nous.bus.memory.bus import MemoryBus
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import decode
from nous.domain.events import SessionEnded, SessionTouched
from nous.services.publisher import Producer, Touched
from nous.services.session_intake import SessionIntake, SessionMetadata
from nous.store.keys import StoreKeys
from nous.store.memory import MemoryStore

READER = Subscription("session-keeper", SessionTouched)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TEXT = "User: Please remember that I live in Berlin.\n\nAssistant: I will remember that.\n"


class World:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0
        self.store = MemoryStore()
        self.bus = MemoryBus(self.store.apply, clock=lambda: self.now)
        session_intake = SessionIntake(self.store, StoreKeys(), inline_limit=1000, clock=lambda: NOON)
        self.producer = Producer(self.bus, self.bus, self.bus, session_intake, readers=[])

    def touch(
        self, session: str | Path, about: SessionMetadata | None = None, *, at: datetime | None = None
    ) -> Touched:
        return self.producer.touch(session, about or SessionMetadata(), at=at)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s1.txt"
    path.write_text(TEXT)
    return path


def test_a_file_is_touched_under_the_id_that_it_is_published_under(world: World, session: Path) -> None:
    event = world.touch(session).event
    [published] = world.producer.publish(session, SessionMetadata())

    assert (event.session_id, event.dataref) == (published.event.session_id, published.event.dataref)
    assert isinstance(published.event, SessionEnded)
    assert (event.at, event.background) == (NOON, False)


def test_a_file_whose_session_is_named_is_not_read(world: World, session: Path) -> None:
    session.write_bytes(b"\0\1\2")

    event = world.touch(session, SessionMetadata(session_id="mine", format="qbit")).event

    assert (event.session_id, event.dataref, event.format) == ("mine", session.as_uri(), "qbit")


def test_what_is_no_file_is_an_id(world: World) -> None:
    event = world.touch("0199-abc").event

    assert (event.session_id, event.dataref) == ("0199-abc", None)


def test_said_thrice_of_one_instant_it_is_one_event_and_of_another_another(world: World, session: Path) -> None:
    same = [world.touch(session) for _ in range(3)]
    others = [
        world.touch(session, at=NOON.replace(second=1)),
        world.touch(session, SessionMetadata(agent_id="other")),
        world.touch("s1"),
        world.producer.touch(session, SessionMetadata(), background=True),
    ]

    assert [each.receipt.fresh for each in same] == [True, False, False]
    assert all(each.receipt.fresh for each in others)
    assert len({each.event.id for each in (*same, *others)}) == 5


@pytest.mark.parametrize(
    ("content", "why"), [("", "holds nothing"), ("# Notes\n", "no speaker"), ("x" * 9, "no speaker")]
)
def test_what_has_no_id_yet_is_not_touched_under_another(world: World, session: Path, content: str, why: str) -> None:
    session.write_text(content)

    with pytest.raises(BadInput, match=why):
        world.touch(session)


def test_what_names_no_session_is_refused(world: World, tmp_path: Path) -> None:
    many = tmp_path / "many.jsonl"
    many.write_text(2 * '{"messages": [{"role": "user", "content": "Hi"}]}\n')

    with pytest.raises(NotFound):
        world.touch(tmp_path / "gone.txt")
    with pytest.raises(NotFound):
        world.touch("no/such.txt")
    with pytest.raises(BadInput, match="directory"):
        world.touch(tmp_path)
    with pytest.raises(BadInput, match="holds many sessions"):
        world.touch(many)
    with pytest.raises(BadInput, match="there is no file"):
        world.touch("s1", SessionMetadata(session_id="s2"))
    with pytest.raises(BadInput, match="printable"):
        world.touch("two\nlines")
    assert world.bus.receive(READER, priority=Priority.LIVE, limit=9, lease=1) == []


def entry(**data: object) -> bytes:
    return orjson.dumps({"data": {"session_id": "s1", **data}})


def test_the_smallest_entry_of_a_foreign_producer_is_a_touch_each_time_that_it_is_told(world: World) -> None:
    for _ in range(2):
        world.bus.append("session_touched", entry())
        world.now += 1

    found = [each.event for each in world.bus.receive(READER, priority=Priority.LIVE, limit=9, lease=1)]

    assert [type(each) for each in found] == [SessionTouched] * 2
    assert [each.time.timestamp() for each in found] == [world.now - 2, world.now - 1]


def test_what_recurs_without_a_time_of_its_own_is_known_by_when_it_was_told() -> None:
    def read(raw: bytes, at: datetime) -> SessionTouched:
        event = decode(raw, type_hint="session_touched", accepted_at=at)
        assert isinstance(event, SessionTouched)
        return event

    later = NOON.replace(second=1)
    first, again, second = (read(entry(), at) for at in (NOON, NOON, later))
    assert first.id == again.id != second.id
    assert second.time == later
    timed = [read(entry(at="2026-01-01T12:00:00Z"), at) for at in (NOON, later)]
    assert timed[0].id == timed[1].id
    for at in (NOON, later):
        told = said(entry(), "session_touched", at=at)
        assert told is not None
        assert told.event_id == read(entry(), at).id


def test_what_does_not_recur_is_the_same_whenever_it_was_told() -> None:
    raw = entry(transcript="User: hi")

    ids = {decode(raw, type_hint="session_ended", accepted_at=NOON.replace(second=n)).id for n in range(3)}

    assert len(ids) == 1
