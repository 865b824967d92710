"""Writes as plans."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid5

import fakeredis
import numpy as np
import pytest

from nous.bus.redis.commit import CommitPlan
from nous.domain.effects import AppendFacts, ReleaseTranscript, SaveEpisode, SaveSessionState, Write
from nous.domain.episode import Category, Episode, Outcome, Summary, Tier
from nous.domain.events import NAMESPACE
from nous.domain.fact import Fact, Learned, LogVersion, Source
from nous.domain.scope import Scope
from nous.domain.session_state import Abandonment, SessionState
from nous.store.keys import StoreKeys
from nous.store.redis.plans import plan_for

KEYS = StoreKeys()
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ID = uuid5(NAMESPACE, "episode")


def save() -> SaveEpisode:
    summary = Summary(
        title="t", summary="s", key_points=(), outcome=Outcome.RESOLVED, outcome_rationale="done", topics=()
    )
    episode = Episode(
        id=ID,
        scope=Scope(),
        session_id="s",
        agent_id="a",
        version="v1",
        summary=summary,
        candidate_facts=(),
        tier=Tier.LLM,
        event_id=ID,
        ended_at=NOON,
        format="qbit",
        entries=1,
        bytes=1,
        excerpt_digest="",
        excerpt_chars=0,
        excerpt_dropped=0,
    )
    return SaveEpisode(episode=episode, replaces=replace(episode, version="v0"))


def note() -> SaveSessionState:
    session_state = SessionState(
        scope=Scope(), session_id="s", by=ID, ended_at=NOON, given_up=Abandonment(NOON, "gone")
    )
    return SaveSessionState(session_state=session_state, replaces=session_state)


def append(count: int, expected: LogVersion | None = None) -> AppendFacts:
    source = Source(episode_id=ID, event_id=ID, session_id="s", turns=(1,))
    facts = [
        Fact(
            id=uuid5(ID, str(number)),
            scope=Scope(),
            text=str(number),
            category=Category.TOOL,
            subject="",
            confidence=1.0,
            source=source,
            learned_at=NOON,
        )
        for number in range(count)
    ]
    rows = tuple(Learned(fact=fact, reason="new", embedded_by="m") for fact in facts)
    vectors = {fact.id: np.ones(3, dtype=np.float32) for fact in facts}
    return AppendFacts(scope=Scope(), expected=expected or LogVersion(), rows=rows, vectors=vectors)


def run(client: fakeredis.FakeRedis, plan: CommitPlan) -> None:
    for command in plan.commands:
        client.execute_command(command.command, command.key, *command.arguments)


def content(client: fakeredis.FakeRedis) -> dict[bytes | str, object]:
    return {key: client.dump(key) for key in client.scan_iter()}


@pytest.mark.parametrize(
    "write",
    [
        save(),
        append(2),
        append(3, LogVersion(n=2, chain="c", vectors=2)),
        ReleaseTranscript(scope=Scope(), dataref="redis:x"),
        note(),
    ],
)
def test_commands_may_be_run_again_after_breaking_off_anywhere(write: Write) -> None:
    plan = plan_for(write, KEYS)
    once = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
    again = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2)
    for client in (once, again):
        client.rpush(KEYS.fact_rows(Scope()), "row 1", "row 2")
    for length in range(len(plan.commands) + 1):
        run(again, CommitPlan(commands=plan.commands[:length]))

    run(once, plan)
    run(again, plan)

    assert content(again) == content(once) != {}


def test_no_command_has_more_arguments_than_a_script_can_unpack() -> None:
    commands = plan_for(append(9000), KEYS).commands

    assert max(len(command.arguments) for command in commands) <= 1000
    assert [len(command.arguments) for command in commands if command.command == "RPUSH"] == [1000] * 9
