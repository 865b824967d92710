"""Which episodes have a vector of what they say now, asked of each store."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import redis
from builders.episodes import HOME, NOON, WORK, episode
from builders.stores import KEYS, WholeStore
from numpy.typing import NDArray

from nous.domain.effects import SaveEpisode, SaveEpisodeVector
from nous.domain.episode import Episode

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
