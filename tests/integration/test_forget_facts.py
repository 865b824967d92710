"""Forgetting a fact and a scope on a real server, forgetting that breaks off half-way, and the command."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import orjson
import pytest
import redis
from builders.command_line import Nous
from builders.keyspace import keys_with
from builders.model_server import Request
from builders.town import ELSEWHERE, HERE, OTHER, SAID_BY_OTHER, SECRET, SHARED, Town, running, told

from nous.app.container import Container, build
from nous.app.services import erasable_stores, eraser
from nous.bus.base import Conflict, Priority
from nous.bus.erasure import session_name
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact, episode_id
from nous.domain.errors import Unavailable
from nous.domain.events import DecisionRecorded, EpisodeSummarized, Event, SessionEnded
from nous.domain.fact import Row, Source
from nous.domain.scope import CacheSubject
from nous.knowledge.erase import Erased
from nous.knowledge.normalize import exact_form
from nous.knowledge.verdict import Rulings, UncertainFact
from nous.pipeline.fact_learner import FactLearner
from nous.services.erasure import EraseFact, Eraser, EraseScope, EraseSession, ErasureRequest
from nous.store.keys import StoreKeys
from nous.store.redis.erasure import RedisErasure

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


def foreign(town: Town, kind: type[Event], **data: Any) -> None:
    raw = orjson.dumps({"data": {"scope": {"project": HERE.project}, **data}})
    town.client.xadd(BusKeys().stream(kind.type, Priority.LIVE), {"event": raw})


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
    foreign(town, DecisionRecorded, episode_id="own", description="planted under an id")
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
    foreign(town, DecisionRecorded, episode_id="own", description="repeated under an id")
    town.settle()
    assert keys_with(town.client, "repeated under").keys() == {"nous:events:decision_recorded"}
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
    foreign(town, DecisionRecorded, episode_id="own-id", description="planted under an id of its producer")
    foreign(town, SessionEnded, session_id=SECRET, episode_id="own-id", transcript=told("plantedwords under an id"))
    town.settle()
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


def test_decisions_under_an_id_that_a_session_gave_its_episode_go_with_it_unless_they_are_anothers_too(
    town: Town,
) -> None:
    ids = {SECRET: "first", "brief": "short", "one": "shared", "two": "shared", OTHER: "", "stranger": OTHER}
    ids |= {"run": "running", "torn": 7}
    for name in {"second", *ids.values()} - {"", "running"}:
        foreign(town, DecisionRecorded, session_id=0, episode_id=name, description=f"planted {name}")
    foreign(town, DecisionRecorded, session_id="running", description="planted running")
    town.publish(OTHER, "otherwords")
    for session, own in ids.items():
        text = "User: hi" if session == "brief" else told(f"words of {session}")
        foreign(town, SessionEnded, session_id=session, episode_id=own or None, transcript=text)
    town.settle()
    foreign(town, SessionEnded, session_id=SECRET, episode_id="second", transcript=told("more words of it " * 9))
    town.settle()

    deep = b'{"data":{"session_id":"deep","scope":{"project":"town"},"episode_id":' + b"[" * 1010 + b"]" * 1010 + b"}}"
    town.client.xadd(BusKeys().stream(SessionEnded.type, Priority.LIVE), {"event": deep})

    for session in (SECRET, "brief", "one", "stranger", "run", "torn"):
        eraser(town.container).erase(EraseSession(scope=HERE, name=session))
    foreign(town, DecisionRecorded, episode_id="first", description="planted first")
    town.settle()
    eraser(town.container).erase(EraseSession(scope=HERE, name=SECRET))

    assert keys_with(town.client, "planted first", "planted second", "planted short", "planted 7") == {}
    for kept in ("shared", "running", OTHER):
        assert f"nous:decisions:{HERE}:{episode_id(HERE, kept)}" in keys_with(town.client, f"planted {kept}")
    assert town.container.tombstones.find(HERE, session_name(HERE, OTHER)) is None
    assert town.balances() == {0}


def test_an_id_of_a_forgotten_episode_blocks_decisions_under_it_alone_until_the_session_is_let_back(
    town: Town, nous: Nous
) -> None:
    foreign(town, SessionEnded, session_id="a", episode_id="b", transcript=told("plantedwords of a"))
    town.settle()

    refused = nous("forget", "--session", "b", "--scope", str(HERE), "--yes")
    assert "there is no session b" in refused.stderr
    assert "another session, which stays: a\n" in refused.stderr
    assert nous("forget", "--session", "a", "--scope", str(HERE), "--yes").exit_code == 0
    for name in ("a", "b"):
        foreign(town, DecisionRecorded, episode_id=name, description=f"planted late {name}")
    town.publish("b", "otherwords")
    town.settle()

    assert keys_with(town.client, "planted").keys() == {"nous:events:decision_recorded"}
    town.publish("a", "plantedwords again", again=True)
    foreign(town, DecisionRecorded, episode_id="b", description="planted anew")
    town.settle()
    assert f"nous:decisions:{HERE}:{episode_id(HERE, 'b')}" in keys_with(town.client, "planted anew")


def test_a_candidate_with_subject_and_content_is_forgotten_from_its_event_too(town: Town) -> None:
    candidate = {"subject": "billing", "content": "Service billing listens on port 90171."}
    summary = {"title": "Ports", "summary": "A port was set.", "outcome": "resolved", "outcome_rationale": "It is."}
    summary |= {"key_points": [], "topics": []}
    foreign(town, EpisodeSummarized, session_id="own", summary=summary, candidate_facts=[candidate])
    town.settle()
    [fact] = (each for text, each in town.facts().items() if "90171" in text)

    eraser(town.container).erase(EraseFact(scope=HERE, id=fact))

    assert keys_with(town.client, "90171") == {}


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


QUOTED = "The vault of the billing service opens with the passphrase zebrasecret kept upstairs"
NEAR = "The vault of the billing service opens with the passphrase kept upstairs in a box"


def quoting(_: Request) -> str:
    """A ruling that tells what a fact of another session says."""
    reason = "The known one names zebrasecret as the passphrase."
    return orjson.dumps({"pairs": [{"new": 1, "known": 1, "reason": reason, "relation": "different"}]}).decode()


@pytest.fixture
def quoting_town(directory: Path) -> Iterator[Town]:
    with running(directory, quoting) as quoting_town:
        yield quoting_town


def source_of(session: str) -> Source:
    episode = episode_id(HERE, session)
    return Source(
        episode_id=episode, event_id=uuid5(episode, "e"), session_id=session, turns=(), said_at=datetime.now(UTC)
    )


def teach(quoting_town: Town, session: str, text: str) -> Sequence[UUID]:
    """The facts that say so now."""
    lesson = FactLearner(quoting_town.container.context).ingest(
        [CandidateFact(text=text)], scope=HERE, source=source_of(session)
    )
    if lesson.append.rows:
        quoting_town.container.bus.apply(Effects(writes=(lesson.append,)))
    return [fact_decision.fact.id for fact_decision in lesson.fact_decisions]


def erasure_of(what: str, quoted: UUID) -> ErasureRequest:
    """The erasure of the session "one", or of the fact that it has taught."""
    return EraseSession(scope=HERE, name="one") if what == "session" else EraseFact(scope=HERE, id=quoted)


@pytest.mark.parametrize("what", ["session", "fact"])
def test_a_ruling_about_another_session_goes_with_the_fact_that_it_quotes(quoting_town: Town, what: str) -> None:
    [quoted] = teach(quoting_town, "one", QUOTED)
    teach(quoting_town, "two", NEAR)
    assert any(":answer:" in key for key in keys_with(quoting_town.client, "zebrasecret"))

    receipt = eraser(quoting_town.container).erase(erasure_of(what, quoted))

    assert receipt.removed["pinned answers"] == 1
    assert keys_with(quoting_town.client, "zebrasecret") == {}


@pytest.mark.parametrize("what", ["session", "fact"])
def test_a_ruling_that_is_asked_for_after_what_it_quotes_was_read_and_forgotten_is_not_kept(
    quoting_town: Town, what: str
) -> None:
    [quoted] = teach(quoting_town, "one", QUOTED)
    act = erasure_of(what, quoted)
    context = quoting_town.container.context
    assert context.adjudicator

    class HeldUp:
        """Has read the log, and asks only once that is forgotten."""

        def adjudicate(self, facts: Sequence[UncertainFact], *, matter: CacheSubject) -> Rulings:
            eraser(quoting_town.container).erase(act)
            return adjudicator.adjudicate(facts, matter=matter)

    adjudicator = context.adjudicator
    FactLearner(replace(context, adjudicator=HeldUp())).ingest(
        [CandidateFact(text=NEAR)], scope=HERE, source=source_of("two")
    )

    assert keys_with(quoting_town.client, "zebrasecret") == {}


def test_a_wording_that_comes_while_its_fact_is_being_forgotten_does_not_come_back(quoting_town: Town) -> None:
    [fact] = teach(quoting_town, "one", SHARED)
    stores = erasable_stores(quoting_town.container)

    class Disturbed(RedisErasure):
        """Somebody says the fact in other words just before the log is written anew."""

        def rewrite(self, scope: Any, rewrite: Any) -> Erased:
            if not said:
                said.extend(teach(quoting_town, "two", SAID_BY_OTHER))
            return super().rewrite(scope, rewrite)

    said: list[UUID] = []
    disturbed = replace(stores, store=Disturbed(quoting_town.client, StoreKeys(quoting_town.settings.prefix)))

    Eraser(disturbed, clock=quoting_town.container.context.clock, on_rewritten=lambda _: None).erase(
        EraseFact(scope=HERE, id=fact)
    )

    assert said == [fact]
    assert teach(quoting_town, "three", SAID_BY_OTHER) == []
    rows: Sequence[Row] = quoting_town.container.context.facts.read(HERE).rows
    assert rows == ()
