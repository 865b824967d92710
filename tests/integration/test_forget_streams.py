"""Forgetting and the streams of a whole product: what others wrote, what waits or is dead, and what comes after it."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from builders.answers import answer
from builders.model_server import Request
from builders.town import HERE, OTHER, SECRET, Town, running, told

from nous.app.services import eraser
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.errors import NotFound
from nous.domain.events import EpisodeSummarized
from nous.domain.scope import Scope
from nous.services.erasure import EraseFact, EraseScope, EraseSession, ErasureReceipt, ErasureRequest
from nous.services.session_intake import SessionMetadata

SHARED, OWN = "The canteen opens at noon.", "The pantry door code is kept by Marta."
ENDED = BusKeys().stream("session_ended", Priority.LIVE)


def about_the_canteen(request: Request) -> str:
    """What both sessions say, and what only the other one does."""
    texts = [SHARED, OWN] if "otherwords" in request.user else [SHARED, "The garage opens at six."]
    more = {"category": "technical", "subject": "x", "confidence": 0.9, "turns": [1], "event_date": None}
    return answer(
        title="About x",
        summary="It opens.",
        key_points=["x"],
        candidate_facts=[{"text": text, **more} for text in texts],
    )


@pytest.fixture
def town(directory: Path) -> Iterator[Town]:
    with running(directory, about_the_canteen) as town:
        yield town


def publish(town: Town, session: str, words: str, *, again: bool = False) -> None:
    content = told(f"{words} {SHARED} {OWN} The garage opens at six.")
    list(town.producer.publish(content, SessionMetadata(scope=HERE, session_id=session), again=again))


def forget(town: Town, act: ErasureRequest) -> ErasureReceipt:
    return eraser(town.container).erase(act)


@pytest.mark.parametrize("scope", [{"project": ["x"]}, "a/b/c/d"])
def test_an_entry_that_nobody_can_read_stands_in_nobody_s_way_and_is_counted(town: Town, scope: object) -> None:
    publish(town, SECRET, "plantedwords")
    publish(town, "new", "newwords")
    raw = orjson.dumps({"data": {"session_id": OTHER, "scope": scope, "transcript": "User: hello"}})
    town.client.xadd(ENDED, {"event": raw})

    receipts = [forget(town, act) for act in (EraseSession(scope=HERE, name=SECRET), EraseScope(scope=HERE))]

    assert [receipt.unreadable for receipt in receipts] == [1, 1]
    with pytest.raises(NotFound):
        forget(town, EraseScope(scope=Scope()))
    assert town.client.xlen(ENDED) == 1


def test_a_session_of_which_a_fact_was_forgotten_is_learned_anew_when_it_is_let_back(town: Town) -> None:
    publish(town, OTHER, "otherwords")
    town.settle()
    forget(town, EraseFact(scope=HERE, id=town.facts()[SHARED]))
    assert town.facts().keys() == {OWN}
    assert len(town.container.delivery_stats.events_of(OTHER, HERE, EpisodeSummarized)) == 1
    forget(town, EraseSession(scope=HERE, name=OTHER))
    assert town.facts() == {}

    publish(town, OTHER, "otherwords", again=True)
    town.settle()

    assert town.facts().keys() == {OWN}
    assert town.balances() == {0}


def test_the_upload_of_a_session_with_a_like_name_stays(town: Town) -> None:
    words = "plantedupload " * 1000
    for session, compacting in ((SECRET, False), (SECRET, True), (f"{SECRET} compacting", False)):
        town.publish(session, words, compacting=compacting)
    uploaded = set(town.client.scan_iter("nous:transcript:*"))
    assert len(uploaded) == 3

    receipt = forget(town, EraseSession(scope=HERE, name=SECRET))

    assert receipt.removed["uploaded transcripts"] == 2
    [left] = town.client.scan_iter("nous:transcript:*")
    town.settle()
    assert town.container.dead_letters.letters() == []
    assert town.client.exists(left) == 0
