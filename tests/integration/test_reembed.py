"""Vectors for episodes that came without one, made by workers on a real server."""

import json
from typing import Any

from builders.command_line import Nous
from builders.crew import working
from builders.episodes import HOME, episode

from nous.app.container import Container
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.scope import Scope
from nous.store.keys import StoreKeys


def waiting(container: Container, scope: Scope = HOME) -> int:
    return len(container.context.episodes.without_vector(scope, embedder=container.context.embedder.id))


def save(container: Container, *sessions: str) -> None:
    for session in sessions:
        container.bus.apply(Effects(writes=(SaveEpisode(episode=episode(session)),)))


def test_episodes_that_have_no_vector_get_one_and_doing_it_again_finds_nothing(
    nous: Nous, container: Container, wait_until: Any
) -> None:
    save(container, *(f"s{number}" for number in range(70)))
    would = nous("reembed", "--dry-run")
    assert would.stdout == f"{HOME}: 70 episodes without a vector by hashed-256 would be queued\n"
    assert waiting(container) == 70

    told = nous("reembed", "--json")
    with working(container):
        wait_until(lambda: not waiting(container), "vectors of all episodes")
    vectors = container.client.hgetall(StoreKeys().episode_vectors(HOME, container.context.embedder.id))

    assert [(row["facts"], row["episodes"], row["handed_over"]) for row in json.loads(told.stdout)] == [(0, 70, True)]
    assert nous("reembed").stdout == "every fact has its vector by hashed-256, and every episode\n"
    assert container.client.hgetall(StoreKeys().episode_vectors(HOME, container.context.embedder.id)) == vectors
    account = container.delivery_stats.counters(container.subscription("episode-embedder"))
    assert (account.received, account.done, account.discrepancy) == (3, 3, 0)
