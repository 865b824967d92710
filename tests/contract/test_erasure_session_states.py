"""Of a session that is forgotten nobody knows any more how far it has come."""

from datetime import timedelta
from uuid import uuid5

import pytest
import redis
from builders.episodes import HOME, NOON, WORK
from builders.stores import KEYS, Store, on_redis

from nous.bus.base import Conflict
from nous.bus.redis.erasure import RedisTombstones
from nous.bus.redis.keys import BusKeys
from nous.bus.tombstones import Tombstone, session_name
from nous.domain.effects import Effects, SaveSessionState
from nous.domain.events import NAMESPACE, episode_id
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState, SessionStatus, Touch, closed, ended_by_idleness
from nous.store.redis.erasure import RedisErasure


@pytest.fixture
def store(client: redis.Redis) -> Store:
    """A store in which three sessions are open, and one is closing."""
    store = on_redis(client)
    for session, scope in (("s1", HOME), ("s1*", HOME), ("s1", WORK)):
        assert store.write(SaveSessionState(session_state=opened(session, scope)))
    last = opened("last", HOME)
    assert store.write(SaveSessionState(session_state=closed(last, ended_by_idleness(last))))
    return store


def opened(session: str, scope: Scope) -> SessionState:
    name = uuid5(NAMESPACE, session)
    return SessionState(scope=scope, session_id=session, by=name, touched=Touch(NOON + timedelta(seconds=1), "a", name))


def left(store: Store) -> set[tuple[Scope, str]]:
    listed = {place for stage in SessionStatus for place in store.session_states.sessions(stage)}
    places = [(HOME, "s1"), (HOME, "s1*"), (WORK, "s1"), (HOME, "last")]
    known = {place for place in places if store.session_states.session_state(*place)}
    assert listed == known
    return known


def test_a_session_goes_with_its_course_and_no_other_does(client: redis.Redis, store: Store) -> None:
    erasure = RedisErasure(client, KEYS)
    rehearsed = erasure.session(HOME, "s1", dry_run=True)
    assert len(left(store)) == 4

    removed = erasure.session(HOME, "s1")

    assert removed == rehearsed == {"courses": 1, "index entries": 1}
    assert left(store) == {(HOME, "s1*"), (WORK, "s1"), (HOME, "last")}
    assert erasure.session(HOME, "s1") == {}


def test_a_scope_goes_with_all_its_courses(client: redis.Redis, store: Store) -> None:
    erasure = RedisErasure(client, KEYS)
    assert erasure.episodes(HOME) == {episode_id(HOME, session) for session in ("s1", "s1*", "last")}
    rehearsed = erasure.everything(HOME, dry_run=True)

    removed = erasure.everything(HOME)

    assert removed == rehearsed == {"courses": 3, "index entries": 3}
    assert left(store) == {(WORK, "s1")}


def test_a_session_that_is_being_forgotten_is_not_closed(client: redis.Redis, store: Store) -> None:
    session_state = store.session_states.session_state(HOME, "s1")
    assert session_state
    end = ended_by_idleness(session_state)
    RedisTombstones(client, BusKeys("t")).put(HOME, [session_name(HOME, "s1")], Tombstone(at=NOON))

    effects = Effects(
        writes=(SaveSessionState(session_state=closed(session_state, end), replaces=session_state),), events=(end,)
    )

    assert isinstance(store.bus.apply(effects), Conflict)
    assert not client.exists("t:events:session_ended")
