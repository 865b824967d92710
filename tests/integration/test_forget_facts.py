"""Forgetting a fact and a scope on a real server, forgetting that breaks off half-way, and the command."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from builders.command_line import Nous
from builders.keyspace import keys_with
from builders.town import ELSEWHERE, HERE, OTHER, SECRET, SHARED, Town, told

from nous.app.container import Container, build
from nous.app.services import eraser
from nous.bus.base import Conflict, Priority
from nous.domain.episode import episode_id
from nous.domain.errors import Unavailable
from nous.knowledge.normalize import exact_form
from nous.services.erasure import EraseFact, EraseScope, EraseSession

OWN = "The plantedanswer codeword opens the vault."
STRIDE = int(os.environ.get("FORGET_STRIDE", "17"))
"""Of all the moments at which it can break off, every so many is tried."""

FORMS = [exact_form(SHARED), SHARED, SHARED.rstrip(".")]


def live(town: Town) -> None:
    town.publish(SECRET, "plantedwords")
    town.settle()
    town.publish(OTHER, "otherwords")
    town.decide(OTHER, "otherdecision: we use spaces")
    town.settle()


def test_of_a_forgotten_fact_only_the_words_of_sessions_are_left(town: Town) -> None:
    live(town)
    before = town.facts()
    assert {"fact_learned", "fact_confirmed"} <= {key.rpartition(":")[2] for key in keys_with(town.client, *FORMS)}

    receipt = eraser(town.container).erase(EraseFact(scope=HERE, id=before[SHARED]))

    assert receipt.removed["facts"] == 1
    assert receipt.removed["candidate facts"] == 2  # in the wordings of both sessions
    assert any("summaries" in each for each in receipt.stays)
    assert town.facts().keys() == before.keys() - {SHARED}
    left = {key.split(":")[1] for key in keys_with(town.client, *FORMS)}
    assert left <= {"episodes", "briefs", "events"}
    assert town.balances() == {0}


@pytest.mark.parametrize("session", [SECRET, "another"])
def test_a_fact_that_is_forgotten_while_somebody_has_a_session_in_hand_does_not_come_back_with_that(
    town: Town, session: str
) -> None:
    town.publish(SECRET, "plantedwords")
    town.settle()
    town.publish(session, "plantedwords, and more of them")
    summarizer = town.container.subscription("episode-summarizer")
    [delivery] = town.container.bus.receive(summarizer, priority=Priority.LIVE, limit=1, lease=0)
    effects = town.container.workers["episode-summarizer"].handler_factory(town.container.context)(delivery.event)

    eraser(town.container).erase(EraseFact(scope=HERE, id=town.facts()[OWN]))

    assert isinstance(town.container.bus.commit(delivery, effects), Conflict)
    town.settle()
    assert keys_with(town.client, f'"text":"{OWN}"') == {}
    assert town.container.context.episodes.get(HERE, episode_id(HERE, session))
    assert town.facts().keys() == {SHARED}
    assert town.balances() == {0}


def test_of_a_forgotten_scope_nothing_is_left_but_that_it_was_forgotten(town: Town) -> None:
    live(town)
    town.publish(SECRET, "elsewords", scope=ELSEWHERE)
    town.settle()
    town.publish("late", "plantedwords of a late session")
    elsewhere = keys_with(town.client, "elsewords")
    assert elsewhere

    receipt = eraser(town.container).erase(EraseScope(scope=HERE))

    assert receipt.removed["episodes"] == 2
    assert [key for key in keys_with(town.client, "default/default/town") if ":forgotten:" not in key] == []
    assert keys_with(town.client, "planted", "otherwords", "otherdecision") == {}
    assert keys_with(town.client, "elsewords").keys() == elsewhere.keys()
    for session in (SECRET, OTHER, "late"):
        with pytest.raises(Exception, match="was forgotten on"):
            town.publish(session, "plantedwords")
    town.publish("new", "newwords")
    town.settle()
    assert town.container.context.episodes.get(HERE, episode_id(HERE, "new"))
    assert town.balances() == {0}


class Broken:
    """The connections of a world, which fail once: at the *fatal*-th time that something is asked of the server."""

    def __init__(self, container: Container, fatal: int) -> None:
        self.asked = 0
        self._fatal = fatal
        for client in (container.client, container.rq_client):
            pool: Any = client.connection_pool
            pool.get_connection = self._breaking(pool.get_connection)

    def _breaking(self, get: Callable[..., Any]) -> Callable[..., Any]:
        def get_connection(*arguments: Any, **more: Any) -> Any:
            self.asked += 1
            if self.asked == self._fatal:
                raise redis.ConnectionError("the power is gone")
            return get(*arguments, **more)

        return get_connection


def test_forgetting_that_breaks_off_anywhere_says_nowhere_that_it_is_done_and_is_finished_by_another(
    town: Town,
) -> None:
    live(town)
    town.publish(SECRET, "plantedwords that wait")
    saved = {key: town.client.dump(key) for key in town.client.scan_iter("*")}
    act = EraseSession(scope=HERE, name=SECRET)
    fatal = broken = 0
    while broken == fatal // STRIDE:
        fatal += STRIDE
        town.client.flushall()
        for key, dump in saved.items():
            town.client.restore(key, 0, dump)
        container = build(town.settings)
        Broken(container, fatal)
        try:
            eraser(container).erase(act)
        except Unavailable:
            broken += 1
            tombstone = town.container.tombstones.find(HERE, act.key)
            assert tombstone is None or not tombstone.is_done
        eraser(town.container).erase(act)
        assert keys_with(town.client, "planted") == {}, f"broken off at {fatal}"
        assert town.balances() == {0}
    print(f"broken off at {broken} places")
    assert broken > 100 // STRIDE


def test_the_command_asks_first_and_prints_a_receipt_without_content(town: Town, nous: Nous, tmp_path: Path) -> None:
    live(town)
    where = ("--scope", str(HERE))

    rehearsed = nous("forget", "--session", SECRET, *where, "--dry-run")
    unasked = nous("forget", "--session", SECRET, *where)
    assert (rehearsed.exit_code, unasked.exit_code) == (0, 3)
    assert "would be forgotten" in rehearsed.stdout
    assert "--yes" in unasked.stderr
    assert keys_with(town.client, "plantedwords")

    done = nous("forget", "--session", SECRET, *where, "--yes", "--json")

    assert done.exit_code == 0, done.stderr
    receipt = json.loads(done.stdout)
    assert (receipt["what"], receipt["name"], receipt["scope"]) == ("session", SECRET, str(HERE))
    assert receipt["removed"]["episodes"] == 1
    assert "planted" not in done.stdout
    assert keys_with(town.client, "planted") == {}
    (tmp_path / "again.txt").write_text(told("plantedwords"))
    publish = ("publish", str(tmp_path / "again.txt"), "--session", SECRET, *where)
    refused, let_in = nous(*publish), nous(*publish, "--again")
    assert (refused.exit_code, let_in.exit_code) == (3, 0)
    assert f"session {SECRET} of scope {HERE} was forgotten on" in refused.stderr
