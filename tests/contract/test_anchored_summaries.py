"""Promises of a store of anchored summaries, on fakeredis and on a real server."""

from dataclasses import replace
from typing import Any
from uuid import uuid5

import pytest
import redis
from builders.episodes import HOME, NOON
from builders.stores import WholeStore

from nous.domain.anchored_summary import AnchoredSummary, StoredAnchoredSummary
from nous.domain.effects import ExpectAnchoredSummary, SaveAnchoredSummary
from nous.domain.episode import NAMESPACE, Tier, Tokens
from nous.domain.errors import Misconfigured
from nous.domain.scope import Scope

ODD = "a/b: 100% 日本"


def save(store: WholeStore, anchor: StoredAnchoredSummary, *, replaces: StoredAnchoredSummary | None = None) -> bool:
    """Whether it was stored."""
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
    save(store, anchor())
    save(store, anchor(agent_id=ODD))
    save(store, anchor(session_id=ODD))

    assert save(store, anchor(2), replaces=anchor())
    assert saved(store) == anchor(2)
    assert saved(store, agent=ODD) == anchor(agent_id=ODD)
    assert saved(store, session=ODD) == anchor(session_id=ODD)


def test_one_that_was_replaced_meanwhile_is_not_replaced_again(store: WholeStore) -> None:
    save(store, anchor())
    save(store, anchor(2), replaces=anchor())

    assert not save(store, anchor(3), replaces=anchor())
    assert not save(store, anchor(3))
    assert saved(store) == anchor(2)


def test_one_of_another_schema_version_is_refused_and_not_misread(redis_client: redis.Redis) -> None:
    store = WholeStore(redis_client, prefix="t")
    save(store, replace(anchor(), summary=AnchoredSummary(schema_version=2)))

    with pytest.raises(Misconfigured, match="another release"):
        saved(store)


def test_nothing_new_holds_while_the_summary_is_there_that_was_seen(store: WholeStore) -> None:
    seen = ExpectAnchoredSummary(scope=HOME, agent_id="a1", session_id="s1", event_id=anchor().event_id)
    assert not store.write(seen)
    save(store, anchor())

    assert store.write(seen)
    assert not store.write(replace(seen, event_id=None))
    assert saved(store) == anchor()
