"""Forgetting and the streams of a whole product: what others wrote, what waits or is dead, and what comes after it."""

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
import redis
from builders.answers import answer, stated
from builders.episodes import HOME, episode
from builders.meddled import meddled
from builders.model_server import Request
from builders.town import HERE, OTHER, SECRET, Town, running, told
from builders.waiting import wait_until

from nous.app.container import Container
from nous.app.services import erasable_stores, eraser
from nous.bus.base import Priority
from nous.bus.erasure import WasForgotten, session_name
from nous.bus.redis.erasure import RedisBusErasure
from nous.bus.redis.keys import BusKeys
from nous.cli.facts import let_back
from nous.cli.facts import teach as teach_by_hand
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.episode import CandidateFact
from nous.domain.errors import NotFound
from nous.domain.events import EpisodeSummarized
from nous.domain.fact import Row
from nous.domain.scope import Scope
from nous.knowledge.decision import FactDecision
from nous.redis_server import embedded
from nous.redis_server.data_dir import locate
from nous.services.erasure import EraseFact, Eraser, EraseScope, EraseSession, ErasureReceipt, ErasureRequest
from nous.services.session_intake import SessionMetadata
from nous.store.base import NO_VECTORS

SHARED, OWN = "The canteen opens at noon.", "The pantry door code is kept by Marta."
ENDED = BusKeys().stream("session_ended", Priority.LIVE)


def about_the_canteen(request: Request) -> str:
    """What both sessions say, and what only the other one does."""
    texts = [SHARED, OWN] if "otherwords" in request.user else [SHARED, "The garage opens at six."]
    return answer(
        title="About x",
        summary="It opens.",
        key_points=["x"],
        candidate_facts=[stated(text, category="technical", subject="x") for text in texts],
    )


@pytest.fixture
def canteen_town(directory: Path) -> Iterator[Town]:
    with running(directory, about_the_canteen) as canteen_town:
        yield canteen_town


def publish(canteen_town: Town, session: str, words: str, *, again: bool = False) -> None:
    content = told(f"{words} {SHARED} {OWN} The garage opens at six.")
    list(canteen_town.producer.publish(content, SessionMetadata(scope=HERE, session_id=session), again=again))


def forget(canteen_town: Town, act: ErasureRequest) -> ErasureReceipt:
    return eraser(canteen_town.container).erase(act)


@pytest.mark.parametrize("scope", [{"project": ["x"]}, "a/b/c/d"])
def test_an_entry_that_nobody_can_read_stands_in_nobody_s_way_and_is_counted(canteen_town: Town, scope: object) -> None:
    publish(canteen_town, SECRET, "plantedwords")
    publish(canteen_town, "new", "newwords")
    raw = orjson.dumps({"data": {"session_id": OTHER, "scope": scope, "transcript": "User: hello"}})
    canteen_town.client.xadd(ENDED, {"event": raw})

    receipts = [forget(canteen_town, act) for act in (EraseSession(scope=HERE, name=SECRET), EraseScope(scope=HERE))]

    assert [receipt.unreadable for receipt in receipts] == [1, 1]
    with pytest.raises(NotFound):
        forget(canteen_town, EraseScope(scope=Scope()))
    assert canteen_town.client.xlen(ENDED) == 1


def test_a_session_of_which_a_fact_was_forgotten_is_learned_anew_when_it_is_let_back(canteen_town: Town) -> None:
    publish(canteen_town, OTHER, "otherwords")
    canteen_town.settle()
    forget(canteen_town, EraseFact(scope=HERE, id=canteen_town.facts()[SHARED]))
    assert canteen_town.facts().keys() == {OWN}
    assert len(canteen_town.container.delivery_stats.events_of(OTHER, HERE, EpisodeSummarized)) == 1
    forget(canteen_town, EraseSession(scope=HERE, name=OTHER))
    assert canteen_town.facts() == {}

    publish(canteen_town, OTHER, "otherwords", again=True)
    canteen_town.settle()

    assert canteen_town.facts().keys() == {OWN}
    assert canteen_town.balances() == {0}


def test_the_upload_of_a_session_with_a_like_name_stays(canteen_town: Town) -> None:
    words = "plantedupload " * 1000
    for session, compacting in ((SECRET, False), (SECRET, True), (f"{SECRET} compacting", False)):
        canteen_town.publish(session, words, compacting=compacting)
    uploaded = set(canteen_town.client.scan_iter("nous:transcript:*"))
    assert len(uploaded) == 3

    receipt = forget(canteen_town, EraseSession(scope=HERE, name=SECRET))

    assert receipt.removed["uploaded transcripts"] == 2
    [left] = canteen_town.client.scan_iter("nous:transcript:*")
    canteen_town.settle()
    assert canteen_town.container.dead_letters.letters() == []
    assert canteen_town.client.exists(left) == 0


