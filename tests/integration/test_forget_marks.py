"""What keeps forgotten words away, what lets them back, and what an answer of a model may hold of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import orjson
import pytest
from builders.keyspace import keys_with
from builders.model_server import Request
from builders.town import HERE, SAID_BY_OTHER, SHARED, Town, running

from nous.app.services import erasable_stores, eraser
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact, episode_id
from nous.domain.fact import Row, Source
from nous.domain.scope import CacheSubject
from nous.knowledge.erase import Erased
from nous.knowledge.verdict import AmbiguousPair, Rulings
from nous.pipeline.fact_learner import FactLearner
from nous.services.erasure import EraseFact, Eraser, EraseSession, ErasureRequest
from nous.store.keys import StoreKeys
from nous.store.redis.erasure import RedisErasure

QUOTED = "The vault of the billing service opens with the passphrase zebrasecret kept upstairs"
NEAR = "The vault of the billing service opens with the passphrase kept upstairs in a box"


def quoting(_: Request) -> str:
    """A ruling that tells what a fact of another session says."""
    adjudication = {"pair": 1, "relation": "different", "reason": "The known one names zebrasecret as the passphrase."}
    return orjson.dumps({"pairs": [adjudication]}).decode()


@pytest.fixture
def town(directory: Path) -> Iterator[Town]:
    with running(directory, quoting) as town:
        yield town


def source_of(session: str) -> Source:
    episode = episode_id(HERE, session)
    return Source(
        episode_id=episode, event_id=uuid5(episode, "e"), session_id=session, turns=(), said_at=datetime.now(UTC)
    )


def teach(town: Town, session: str, text: str) -> Sequence[UUID]:
    """The facts that say so now."""
    lesson = FactLearner(town.container.context).ingest(
        [CandidateFact(text=text)], scope=HERE, source=source_of(session)
    )
    if lesson.append.rows:
        town.container.bus.apply(Effects(writes=(lesson.append,)))
    return [fact_decision.fact.id for fact_decision in lesson.fact_decisions]


def erasure_of(what: str, quoted: UUID) -> ErasureRequest:
    """The erasure of the session "one", or of the fact that it has taught."""
    return EraseSession(scope=HERE, name="one") if what == "session" else EraseFact(scope=HERE, id=quoted)


@pytest.mark.parametrize("what", ["session", "fact"])
def test_a_ruling_about_another_session_goes_with_the_fact_that_it_quotes(town: Town, what: str) -> None:
    [quoted] = teach(town, "one", QUOTED)
    teach(town, "two", NEAR)
    assert any(":answer:" in key for key in keys_with(town.client, "zebrasecret"))

    receipt = eraser(town.container).erase(erasure_of(what, quoted))

    assert receipt.removed["pinned answers"] == 1
    assert keys_with(town.client, "zebrasecret") == {}


@pytest.mark.parametrize("what", ["session", "fact"])
def test_a_ruling_that_is_asked_for_after_what_it_quotes_was_read_and_forgotten_is_not_kept(
    town: Town, what: str
) -> None:
    [quoted] = teach(town, "one", QUOTED)
    act = erasure_of(what, quoted)
    context = town.container.context
    assert context.adjudicator

    class HeldUp:
        """Has read the log, and asks only once that is forgotten."""

        def adjudicate(self, doubts: Sequence[AmbiguousPair], *, matter: CacheSubject) -> Rulings:
            eraser(town.container).erase(act)
            return adjudicator.adjudicate(doubts, matter=matter)

    adjudicator = context.adjudicator
    FactLearner(replace(context, adjudicator=HeldUp())).ingest(
        [CandidateFact(text=NEAR)], scope=HERE, source=source_of("two")
    )

    assert keys_with(town.client, "zebrasecret") == {}


def test_a_wording_that_comes_while_its_fact_is_being_forgotten_does_not_come_back(town: Town) -> None:
    [fact] = teach(town, "one", SHARED)
    stores = erasable_stores(town.container)

    class Disturbed(RedisErasure):
        """Somebody says the fact in other words just before the log is written anew."""

        def rewrite(self, scope: Any, rewrite: Any) -> Erased:
            if not said:
                said.extend(teach(town, "two", SAID_BY_OTHER))
            return super().rewrite(scope, rewrite)

    said: list[UUID] = []
    disturbed = replace(stores, store=Disturbed(town.client, StoreKeys(town.settings.prefix)))

    Eraser(disturbed, clock=town.container.context.clock, on_rewritten=lambda _: None).erase(
        EraseFact(scope=HERE, id=fact)
    )

    assert said == [fact]
    assert teach(town, "three", SAID_BY_OTHER) == []
    rows: Sequence[Row] = town.container.context.facts.read(HERE).rows
    assert rows == ()
