"""Promises of a store of uploaded transcripts, on fakeredis and on a real server."""

from typing import Any

import pytest
from builders.stores import KEYS, WholeStore

from nous.bus.base import Priority, Subscription
from nous.domain.effects import Effects, ReleaseTranscript
from nous.domain.errors import Unavailable
from nous.domain.events import SessionEnded
from nous.domain.scope import Scope
from nous.store.transcript_source import key_of, unpacked, upload

HERE, THERE = Scope(project="a"), Scope(project="a:b")


def uploaded(store: WholeStore, content: bytes, *, session_id: str = "s") -> str:
    """What the event that speaks of it calls it."""
    return upload(store, content, keys=KEYS, scope=HERE, session_id=session_id)


def fetched(store: WholeStore, dataref: str) -> bytes | None:
    key = key_of(dataref, within=KEYS.transcripts_of(HERE))
    assert key is not None
    return store.fetch(key)


def released(store: WholeStore, dataref: str, *, scope: Scope = HERE) -> bool:
    return store.write(ReleaseTranscript(scope=scope, dataref=dataref))


def test_an_upload_waits_packed_until_a_commit_releases_it(store: WholeStore) -> None:
    content = b"User: hi\n" * 1000
    dataref = uploaded(store, content)
    packed = fetched(store, dataref)

    assert packed is not None
    assert unpacked(packed) == content
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
    event = ended(scope=HERE, transcript=None, dataref=dataref)
    assert released(store, dataref)
    with pytest.raises(Unavailable, match="publish it again"):
        store.bus.publish(event)
    assert list(store.bus.receive(reader, priority=Priority.LIVE, limit=9, lease=60)) == []

    uploaded(store, b"User: hi")

    assert [receipt.fresh for receipt in store.bus.publish(event)] == [True]
    [delivery] = store.bus.receive(reader, priority=Priority.LIVE, limit=9, lease=60)
    store.bus.commit(delivery, Effects(writes=(ReleaseTranscript(scope=HERE, dataref=dataref),)))
    assert [receipt.fresh for receipt in store.bus.publish(event)] == [False]