PORT, TEA = CandidateFact(text="The API is on port 8080"), CandidateFact(text="Tim drinks tea")


def late(container: Container, act: ErasureRequest) -> Container:
    """Return *container* for a worker whose first commit comes just after *act*."""
    acts = iter([act])
    return container.replaced(bus=meddled(container.bus, lambda _: [eraser(container).erase(each) for each in acts]))


def teach(container: Container, session: str, *candidates: CandidateFact) -> Sequence[FactDecision]:
    return teach_by_hand(container, HOME, session, candidates)


def rows(container: Container) -> Sequence[Row]:
    return container.context.facts.read(HOME, embedder=NO_VECTORS).rows


def remember(container: Container, session: str) -> ErasureRequest:
    """Something is known of *session*, which is no fact; how to forget it."""
    known = episode(session)
    container.bus.apply(Effects(writes=(SaveEpisode(episode=known),)))
    return EraseSession(scope=HOME, name=session)


def test_what_is_told_by_hand_does_not_come_after_its_session_was_forgotten(container: Container) -> None:
    act = remember(container, "there")

    with pytest.raises(WasForgotten):
        teach(late(container, act), "there", PORT)

    assert rows(container) == ()


@pytest.mark.parametrize("what", ["session", "fact"])
def test_what_is_let_back_while_forgetting_comes_to_its_end_is_let_back(container: Container, what: str) -> None:
    [fact_decision] = teach(container, "there", PORT)
    act: ErasureRequest = (
        EraseSession(scope=HOME, name="there") if what == "session" else EraseFact(scope=HOME, id=fact_decision.fact.id)
    )
    told: list[UUID] = []

    def lets_back(_: object) -> None:
        told.extend(each.fact.id for each in _told_again(container))

    Eraser(erasable_stores(container), clock=container.context.clock, on_rewritten=lets_back).erase(act)

    assert told
    assert teach(container, "there", TEA)
    assert container.tombstones.find(HOME, session_name(HOME, "there")) is None
    assert not container.context.suppressed(HOME)


def _told_again(container: Container) -> Sequence[FactDecision]:
    """The fact, told by the same session, as who lets both back does."""
    let_back(container, HOME, "there", [PORT])
    return teach(container, "there", PORT)


@pytest.fixture
def server(directory: Path) -> Iterator[Any]:
    with redis.Redis.from_url(embedded.ensure(directory), socket_timeout=10) as client:
        yield client


def holds(directory: Path, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in directory.rglob("*") if path.is_file())


def test_a_file_that_is_being_written_is_waited_for_and_written_once_more(directory: Path, server: Any) -> None:
    server.set("secret", "plantedwords")
    server.mset({f"more:{number}": "x" for number in range(200)})
    assert holds(directory, b"plantedwords")
    server.config_set("rdb-key-save-delay", 2000)
    server.bgrewriteaof()
    server.config_set("rdb-key-save-delay", 0)
    server.delete("secret")
    assert server.info("persistence")["aof_rewrite_in_progress"]

    assert RedisBusErasure(server).purge_files()

    assert not holds(directory, b"plantedwords")


def test_what_a_killed_server_was_writing_is_gone_when_it_is_back(directory: Path, server: Any) -> None:
    server.mset({f"key:{number}": "x" for number in range(200)})
    server.config_set("rdb-key-save-delay", 1_000_000)
    server.bgrewriteaof()
    killed: int = server.info("server")["process_id"]
    home = locate(directory).home
    wait_until(lambda: [*home.glob("temp-*.aof")], "the writing of a file")
    [writer] = Path(f"/proc/{killed}/task/{killed}/children").read_text().split()
    os.kill(killed, signal.SIGKILL)
    os.kill(int(writer), signal.SIGKILL)

    embedded.ensure(directory)

    assert server.dbsize() == 200
    assert [*home.glob("temp-*")] == []


def test_a_snapshot_that_somebody_had_taken_is_taken_anew_though_none_is_taken_by_itself(
    directory: Path, server: Any
) -> None:
    server.set("secret", "plantedwords")
    server.save()
    server.delete("secret")
    embedded.stop(directory)
    embedded.ensure(directory)

    assert RedisBusErasure(server).purge_files()

    assert not holds(directory, b"plantedwords")


@pytest.mark.parametrize("command", ["bgrewriteaof", "info", "config"])
def test_a_server_that_does_not_allow_it_is_told_of(server: Any, command: str) -> None:
    server.execute_command("ACL", "SETUSER", "default", f"-{command}")
    try:
        assert not RedisBusErasure(server).purge_files()
    finally:
        server.execute_command("ACL", "SETUSER", "default", "+@all")


def test_a_server_that_cannot_write_its_file_is_told_of(directory: Path, server: Any) -> None:
    for folder in directory.rglob("appendonlydir"):
        folder.rename(folder.with_name("elsewhere"))
        folder.touch()

    assert not RedisBusErasure(server).purge_files()
