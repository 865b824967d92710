"""Somebody writes names into the lists of the store that are none: whoever is listed rightly is found."""

from datetime import timedelta
from typing import Any

import pytest
import redis
from builders.episodes import HOME, NOON
from builders.stores import KEYS, Store, on_redis

from nous.domain.effects import SaveSessionState
from nous.domain.events import NAMESPACE
from nous.domain.session_state import SessionState, SessionStatus, Touch

STRANGE = (b"", b"garbage", b"a/b/c/d s1", b"a//c s1", b"\xff\xfe")
NO_EPISODES = (*STRANGE, b"default/default/default not-an-id")
NO_SCOPES = (b"", b"a/b/c/d", b"a//c", b"\xff\xfe")


@pytest.fixture
def store(client: redis.Redis) -> Store:
    return on_redis(client)


def opened(store: Store, *names: str) -> None:
    for number, name in enumerate(names):
        touch = Touch(NOON + timedelta(seconds=number), "agent", NAMESPACE)
        assert store.write(
            SaveSessionState(session_state=SessionState(scope=HOME, session_id=name, by=NAMESPACE, touched=touch))
        )


def test_sessions_are_listed_among_names_that_are_none(client: Any, store: Store) -> None:
    opened(store, "s1", "s2")
    client.zadd(KEYS.sessions_at(SessionStatus.OPEN), dict.fromkeys(STRANGE, 1))

    assert [session for _, session in store.session_states.sessions(SessionStatus.OPEN)] == ["s1", "s2"]


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_a_page_of_names_that_are_none_is_not_taken_for_the_end(client: Any, store: Store, limit: int) -> None:
    opened(store, "s1")
    client.zadd(KEYS.sessions_at(SessionStatus.OPEN), {f"garbage{number}": number for number in range(10)})

    assert store.session_states.sessions(SessionStatus.OPEN, limit=limit) == [(HOME, "s1")]
    assert store.session_states.sessions(SessionStatus.OPEN, limit=limit, skip=11) == []


def test_episodes_that_wait_for_a_model_are_found_among_names_that_are_none(client: Any, store: Store) -> None:
    client.hset(KEYS.unrefined, mapping=dict.fromkeys(NO_EPISODES, b"\xff"))
    client.hset(KEYS.unrefined, f"{HOME} {NAMESPACE}", "")

    assert list(store.summary_inputs.unrefined()) == [(HOME, NAMESPACE)]


def test_scopes_are_listed_among_names_that_are_none(client: Any, store: Store) -> None:
    client.sadd(KEYS.scopes, str(HOME), *NO_SCOPES)

    assert store.episodes.scopes() == [HOME]
