"""Rows and vectors as they stand in the store, and what is appended to a log."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import fakeredis
import numpy as np
import orjson
import pytest
from builders.episodes import episode
from builders.fact_rows import HOME, NOON, Named, Vector, append, clustered, fact_id, learn, learned, superseded, unit
from builders.stores import WholeStore
from hypothesis import assume, given
from hypothesis import strategies as st
from structlog.testing import capture_logs
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.bus.base import Priority
from nous.bus.redis.commit import CommitPlan
from nous.bus.redis.keys import BusKeys
from nous.domain.effects import AppendFacts, ReleaseTranscript, SaveEpisode, SaveSessionState, Write
from nous.domain.episode import episode_id
from nous.domain.errors import Misconfigured
from nous.domain.event_codec import LARGEST
from nous.domain.events import DecisionRecorded
from nous.domain.fact import Embedded, Linked, LogVersion, Row
from nous.domain.scope import Scope
from nous.domain.session_state import Abandonment, SessionState
from nous.knowledge.fact_index import FactIndex
from nous.store.fact_cache import FactCache
from nous.store.fact_rows import (
    LONGEST_RUN,
    VECTORS_PER_BLOCK,
    Continuation,
    LogEntry,
    Slot,
    VectorSlot,
    continuation,
    runs,
)
from nous.store.keys import StoreKeys
from nous.store.redis import decisions
from nous.store.redis.decisions import RedisDecisions
from nous.store.redis.plans import plan_for


def linked(similarity: float | None = None) -> Linked:
    return Linked(fact_id=fact_id("one"), other=fact_id("other"), reason="a  number", at=NOON, similarity=similarity)


def appended(*rows: Row, expected: LogVersion | None = None, vectors: tuple[str, ...] = ()) -> Continuation:
    by_id = {fact_id(text): unit(1) for text in vectors}
    return continuation(AppendFacts(scope=HOME, expected=expected or LogVersion(), rows=rows, vectors=by_id))


@pytest.mark.parametrize("slot", [None, Slot(index=4097, dim=384)])
def test_an_entry_is_read_as_it_was_written(slot: Slot | None) -> None:
    entry = LogEntry.after("0" * 32, linked(0.5), slot)

    assert LogEntry.decode(entry.encode()) == entry
    assert entry.row == linked(0.5)


def test_a_similarity_may_come_from_numpy() -> None:
    entry = LogEntry.after("", linked(np.float32(0.5)), None)  # pyright: ignore[reportArgumentType] (what callers do)

    assert entry.row == linked(0.5)


@pytest.mark.parametrize("raw", [b"", b"junk", b"a b c d", b"a b 1x {}", b"\xff linked - {}"])
def test_what_is_no_entry_is_named_so(raw: bytes) -> None:
    with pytest.raises(Misconfigured, match="not one of its rows"):
        LogEntry.decode(raw)


def test_a_row_of_a_newer_release_is_not_passed_over() -> None:
    entry = LogEntry.decode(b"chain forgotten - {}")

    with pytest.raises(Misconfigured, match="'forgotten': it needs a newer release"):
        _ = entry.row


def test_what_a_newer_release_added_to_a_row_is_ignored() -> None:
    entry = LogEntry.after("", linked(), None)
    richer = LogEntry.decode(entry.encode().replace(b"{", b'{"certainty":1,', 1))

    assert richer.row == linked()


def test_vectors_continue_behind_those_of_the_log() -> None:
    rows = (learned("a"), learned("b", embedded_by=None), learned("c"))

    added = appended(*rows, vectors=("a", "c"), expected=LogVersion(n=10, chain="c", epoch=2, vectors=7))

    assert [place.slot.index for place, _ in added.vectors] == [7, 8]
    assert (added.version.n, added.version.epoch, added.version.vectors) == (13, 2, 9)


def test_the_chain_depends_on_everything_before() -> None:
    rows = (learned("a", embedded_by=None), learned("b", embedded_by=None))
    versions = (appended(*rows), appended(*reversed(rows)), appended(*rows, expected=LogVersion(chain="another")))

    assert len({each.version.chain for each in versions}) == 3


places = st.builds(
    VectorSlot, st.sampled_from(["a", "b"]), st.builds(Slot, st.integers(4090, 4105), st.sampled_from([2, 3]))
)


@given(st.lists(places))
def test_runs_hold_every_place_in_order_and_side_by_side(wanted: list[VectorSlot]) -> None:
    found = list(runs(wanted))

    assert [place for run in found for place in run] == wanted
    for run in found:
        assert [place.offset for place in run] == [run[0].offset + i * run[0].size for i in range(len(run))]
        assert len({(place.embedder, place.slot.dim, place.block) for place in run}) == 1


def test_a_block_takes_few_commands() -> None:
    block = [VectorSlot("m", Slot(index, 384)) for index in range(VECTORS_PER_BLOCK)]

    assert [len(run) for run in runs(block)] == [LONGEST_RUN] * 4


KEYS = StoreKeys()
GIVEN_UP = SessionState(
    scope=HOME, session_id="s", by=episode().id, ended_at=NOON, given_up=Abandonment(NOON, "it is gone")
)


def numbered(count: int, expected: LogVersion | None = None) -> AppendFacts:
    rows = tuple(learned(str(number)) for number in range(count))
    vectors = {row.fact.id: unit(1) for row in rows}
    return AppendFacts(scope=HOME, expected=expected or LogVersion(), rows=rows, vectors=vectors)


def run(client: fakeredis.FakeRedis, plan: CommitPlan) -> None:
    for command in plan.commands:
        client.execute_command(command.command, command.key, *command.arguments)


def content(client: fakeredis.FakeRedis) -> dict[bytes | str, object]:
    return {key: client.dump(key) for key in client.scan_iter()}


@pytest.mark.parametrize(
    "write",
    [
        SaveEpisode(episode=episode(), replaces=replace(episode(), version="v0")),
        numbered(2),
        numbered(3, LogVersion(n=2, chain="c", vectors=2)),
        ReleaseTranscript(scope=HOME, dataref="redis:x"),
        SaveSessionState(session_state=GIVEN_UP, replaces=GIVEN_UP),
    ],
)
def test_commands_may_be_run_again_after_breaking_off_anywhere(write: Write) -> None:
    plan = plan_for(write, KEYS)
    once = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
    again = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
    for client in (once, again):
        client.rpush(KEYS.fact_rows(HOME), "row 1", "row 2")
    for length in range(len(plan.commands) + 1):
        run(again, CommitPlan(commands=plan.commands[:length]))

    run(once, plan)
    run(again, plan)

    assert content(again) == content(once) != {}


def test_no_command_has_more_arguments_than_a_script_can_unpack() -> None:
    commands = plan_for(numbered(9000), KEYS).commands

    assert max(len(command.arguments) for command in commands) <= 1000
    assert [len(command.arguments) for command in commands if command.command == "RPUSH"] == [1000] * 9


TEA, RUM, FAR = unit(1, 0), unit(1, 0.1), unit(0, 0, 1)


@pytest.fixture
def store() -> WholeStore:
    return WholeStore()


def near(store: WholeStore, vector: Vector, process: FactCache | None = None) -> list[str]:
    """Return what a process finds, a new one where none is given."""
    with (process or FactCache()).current(store, HOME, Named()) as knowledge:
        return [found.statement.text for found in knowledge.near(vector, 0.5)]


def test_what_is_current_again_is_near_again(store: WholeStore) -> None:
    process, gone = FactCache(), superseded("tea", by="rum")
    learn(store, {"tea": TEA, "rum": RUM})
    append(store, gone)
    assert near(store, TEA, process) == ["rum"]

    append(store, replace(gone, is_undone=True))

    assert near(store, TEA, process) == near(store, TEA) == ["tea", "rum"]
    append(store, gone)
    assert near(store, TEA, process) == near(store, TEA) == ["rum"]


def test_a_vector_that_comes_later_is_near_from_then_on(store: WholeStore) -> None:
    process, row = FactCache(), learned("tea", embedded_by=None)
    append(store, row)
    with process.current(store, HOME, Named()) as knowledge:
        assert [known.fact.text for known in knowledge.without_vector()] == ["tea"]

    append(store, Embedded(fact_id=row.fact.id, embedded_by="m"), vectors={"tea": TEA})

    assert near(store, TEA, process) == ["tea"]
    with FactCache().current(store, HOME, Named()) as knowledge:
        assert list(knowledge.without_vector()) == []


def test_a_branch_finds_what_it_has_learned_itself_too(store: WholeStore) -> None:
    learn(store, {"tea": TEA})

    with FactCache().current(store, HOME, Named()) as knowledge:
        branch, row = knowledge.fork(), learned("rum")
        branch.extend([row], {row.fact.id: RUM})

        assert [near.statement.text for near in branch.near(TEA, 0.5)] == ["tea", "rum"]


@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["learn", "supersede"])), max_size=60), st.floats(0.1, 0.99)
)
def test_what_the_exact_index_proposes_and_the_fold_lets_pass_is_all_that_is_near(
    steps: list[tuple[int, str]], floor: float
) -> None:
    vectors = clustered(41, dim=8, per_cluster=8)
    assume(np.abs(vectors @ vectors[:5].T - floor).min() > 1e-5)  # sums in another order may differ
    knowledge = FactIndex(embedder_id="m", dim=8)
    for number, step in steps:
        row = learned(f"fact {number}")
        if step == "learn" and knowledge.get(row.fact.id) is None:
            knowledge.extend([row], {row.fact.id: vectors[number]})
        elif step == "supersede":
            knowledge.extend([superseded(row.fact.text, by="fact 0")], {})

    for asked in vectors[:5]:
        expected = {
            known.fact.id for known in knowledge.current() if vectors[int(known.fact.text.split()[1])] @ asked >= floor
        }
        assert {near.fact_id for near in knowledge.near(asked, floor)} == expected


STORE_KEYS = BusKeys("t")
STREAM = STORE_KEYS.stream(DecisionRecorded.type, Priority.LIVE)
MEGABYTE = 1 << 20


class Measured(fakeredis.FakeRedis):
    """Notes how many bytes each reply has that holds entries."""

    replies: list[int]

    @override
    def xrange(self, *given: Any, **named: Any) -> Any:
        found: Any = super().xrange(*given, **named)
        self.replies.append(sum(len(value) for _, fields in found for value in fields.values()))
        return found


@pytest.fixture
def client() -> Iterator[Measured]:
    Measured.replies = []
    with Measured(server=fakeredis.FakeServer(), protocol=2) as client:
        yield client


def decided(description: str) -> bytes:
    data = {"session_id": "s1", "description": description}
    return orjson.dumps({"data": data})


def found(client: Measured) -> list[str]:
    source = RedisDecisions(client, StoreKeys("t"), bus_keys=STORE_KEYS, group="decision-keeper")
    return [each.description for each in source.get_episode_decisions(episode_id(Scope(), "s1"), scope=Scope())]


def test_a_decision_behind_what_is_large_is_found_without_reading_all_of_it_at_once(client: Measured) -> None:
    for _ in range(40):
        client.xadd(STREAM, {"event": b"x" * MEGABYTE})
    client.xadd(STREAM, {"event": decided("we take Redis")})

    assert found(client) == ["we take Redis"]
    assert max(client.replies) <= LARGEST


def test_behind_too_many_that_wait_the_others_are_not_seen_and_that_is_said(
    client: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "MOST_WAITING", 3)
    for number in range(3):
        client.xadd(STREAM, {"event": decided(f"decision {number}")})
    with capture_logs() as said:
        assert len(found(client)) == 3
        assert said == []
        client.xadd(STREAM, {"event": decided("one more")})
        assert len(found(client)) == 3

    assert [each["event"] for each in said] == ["decisions.backlog_truncated"]
