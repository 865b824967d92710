"""Handing sessions over, and saying that they have moved on."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from builders.stores import WholeStore

from nous.bus.base import Priority, Subscription
from nous.bus.erasure import said
from nous.domain.episode import Decision
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import decode
from nous.domain.events import SessionEnded, SessionTouched
from nous.domain.scope import Scope
from nous.services.publisher import Producer, Published
from nous.services.session_intake import SessionIntake, SessionMetadata
from nous.store.keys import StoreKeys

READER = Subscription("episode-summarizer", SessionEnded)
KEEPER = Subscription("session-keeper", SessionTouched)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TEXT = "User: Please remember that I live in Berlin.\n\nAssistant: I will remember that.\n"


class World:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0
        self.store = WholeStore(clock=lambda: self.now)
        self.bus = self.store.bus
        session_intake = SessionIntake(self.store, StoreKeys(), inline_limit=1000, clock=lambda: NOON)
        self.producer = Producer(self.bus, self.bus, self.bus, session_intake, readers=[READER])

    def touch(
        self, session: str | Path, about: SessionMetadata | None = None, *, at: datetime | None = None
    ) -> Published[SessionTouched]:
        return self.producer.touch(session, about or SessionMetadata(), at=at)

    def publish(self, path: Path, about: SessionMetadata | None = None, *, upload: bool = False) -> list[Published]:
        return list(self.producer.publish(path, about or SessionMetadata(), upload=upload))

    def dead_letter(self) -> None:
        [delivery] = self.bus.receive(READER, priority=Priority.LIVE, limit=1, lease=1)
        self.bus.dead_letter(delivery.ref, progress=None, reason="a test")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s1.txt"
    path.write_text(TEXT)
    return path


def test_a_file_is_referred_to_with_its_digest(world: World, session: Path) -> None:
    [published] = world.publish(session)

    assert published.event.session_id.startswith("s1-")
    assert published.event.dataref == session.as_uri()
    assert published.event.bytes == len(TEXT)
    assert published.event.transcript is None


def test_publishing_again_adds_nothing_until_the_session_has_grown(world: World, session: Path) -> None:
    fresh = [world.publish(session)[0].receipt.fresh for _ in range(2)]
    session.write_text(TEXT + "\nUser: And in Paris.\n")

    assert [*fresh, world.publish(session)[0].receipt.fresh] == [True, False, True]


def test_what_is_small_travels_in_the_event_and_what_is_large_beside_it(world: World, session: Path) -> None:
    [small] = world.publish(session, upload=True)
    session.write_text(TEXT * 20)
    [large] = world.publish(session, upload=True)

    assert small.event.transcript == TEXT
    assert large.event.transcript is None
    assert large.event.dataref is not None
    assert large.event.dataref.startswith("redis:")


def test_a_session_without_a_message_is_refused(world: World) -> None:
    with pytest.raises(BadInput, match="the session is empty: it has no messages"):
        list(world.producer.publish([], SessionMetadata()))


def test_publishing_a_dead_session_again_tries_it_again(world: World, session: Path) -> None:
    world.publish(session)
    world.dead_letter()

    world.publish(session)

    assert world.bus.letters() == []
    assert world.bus.counters(READER).in_flight == 1


def test_a_file_of_many_sessions_is_taken_apart(world: World, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    line = '{"id": "%s", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}\n'
    path.write_text("".join(line % name for name in ("a", "b", "c")))

    assert [each.event.session_id for each in world.publish(path)] == ["a", "b", "c"]
    with pytest.raises(BadInput, match="they cannot all be called"):
        world.publish(path, SessionMetadata(session_id="x"))


@pytest.mark.parametrize("upload", [False, True])
def test_of_what_is_packed_and_damaged_whoever_publishes_it_is_warned(
    world: World, tmp_path: Path, *, upload: bool
) -> None:
    line = b'{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}\n'
    warnings: list[str] = []
    for name, content in (("one.gz", TEXT.encode()), ("many.gz", 3 * line)):
        (tmp_path / name).write_bytes(gzip.compress(content)[:-8])
        assert list(world.producer.publish(tmp_path / name, SessionMetadata(), upload=upload, warn=warnings.append))

    assert [warning.partition(": packed data damaged")[0] for warning in warnings] == [
        str(tmp_path / name) for name in ("one.gz", "many.gz")
    ]


@pytest.mark.parametrize("name", ["", "two\nlines", "x" * 401])
def test_an_id_that_no_worker_would_take_is_refused_at_once(world: World, session: Path, name: str) -> None:
    decision = Decision(description="Billing keeps Postgres")

    for about in (SessionMetadata(session_id=name), SessionMetadata(agent_id=name)):
        with pytest.raises(BadInput, match="1 to 400 printable characters"):
            world.publish(session, about)
    for ids in ({"session_id": name, "agent_id": "a"}, {"session_id": "s1", "agent_id": name}):
        with pytest.raises(BadInput, match="1 to 400 printable characters"):
            world.producer.record(decision, scope=Scope(), **ids)
    assert world.bus.counters(READER).received == 0


@pytest.mark.parametrize("text", ["# Notes\n\nBuy milk.\n", "# Notes\n\n```\nUser: Hi\nAssistant: Hello\n```\n"])
def test_a_text_without_speakers_is_a_session_only_where_that_is_said(world: World, session: Path, text: str) -> None:
    session.write_text(text)

    with pytest.raises(BadInput, match="no speaker was found; publish it with --format plain_text"):
        world.publish(session)
    assert len(world.publish(session, SessionMetadata(format="plain_text"))) == 1


def test_a_file_is_touched_under_the_id_that_it_is_published_under(world: World, session: Path) -> None:
    event = world.touch(session).event
    [published] = world.producer.publish(session, SessionMetadata())

    assert (event.session_id, event.dataref) == (published.event.session_id, published.event.dataref)
    assert isinstance(published.event, SessionEnded)
    assert (event.at, event.background) == (NOON, False)


def test_a_file_whose_session_is_named_is_not_read(world: World, session: Path) -> None:
    session.write_bytes(b"\0\1\2")

    event = world.touch(session, SessionMetadata(scope=Scope(), session_id="mine", format="qbit")).event

    assert (event.session_id, event.dataref, event.format) == ("mine", session.as_uri(), "qbit")


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
    assert world.bus.receive(KEEPER, priority=Priority.LIVE, limit=9, lease=1) == []


def entry(**data: object) -> bytes:
    return orjson.dumps({"data": {"session_id": "s1", **data}})


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
