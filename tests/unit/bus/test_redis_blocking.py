"""What a bus on Redis waits for, and for how long."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Self
from uuid import UUID

import fakeredis
import orjson
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import NoPermissionError

from nous.bus.base import Priority, Subscription
from nous.bus.erasure import ErasureTarget, amended, said
from nous.bus.redis.bus import RedisBus
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.streams import entries, wait_for, wait_for_disk
from nous.domain.errors import BadInput, Misconfigured, Unavailable
from nous.domain.event_codec import decode, encode
from nous.domain.events import FactsUnembedded, SessionEnded
from nous.domain.scope import Scope
from nous.knowledge.decision import unembedded


@pytest.fixture
def client() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis(server=fakeredis.FakeServer())


def test_waiting_for_what_stays_comes_to_an_end(client: fakeredis.FakeRedis) -> None:
    client.set("held", "", px=10_000)

    wait_for(["held"], client, longest=0.1)

    assert client.exists("held")


def test_what_is_soon_gone_is_waited_for(client: fakeredis.FakeRedis) -> None:
    client.set("held", "", px=60)

    wait_for(["held"], client, longest=600)

    assert not client.exists("held")


def test_what_is_published_durably_is_refused_where_no_disk_can_confirm_it(ended: Any) -> None:
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)  # it knows no WAITAOF
    bus = RedisBus(client, plan_of=lambda _: CommitPlan())

    with pytest.raises(Misconfigured, match="durable publishing needs"):
        bus.publish(ended(), durable=True)

    assert len(bus.receive(Subscription("toy", SessionEnded), priority=Priority.LIVE, limit=9, lease=60)) == 1


class Said:
    """What a server says to all that it is asked at once."""

    def __init__(self, answers: Any) -> None:
        self._answers = answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return self._taken

    def _taken(self, *_: Any) -> None: ...

    def execute(self, *, raise_on_error: bool = True) -> Any:
        if raise_on_error and isinstance(self._answers, Exception):
            raise self._answers
        return self._answers


class Busy(fakeredis.FakeRedis):
    """A server whose disk is busy: it tells in turn how the writing of its log goes, and how many keys it finds."""

    def __init__(self, *told: Any) -> None:
        super().__init__(server=fakeredis.FakeServer())
        self.told = list(told)

    def pipeline(self, *_: Any, **__: Any) -> Any:
        return Said(self.told.pop(0))


UNWRITTEN = ({"aof_buffer_length": 400, "aof_last_write_status": "ok"}, 1)
WRITTEN = ({"aof_buffer_length": 0, "aof_last_write_status": "ok"}, 1)


def test_publishing_waits_until_the_server_has_written_what_it_took(ended: Any) -> None:
    client = Busy(*[UNWRITTEN] * 5, WRITTEN, UNWRITTEN)

    RedisBus(client, plan_of=lambda _: CommitPlan()).publish(ended())

    assert client.told == [UNWRITTEN]


@pytest.mark.parametrize(
    "answer",
    [
        ({}, 1),  # it has no such log
        ({"aof_buffer_length": 0, "aof_last_write_status": "err"}, 1),  # it told of that before
        NoPermissionError("this user has no permissions to run the 'info' command"),
    ],
    ids=["no log", "a disk that was full", "no permission"],
)
def test_publishing_does_not_wait_for_what_cannot_be_known_or_is_over(ended: Any, answer: Any) -> None:
    client = Busy(answer, UNWRITTEN)

    RedisBus(client, plan_of=lambda _: CommitPlan()).publish(ended())

    assert client.told == [UNWRITTEN]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (redis.ConnectionError("gone"), "did not answer"),
        (({"aof_buffer_length": 0}, 0), "has lost what it had taken"),  # by its successor, which never had it
        (({"aof_buffer_length": 400, "aof_last_write_status": "err"}, 1), "cannot write to its disk"),
    ],
    ids=["dead", "dead, with a successor", "a full disk"],
)
def test_a_server_that_cannot_have_written_what_it_took_has_not_confirmed_it(
    ended: Any, answer: Any, reason: str
) -> None:
    client = Busy(UNWRITTEN, answer)

    with pytest.raises(Unavailable, match=reason):
        RedisBus(client, plan_of=lambda _: CommitPlan()).publish(ended())


def test_publishing_nothing_asks_nothing() -> None:
    assert RedisBus(Busy(), plan_of=lambda _: CommitPlan()).publish() == []


def test_a_disk_that_does_not_confirm_is_told_of() -> None:
    with pytest.raises(Unavailable, match="the disk did not confirm"):
        wait_for_disk(Busy([True, (0, 0)]), ["marker"], ttl=60)


LARGE = 4 << 20
ENOUGH = 16 << 20

sizes = st.lists(st.sampled_from([0, 10, LARGE]), max_size=60)


class Stream:
    """Answers as a server does, of entries of these *sizes*, and counts the bytes of each page."""

    def __init__(self, sizes: list[int]) -> None:
        self.page = [(f"{number}-0".encode(), size) for number, size in enumerate(sizes, start=1)]
        self.pages: list[list[int]] = []

    def xrange(self, name: str, after: str, last: str, *, count: int) -> list[tuple[bytes, dict[bytes, Any]]]:
        assert (name, last) == ("stream", "+")
        start = 0 if after == "-" else int(after.removeprefix("(").partition("-")[0])
        found = self.page[start : start + count]
        self.pages.append([size for _, size in found])
        return [(entry, {b"event": Sized(size)}) for entry, size in found]


class Sized(bytes):
    """Stands for so many bytes, without having them."""

    def __new__(cls, size: int) -> Self:
        return super().__new__(cls, str(size).encode())

    def __len__(self) -> int:
        return int(self)


def read(stream: Stream) -> Iterator[tuple[str, int]]:
    return ((entry, len(event)) for entry, event in entries(stream, "stream"))


@given(sizes)
def test_every_entry_is_read_once_and_behind_what_is_large_a_page_holds_no_more_than_fits(sizes: list[int]) -> None:
    stream = Stream(sizes)

    assert list(read(stream)) == [(f"{number}-0", size) for number, size in enumerate(sizes, start=1)]
    assert all(sum(page) <= ENOUGH for before, page in pairwise(stream.pages) if LARGE in before)


NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
SUMMARIZED: Mapping[str, Any] = {
    "session_id": "s",
    "episode_id": str(UUID(int=3)),
    "version": "v",
    "summary": {
        **dict.fromkeys(("title", "summary", "outcome_rationale"), "words"),
        **{name: [] for name in ("key_points", "topics", "open_threads")},
        "outcome": "partial",
    },
    "candidate_facts": ["port is 1", "other"],
}


SCOPES = [
    *({}, None, "", [], {"project": "town"}, {"tenant": "a", "agent": "b", "project": "c"}),
    *("town", 5, ["town"], [["project", "town"]], {"project": ["x"]}, {"project": {"x": 1}}, {"project": 5}),
    *({"project": None}, {"project": ""}, {"project": "a/b"}, {"project": "a\x00"}),
]


def test_an_entry_that_is_refused_for_more_in_its_scope_goes_with_the_scope_that_the_rest_names() -> None:
    scope = {"tenant": "a", "agent": "b", "project": "c", "more": 1}
    told = said(orjson.dumps({"data": {"session_id": "s", "scope": scope}}), "session_ended")

    assert told
    assert told.scope == Scope("a", "b", "c")


@pytest.mark.parametrize("scope", SCOPES)
def test_the_scope_of_an_entry_is_the_one_that_its_handler_reads(scope: object) -> None:
    raw = orjson.dumps({"data": {"session_id": "s", "scope": scope, "transcript": "User: hello"}})
    try:
        read = decode(raw, type_hint="session_ended").scope
    except BadInput:
        read = None

    told = said(raw, "session_ended")

    assert told
    assert told.scope == read


def test_an_entry_that_holds_no_data_tells_no_scope_and_goes_with_its_session() -> None:
    told = said(orjson.dumps({"subject": "s", "data": "words"}), "session_ended")

    assert told
    assert told.scope is None
    assert ErasureTarget(scope=Scope(project="town"), session_id="s").takes(told)


def test_what_is_announced_of_a_scope_is_of_no_session() -> None:
    told = said(encode(unembedded(FactsUnembedded, Scope(), state="1", at=NOON)), "facts_unembedded")

    assert told
    assert (told.scope, told.session_id) == (Scope(), None)
    assert not ErasureTarget(scope=Scope(), facts=frozenset({UUID(int=1)})).takes(told)
    assert ErasureTarget(scope=Scope(), everything=True).takes(told)


def test_what_is_told_in_the_place_of_an_entry_is_the_same_event() -> None:
    raw = orjson.dumps({"data": SUMMARIZED})
    before = decode(raw, type_hint="episode_summarized", accepted_at=NOON)

    left = amended(raw, ["port is 1"], event_id=before.id)

    after = decode(left or b"", type_hint="episode_summarized", accepted_at=NOON)
    assert (after.id, after.time) == (before.id, NOON)
