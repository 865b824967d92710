"""Vectors for episodes that came without one, made by workers on a real server."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from builders.command_line import Nous
from builders.episodes import HOME, episode

from nous.app import World, fleet
from nous.domain.effects import Effects, KeepVector, SaveEpisode
from nous.domain.scope import Scope
from nous.store.export_format import Carried, line
from nous.store.keys import StoreKeys

TITLE = "A title"


@contextmanager
def working(world: World) -> Generator[None]:
    """Every worker runs."""
    crew = fleet(world, sorted(world.workers), open_quarantine=lambda _: None)
    crew.start()
    try:
        yield
    finally:
        crew.stop()
        crew.wait()


def waiting(world: World, scope: Scope = HOME) -> int:
    return len(world.kit.episode_vectors.without_vector(scope, embedder=world.kit.embedder.id))


def save(world: World, *sessions: str) -> None:
    for session in sessions:
        world.bus.apply(Effects(writes=(SaveEpisode(episode=episode(session)),)))


def test_episodes_that_have_no_vector_get_one_and_doing_it_again_finds_nothing(
    nous: Nous, world: World, wait_until: Any
) -> None:
    save(world, *(f"s{number}" for number in range(70)))
    would = nous("reembed", "--dry-run")
    assert would.stdout == f"{HOME}: 70 episodes without a vector by hashed-256 would be handed to workers\n"
    assert waiting(world) == 70

    told = nous("reembed", "--json")
    with working(world):
        wait_until(lambda: not waiting(world), "vectors of all episodes")
    vectors = world.client.hgetall(StoreKeys().episode_vectors(HOME, world.kit.embedder.id))

    assert [(row["facts"], row["episodes"], row["handed_over"]) for row in json.loads(told.stdout)] == [(0, 70, True)]
    assert nous("reembed").stdout == "every fact has its vector by hashed-256, and every episode\n"
    assert world.client.hgetall(StoreKeys().episode_vectors(HOME, world.kit.embedder.id)) == vectors
    account = world.ledger.account(world.subscription("episode-embedder"))
    assert (account.received, account.done, account.balance) == (3, 3, 0)


def test_imported_episodes_are_found_by_words_at_once_and_get_vectors(
    nous: Nous, world: World, tmp_path: Path, wait_until: Any
) -> None:
    file = tmp_path / "export.jsonl"
    file.write_bytes(line(Carried(HOME, episode("s1"))))

    told = nous("import", file).stderr
    found = json.loads(nous("search", TITLE, "--scope", "home", "--json").stdout)

    assert "the episodes wait for vectors; no worker runs: nous up" in told
    assert [(each["session_id"], each["found_by"][0].split(":")[0]) for each in found] == [("s1", "words")]
    with working(world):
        wait_until(lambda: not waiting(world), "the vector of what was imported")
    again = json.loads(nous("search", TITLE, "--scope", "home", "--json").stdout)
    assert [each.split(":")[0] for each in again[0]["found_by"]] == ["words", "meaning"]


def test_an_import_with_empty_fields_takes_the_place_of_nothing(nous: Nous, world: World, tmp_path: Path) -> None:
    save(world, "s1")
    file = tmp_path / "export.jsonl"
    empty = json.loads(line(Carried(HOME, episode("s1", version="v2"))))
    empty["record"]["summary"] |= {"title": "", "summary": "", "key_points": []}
    file.write_text(json.dumps(empty) + "\n")

    assert nous("import", file).stdout.startswith("0 episodes")

    assert world.kit.episodes.get(HOME, episode("s1").id) == episode("s1")


def test_a_search_by_meaning_passes_over_what_has_no_vector(nous: Nous, world: World) -> None:
    save(world, "with", "without")
    one, embedder = episode("with"), world.kit.embedder
    vector = np.asarray(embedder.embed([one.summary.text])[0])
    kept = KeepVector(scope=HOME, episode_id=one.id, of=one.state, embedder=embedder.id, vector=vector)
    world.bus.apply(Effects(writes=(kept,)))

    hits = json.loads(nous("search", TITLE, "--scope", "home", "--json").stdout)

    assert {hit["session_id"]: [each.split(":")[0] for each in hit["found_by"]] for hit in hits} == {
        "with": ["words", "meaning"],
        "without": ["words"],
    }
