"""Promises of a store of episodes, on fakeredis and on a real server."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid5

from builders.episodes import HOME, NOON, WORK, episode
from builders.stores import WholeStore

from nous.domain.effects import AppendFacts, ExpectEpisode, SaveEpisode
from nous.domain.episode import NAMESPACE, Episode
from nous.domain.fact import Linked, LogVersion
from nous.domain.scope import Scope


def sessions(episodes: Sequence[Episode]) -> list[str]:
    return [each.session_id for each in episodes]


def linked(scope: Scope) -> AppendFacts:
    """An append to a log without rows."""
    one, other = uuid5(NAMESPACE, "one"), uuid5(NAMESPACE, "other")
    row = Linked(fact_id=one, other=other, reason="number", at=NOON)
    return AppendFacts(scope=scope, expected=LogVersion(), rows=(row,))


def test_episodes_that_ended_together_have_an_order_too(store: WholeStore) -> None:
    together = [episode(f"s{number}") for number in range(5)]
    for each in together:
        store.write(SaveEpisode(episode=each))

    assert list(store.recent(HOME)) == sorted(together, key=lambda each: str(each.id), reverse=True)


def test_an_episode_is_not_overwritten_by_a_handler_that_saw_none(store: WholeStore) -> None:
    assert store.write(SaveEpisode(episode=episode(version="v1")))

    assert not store.write(SaveEpisode(episode=episode(version="v2")))
    found = store.get(HOME, episode().id)
    assert found is not None
    assert found.version == "v1"


def test_a_version_that_is_gone_is_not_replaced_twice(store: WholeStore) -> None:
    store.write(SaveEpisode(episode=episode(version="v1")))
    store.write(SaveEpisode(episode=episode(version="v2"), replaces=episode(version="v1")))

    assert not store.write(SaveEpisode(episode=episode(version="v3"), replaces=episode(version="v1")))


def test_recent_episodes_come_newest_first(store: WholeStore) -> None:
    for hours in (1, 3, 2):
        store.write(SaveEpisode(episode=episode(f"s{hours}", ended_at=NOON + timedelta(hours=hours))))

    assert sessions(store.recent(HOME)) == ["s3", "s2", "s1"]
    assert sessions(store.recent(HOME, limit=2)) == ["s3", "s2"]
    assert sessions(store.recent(HOME, limit=0)) == []


def test_a_session_counts_once_whatever_its_editions(store: WholeStore) -> None:
    for version in ("v1", "v2"):
        store.write(SaveEpisode(episode=episode(version=version)))

    assert (store.count(HOME), store.count(WORK)) == (1, 0)


def test_scopes_are_those_with_an_episode_or_a_fact(store: WholeStore) -> None:
    odd = Scope("tenant:1", "100%", "日本 語")
    assert list(store.scopes()) == []

    store.write(SaveEpisode(episode=episode(scope=odd)))
    store.write(linked(WORK))

    assert list(store.scopes()) == sorted([odd, WORK])


def test_of_writes_that_belong_together_none_is_applied_when_one_is_refused(store: WholeStore) -> None:
    store.write(SaveEpisode(episode=episode()))

    assert not store.write(linked(HOME), SaveEpisode(episode=episode(version="v2")))
    assert store.read(HOME).rows == ()
    assert store.write(linked(HOME))
    assert not store.write(SaveEpisode(episode=episode("s2")), linked(HOME))
    assert store.get(HOME, episode("s2").id) is None


def test_nothing_left_to_do_holds_while_the_edition_is_there_that_was_seen(store: WholeStore) -> None:
    first, second = episode(), episode(version="v2", edition=2)
    seen = ExpectEpisode(scope=HOME, episode_id=first.id, state=first.state)
    assert store.write(replace(seen, state=""))
    assert not store.write(seen)
    store.write(SaveEpisode(episode=first))

    assert store.write(seen)
    assert not store.write(replace(seen, state=""))
    store.write(SaveEpisode(episode=second, replaces=first))
    assert not store.write(seen)
