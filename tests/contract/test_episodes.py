"""Promises of a store of episodes, on fakeredis and on a real server."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import uuid5

import numpy as np
import redis
from builders.episodes import HOME, NOON, WORK, episode
from builders.stores import KEYS, WholeStore
from numpy.typing import NDArray

from nous.domain.effects import AppendFacts, ExpectEpisode, SaveEpisode, SaveEpisodeVector
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


MINI = "a:mini"
VECTOR: NDArray[np.float32] = np.array([0.6, 0.8], dtype=np.float32)


def kept(of: Episode, *, by: str = MINI) -> SaveEpisodeVector:
    return SaveEpisodeVector(scope=of.scope, episode_id=of.id, of=of.state, embedder=by, vector=VECTOR)


def next_edition(of: Episode) -> Episode:
    return replace(of, edition=of.edition + 1)


def test_episodes_wait_for_a_vector_those_that_ended_last_first(store: WholeStore) -> None:
    saved = [episode(f"s{hour}", ended_at=NOON + timedelta(hours=hour)) for hour in (1, 3, 2)]
    for each in saved:
        store.write(SaveEpisode(episode=each))
    first, last, middle = (each.id for each in saved)

    assert list(store.without_vector(HOME, embedder=MINI)) == [last, middle, first]
    assert store.write(kept(saved[2]))
    assert list(store.without_vector(HOME, embedder=MINI)) == [last, first]
    assert list(store.without_vector(WORK, embedder=MINI)) == []


def test_a_new_edition_waits_for_a_vector_and_is_found_by_that_of_the_earlier_one_until_then(store: WholeStore) -> None:
    saved = episode()
    store.write(SaveEpisode(episode=saved))
    store.write(kept(saved))

    store.write(SaveEpisode(episode=next_edition(saved), replaces=saved))

    assert list(store.without_vector(HOME, embedder=MINI)) == [saved.id]
    assert list(store.episode_vectors(HOME, [saved.id], embedder=MINI)) == [saved.id]
    assert store.write(kept(next_edition(saved)))
    assert list(store.without_vector(HOME, embedder=MINI)) == []


def test_a_vector_that_comes_late_does_not_take_the_place_of_one_of_a_newer_edition(store: WholeStore) -> None:
    saved, newer = episode(), next_edition(episode())
    store.write(SaveEpisode(episode=saved))
    store.write(SaveEpisode(episode=newer, replaces=saved))
    store.write(kept(newer))

    assert not store.write(kept(saved))
    assert list(store.without_vector(HOME, embedder=MINI)) == []


def test_a_vector_whose_state_was_not_written_any_more_is_made_again(redis_client: redis.Redis) -> None:
    store, saved = WholeStore(redis_client, prefix="t"), episode()
    store.write(SaveEpisode(episode=saved))
    store.write(SaveEpisode(episode=next_edition(saved), replaces=saved))
    store.write(kept(next_edition(saved)))

    redis_client.hdel(KEYS.episode_vector_states(HOME, MINI), str(saved.id))

    assert list(store.without_vector(HOME, embedder=MINI)) == [saved.id]
