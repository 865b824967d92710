"""Contract of the session-state store, on fakeredis and on a real server."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid5

import pytest
import redis
from builders.episodes import HOME, NOON, WORK
from builders.stores import KEYS, WholeStore

from nous.bus.base import Conflict
from nous.bus.erasure import Tombstone, session_name
from nous.bus.redis.erasure import RedisTombstones
from nous.bus.redis.keys import BusKeys
from nous.domain.anchored_summary import AnchoredSummary, StoredAnchoredSummary
from nous.domain.effects import (
    Effects,
    ExpectAnchoredSummary,
    ExpectSessionState,
    SaveAnchoredSummary,
    SaveSessionState,
)
from nous.domain.episode import NAMESPACE, Tier, Tokens
from nous.domain.errors import Misconfigured
from nous.domain.scope import Scope
from nous.domain.session_state import Abandonment, SessionState, SessionStatus, Touch, TranscriptReference, closed
from nous.services.session_lifecycle import ended_by_idleness

LATER = NOON + timedelta(minutes=1)


def session_state(session: str = "s1", *, scope: Scope = HOME, step: str = "first", **more: Any) -> SessionState:
    return SessionState(scope=scope, session_id=session, by=uuid5(NAMESPACE, f"{session} {step}"), **more)


def touch(at: datetime = NOON) -> Touch:
    return Touch(at, "agent", uuid5(NAMESPACE, f"{at}"))


def opened(session: str = "s1", at: datetime = NOON, *, scope: Scope = HOME) -> SessionState:
    return session_state(session, scope=scope, touched=touch(at))


def save(store: WholeStore, state: SessionState, *, replaces: SessionState | None = None) -> bool:
    """Return whether the write was accepted."""
    return store.write(SaveSessionState(session_state=state, replaces=replaces))


AT_EACH_STAGE = {
    SessionStatus.OPEN: session_state(
        touched=touch(LATER), named=TranscriptReference(NOON, "file:///tmp/größe 1.jsonl", "qbit"), ended_at=NOON
    ),
    SessionStatus.CLOSING: session_state(touched=touch(), ended_at=NOON),
    SessionStatus.ENDED: session_state(touched=touch(), ended_at=LATER, handled_at=LATER),
    SessionStatus.ABANDONED: session_state(ended_at=NOON, given_up=Abandonment(LATER, "it is gone")),
}


@pytest.mark.parametrize("stage", SessionStatus)
def test_a_course_is_read_as_it_was_noted_and_listed_where_it_belongs(store: WholeStore, stage: SessionStatus) -> None:
    noted = AT_EACH_STAGE[stage]
    assert noted.status is stage

    assert save(store, noted)

    found = store.session_state(HOME, "s1")
    assert found == noted
    assert found is not None
    assert found.by == noted.by
    listed = {each for each in SessionStatus if store.sessions(each)}
    assert listed == ({stage} if stage is not SessionStatus.ENDED else set())
    assert store.session_state(WORK, "s1") is None


@pytest.mark.parametrize("before", SessionStatus)
@pytest.mark.parametrize("after", SessionStatus)
def test_a_session_is_listed_at_one_stage_alone(store: WholeStore, before: SessionStatus, after: SessionStatus) -> None:
    first = AT_EACH_STAGE[before]
    assert save(store, first)
    assert save(store, AT_EACH_STAGE[after], replaces=first)

    listed = [each for each in SessionStatus if (HOME, "s1") in store.sessions(each)]
    assert listed == ([after] if after is not SessionStatus.ENDED else [])


def test_whoever_has_not_seen_the_last_step_is_refused_and_writes_nothing(store: WholeStore) -> None:
    first, second = opened(), session_state(step="second", touched=touch(LATER))
    assert save(store, first)
    assert not save(store, second)
    assert save(store, second, replaces=first)

    late = session_state(step="late", ended_at=NOON)
    assert not save(store, late, replaces=first)
    assert not save(store, late)
    assert store.session_state(HOME, "s1") == second
    assert save(store, late, replaces=second)


def test_nothing_new_holds_while_the_course_is_the_one_that_was_seen(store: WholeStore) -> None:
    first, second = opened(), session_state(step="second", touched=touch(LATER))
    nothing, seen = (ExpectSessionState(scope=HOME, session_id="s1", by=by) for by in (None, first.by))
    assert [store.write(nothing), store.write(seen)] == [True, False]
    assert save(store, first)

    assert [store.write(nothing), store.write(seen)] == [False, True]
    assert store.session_state(HOME, "s1") == first
    assert save(store, second, replaces=first)
    assert not store.write(seen)


def test_sessions_of_all_scopes_are_listed_the_longest_idle_first(store: WholeStore) -> None:
    for number, (session, scope) in enumerate([("a", WORK), ("b c/%", HOME), ("a", HOME)]):
        assert save(store, opened(session, NOON + timedelta(seconds=number), scope=scope))
    sessions = store.sessions

    assert sessions(SessionStatus.OPEN) == [(WORK, "a"), (HOME, "b c/%"), (HOME, "a")]
    assert sessions(SessionStatus.OPEN, limit=1) == [(WORK, "a")]
    assert sessions(SessionStatus.OPEN, before=NOON + timedelta(seconds=1)) == [(WORK, "a")]
    assert sessions(SessionStatus.OPEN, before=NOON + timedelta(seconds=1, microseconds=1)) == [
        (WORK, "a"),
        (HOME, "b c/%"),
    ]


@pytest.mark.parametrize("stage", SessionStatus)
def test_what_has_ended_or_was_abandoned_is_forgotten_in_time_and_what_is_not_done_is_kept(
    client: redis.Redis, stage: SessionStatus
) -> None:
    server: Any = client
    assert save(WholeStore(client, prefix="t"), AT_EACH_STAGE[stage])

    kept = {key.decode() for key in server.scan_iter("*") if server.ttl(key) == -1}

    month = 30 * 86400
    done = {"t:courses:default/default/home:s1", "t:abandoned-sessions"}
    open_ = {KEYS.session_state(HOME, "s1"), KEYS.sessions_at(stage)}
    assert kept == (open_ if stage in {SessionStatus.OPEN, SessionStatus.CLOSING} else set())
    assert all(month - 60 < server.ttl(key) <= month for key in done if server.exists(key) and key not in kept)


def test_abandoned_sessions_are_not_listed_for_ever_where_others_follow(client: redis.Redis) -> None:
    store = WholeStore(client, prefix="t")
    for session, at in (("old", NOON), ("new", NOON + timedelta(days=31))):
        assert save(store, session_state(session, ended_at=NOON, given_up=Abandonment(at, "gone")))

    assert store.sessions(SessionStatus.ABANDONED) == [(HOME, "new")]


def test_what_another_release_added_is_no_obstacle_and_what_it_left_out_is_told(client: redis.Redis) -> None:
    store, server = WholeStore(client, prefix="t"), client
    first = opened()
    assert save(store, first)
    key = KEYS.session_state(HOME, "s1")
    raw: Any = server.get(key)
    server.set(key, raw[:-1] + b',"of_next_year":1}')
    seen = store.session_state(HOME, "s1")
    assert seen == first

    assert save(store, session_state(step="second", touched=touch(LATER)), replaces=seen)

    server.set(key, raw[:36] + b"{}")
    with pytest.raises(Misconfigured, match="the store holds no SessionState"):
        store.session_state(HOME, "s1")


def test_a_session_that_is_being_forgotten_is_not_closed(client: redis.Redis) -> None:
    store, session_state = WholeStore(client, prefix="t"), opened()
    assert save(store, session_state)
    end = ended_by_idleness(session_state)
    RedisTombstones(client, BusKeys("t")).put(HOME, [session_name(HOME, "s1")], Tombstone(at=NOON))

    effects = Effects(
        writes=(SaveSessionState(session_state=closed(session_state, end), replaces=session_state),), events=(end,)
    )

    assert isinstance(store.bus.apply(effects), Conflict)
    assert not client.exists("t:events:session_ended")


ODD = "a/b: 100% 日本"


def save_anchor(
    store: WholeStore, anchor: StoredAnchoredSummary, *, replaces: StoredAnchoredSummary | None = None
) -> bool:
    """Return whether the write was accepted."""
    return store.write(SaveAnchoredSummary(anchor=anchor, replaces=replaces.event_id if replaces else None))


def saved(
    store: WholeStore, scope: Scope = HOME, *, agent: str = "a1", session: str = "s1"
) -> StoredAnchoredSummary | None:
    return store.anchored_summary(scope, agent_id=agent, session_id=session)


def anchor(iteration: int = 1, **fields: Any) -> StoredAnchoredSummary:
    known: dict[str, Any] = {
        "scope": HOME,
        "agent_id": "a1",
        "session_id": "s1",
        "summary": AnchoredSummary.of({"intent": "- Größe 🌍", "earlier": "- once"}, iteration=iteration),
        "digest": "ab" * 32,
        "entries": 4,
        "bytes": 100,
        "event_id": uuid5(NAMESPACE, f"event {iteration}"),
        "at": NOON,
        "tier": Tier.LLM,
        "tokens": Tokens(10, 2),
    }
    return StoredAnchoredSummary(**{**known, **fields})


def test_there_is_one_for_each_agent_and_session_replaced_in_place(store: WholeStore) -> None:
    save_anchor(store, anchor())
    save_anchor(store, anchor(agent_id=ODD))
    save_anchor(store, anchor(session_id=ODD))

    assert save_anchor(store, anchor(2), replaces=anchor())
    assert saved(store) == anchor(2)
    assert saved(store, agent=ODD) == anchor(agent_id=ODD)
    assert saved(store, session=ODD) == anchor(session_id=ODD)


def test_one_that_was_replaced_meanwhile_is_not_replaced_again(store: WholeStore) -> None:
    save_anchor(store, anchor())
    save_anchor(store, anchor(2), replaces=anchor())

    assert not save_anchor(store, anchor(3), replaces=anchor())
    assert not save_anchor(store, anchor(3))
    assert saved(store) == anchor(2)


def test_one_of_another_schema_version_is_refused_and_not_misread(redis_client: redis.Redis) -> None:
    store = WholeStore(redis_client, prefix="t")
    save_anchor(store, replace(anchor(), summary=AnchoredSummary(schema_version=2)))

    with pytest.raises(Misconfigured, match="another release"):
        saved(store)


def test_nothing_new_holds_while_the_summary_is_there_that_was_seen(store: WholeStore) -> None:
    seen = ExpectAnchoredSummary(scope=HOME, agent_id="a1", session_id="s1", event_id=anchor().event_id)
    assert not store.write(seen)
    save_anchor(store, anchor())

    assert store.write(seen)
    assert not store.write(replace(seen, event_id=None))
    assert saved(store) == anchor()
