"""What is remembered of files that were found on disk, in each place where that is kept."""

from pathlib import Path
from typing import Any

import pytest
import redis
from builders.buses import BusWorld
from builders.keyspace import keys_with
from builders.stores import KEYS, WholeStore

from nous.bus.base import Priority, Subscription
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects, ReleaseTranscript
from nous.domain.errors import Unavailable
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.store import transcript_source
from nous.store.keys import StoreKeys
from nous.store.redis.transcripts import KEPT, FileRecord, RedisFolderState, WatchedFolder, digest_of, name_of, unpacked
from nous.store.transcript_source import key_of, upload

HERE = WatchedFolder(Scope(), "laptop", Path("/sessions"))
ONE, OTHER = name_of(Path("/sessions/one.jsonl")), name_of(Path("/sessions/other.jsonl"))
HANDED_OVER = FileRecord(120, 1_800_000_000_123_456_789)
REFUSED = FileRecord(7, 1_800_000_000_000_000_001, refused=True)


@pytest.fixture
def watched(client: redis.Redis) -> RedisFolderState:
    return on_redis(client)


def on_redis(client: redis.Redis) -> RedisFolderState:
    return RedisFolderState(client, StoreKeys("t"), bus_keys=BusKeys("t"))


def test_what_is_remembered_is_recalled_to_the_nanosecond(watched: RedisFolderState) -> None:
    watched.remember(HERE, ONE, HANDED_OVER)
    watched.remember(HERE, OTHER, REFUSED)

    assert watched.recall(HERE) == {ONE: HANDED_OVER, OTHER: REFUSED}


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_file_is_not_remembered_of_whose_events_one_is_lost(
    watched: RedisFolderState, world: BusWorld, ended: Any, lost: int
) -> None:
    watched.remember(HERE, ONE, REFUSED)
    events = [ended(f"s{number}") for number in range(3)]
    world.publish(*(event for number, event in enumerate(events) if number != lost))

    assert not watched.remember(HERE, ONE, HANDED_OVER, after=[each.id for each in events])
    assert watched.recall(HERE) == {ONE: REFUSED}


def test_files_that_are_gone_are_dropped_and_the_others_kept(watched: RedisFolderState) -> None:
    watched.remember(HERE, ONE, HANDED_OVER)
    watched.remember(HERE, OTHER, REFUSED)

    for _ in range(2):
        watched.keep(HERE, without={OTHER, name_of(Path("/never"))})
    watched.keep(HERE)

    assert watched.recall(HERE) == {ONE: HANDED_OVER}


def test_a_place_where_nobody_looks_any_more_is_forgotten_in_the_end(redis_client: redis.Redis) -> None:
    watched, key = on_redis(redis_client), StoreKeys("t").watched(HERE.scope, digest_of(HERE))
    watched.remember(HERE, ONE, HANDED_OVER)
    assert 0 < int(redis_client.ttl(key)) <= KEPT  # pyright: ignore[reportArgumentType]

    redis_client.expire(key, 60)
    watched.keep(HERE)

    assert int(redis_client.ttl(key)) > 60  # pyright: ignore[reportArgumentType]


def test_what_earlier_releases_wrote_is_read() -> None:
    assert unpacked(b"[7,8,null,0]") == FileRecord(7, 8)
    assert unpacked(b'[7,8,"refused",9,"1.0"]') == FileRecord(7, 8, refused=True)


@pytest.mark.parametrize("raw", [b"", b"7", b"[7]", b"{}"])
def test_what_is_no_record_counts_as_none(raw: bytes) -> None:
    assert unpacked(raw) is None


def test_neither_a_path_nor_its_place_can_be_read_from_what_is_kept(redis_client: redis.Redis) -> None:
    on_redis(redis_client).remember(HERE, ONE, HANDED_OVER)

    assert keys_with(redis_client, "sessions", "laptop", "jsonl") == {}


SHOP, THERE = Scope(project="a"), Scope(project="a:b")


def uploaded(store: WholeStore, content: bytes, *, session_id: str = "s") -> str:
    """Upload *content*; return the reference by which an event names it."""
    return upload(store, content, keys=KEYS, scope=SHOP, session_id=session_id)


def fetched(store: WholeStore, dataref: str) -> bytes | None:
    key = key_of(dataref, within=KEYS.transcripts_of(SHOP))
    assert key is not None
    return store.fetch(key)


def released(store: WholeStore, dataref: str, *, scope: Scope = SHOP) -> bool:
    return store.write(ReleaseTranscript(scope=scope, dataref=dataref))


def test_an_upload_waits_packed_until_a_commit_releases_it(store: WholeStore) -> None:
    content = b"User: hi\n" * 1000
    dataref = uploaded(store, content)
    packed = fetched(store, dataref)

    assert packed is not None
    assert transcript_source.unpacked(packed) == content
    assert len(packed) < len(content) / 10
    assert released(store, dataref)
    assert fetched(store, dataref) is None


def test_only_uploaded_transcripts_can_be_released(store: WholeStore) -> None:
    store.put(KEYS.scopes, b"not a transcript")

    assert released(store, f"redis:{KEYS.scopes}")
    assert released(store, "file:///etc/hostname")
    assert store.fetch(KEYS.scopes) == b"not a transcript"


def test_an_upload_is_not_released_by_who_names_it_from_another_scope(store: WholeStore) -> None:
    dataref = uploaded(store, b"User: hi")

    assert released(store, dataref, scope=THERE)
    assert fetched(store, dataref) is not None


def test_the_same_content_of_a_session_has_one_name(store: WholeStore) -> None:
    names = {
        uploaded(store, b"a"),
        uploaded(store, b"a"),
        uploaded(store, b"b"),
        uploaded(store, b"a", session_id="s:2"),
    }

    assert len(names) == 3


def test_an_event_is_not_published_before_what_was_uploaded_for_it_and_once_done_needs_none(
    store: WholeStore, ended: Any
) -> None:
    reader = Subscription("reader", SessionEnded)
    dataref = uploaded(store, b"User: hi")
    event = ended(scope=SHOP, transcript=None, dataref=dataref)
    assert released(store, dataref)
    with pytest.raises(Unavailable, match="publish it again"):
        store.bus.publish(event)
    assert list(store.bus.receive(reader, priority=Priority.LIVE, limit=9, lease=60)) == []

    uploaded(store, b"User: hi")

    assert [receipt.fresh for receipt in store.bus.publish(event)] == [True]
    [delivery] = store.bus.receive(reader, priority=Priority.LIVE, limit=9, lease=60)
    store.bus.commit(delivery, Effects(writes=(ReleaseTranscript(scope=SHOP, dataref=dataref),)))
    assert [receipt.fresh for receipt in store.bus.publish(event)] == [False]
