"""Forgetting a fact and a scope on a real server, forgetting that breaks off half-way, and the command."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from builders.keyspace import keys_with
from builders.model_server import ModelServer
from builders.town import ELSEWHERE, HERE, OTHER, SECRET, SHARED, Town, about_its_session

from nous.bus.base import Lane
from nous.errors import Unavailable
from nous.events import episode_id
from nous.learning.normalise import exact_form
from nous.runtime.forget import Forgetter
from nous.runtime.forgetting import Everything, Known, Session, Stores
from nous.wiring import forgetter

OWN = "The plantedanswer codeword opens the vault."
FORMS = [exact_form(SHARED), SHARED, SHARED.rstrip(".")]


@pytest.fixture
def town(directory: Path) -> Iterator[Town]:
    with ModelServer(about_its_session) as server:
        town = Town(directory, server)
        try:
            yield town
        finally:
            town.stop()


def live(town: Town) -> None:
    town.publish(SECRET, "plantedwords")
    town.settle()
    town.publish(OTHER, "otherwords")
    town.decide(OTHER, "otherdecision: we use spaces")
    town.settle()


def facts_of(town: Town) -> dict[str, UUID]:
    kit = town.world.kit
    with kit.memory.current(kit.facts, HERE, kit.embedder) as knowledge:
        return {known.fact.text: known.fact.id for known in knowledge.current()}


def balances(town: Town) -> set[int]:
    return {town.world.ledger.account(each).balance for each in town.world.subscriptions}


def test_of_a_forgotten_fact_only_the_words_of_sessions_are_left(town: Town) -> None:
    live(town)
    before = facts_of(town)
    assert {"fact_learned", "fact_confirmed"} <= {key.rpartition(":")[2] for key in keys_with(town.client, *FORMS)}

    receipt = forgetter(town.world).forget(Known(scope=HERE, id=before[SHARED]))

    assert receipt.removed["facts"] == 1
    assert receipt.removed["candidate facts"] == 1  # the other session has it in other words
    assert any("summaries" in each for each in receipt.stays)
    assert facts_of(town).keys() == before.keys() - {SHARED}
    left = {key.split(":")[1] for key in keys_with(town.client, *FORMS)}
    assert left <= {"episodes", "briefs", "events"}
    assert balances(town) == {0}


def test_a_forgotten_fact_is_taken_out_of_an_episode_that_waits_and_the_rest_is_learned(town: Town) -> None:
    live(town)
    known = facts_of(town)[OWN]
    forgetter(town.world).forget(Session(scope=HERE, name=OTHER))
    town.publish(SECRET, "plantedwords, and more of them")
    summarizer = town.world.subscription("episode-summarizer")
    [delivery] = town.world.bus.receive(summarizer, lane=Lane.LIVE, limit=1, lease=60)
    effects = town.world.workers["episode-summarizer"].build(town.world.kit)(delivery.event)
    town.world.bus.commit(delivery, effects)
    assert "episode_summarized" in {key.rpartition(":")[2] for key in keys_with(town.client, OWN)}

    forgetter(town.world).forget(Known(scope=HERE, id=known))

    holding = keys_with(town.client, f'"text":"{OWN}"')
    assert holding == {}
    town.settle()
    assert OWN not in facts_of(town)
    assert SHARED in facts_of(town)
    assert balances(town) == {0}


def test_of_a_forgotten_scope_nothing_is_left_but_that_it_was_forgotten(town: Town) -> None:
    live(town)
    town.publish(SECRET, "elsewords", scope=ELSEWHERE)
    town.settle()
    town.publish("late", "plantedwords of a late session")
    elsewhere = keys_with(town.client, "elsewords")
    assert elsewhere

    receipt = forgetter(town.world).forget(Everything(scope=HERE))

    assert receipt.removed["episodes"] == 2
    assert [key for key in keys_with(town.client, "default/default/town") if ":forgotten:" not in key] == []
    assert keys_with(town.client, "planted", "otherwords", "otherdecision", "canteen opens", "late").keys() <= {
        key for key in keys_with(town.client, "default/default/elsewhere", "elsewhere")
    }
    assert keys_with(town.client, "elsewords").keys() == elsewhere.keys()
    for session in (SECRET, OTHER, "late"):
        with pytest.raises(Exception, match="was forgotten on"):
            town.publish(session, "plantedwords")
    town.publish("new", "newwords")
    town.settle()
    assert town.world.kit.episodes.get(HERE, episode_id(HERE, "new"))
    assert balances(town) == {0}


class Breaking:
    """Does what *port* does, until the *fatal*-th call of any of those that share *calls*."""

    def __init__(self, port: Any, calls: Counter[str], fatal: int) -> None:
        self._port, self._calls, self._fatal = port, calls, fatal

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            self._calls["made"] += 1
            if self._calls["made"] == self._fatal:
                raise Unavailable("the power is gone")
            return getattr(self._port, name)(*arguments, **more)

        return call


def breaking(stores: Stores, fatal: int) -> tuple[Stores, Counter[str]]:
    calls = Counter[str]()
    ports = {name: Breaking(getattr(stores, name), calls, fatal) for name in ("tombstones", "bus", "jobs", "store", "pins")}
    return replace(stores, **ports), calls
