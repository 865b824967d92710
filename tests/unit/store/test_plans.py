"""Writes as plans."""

from dataclasses import replace

import fakeredis
import pytest
from builders.episodes import HOME, NOON, episode
from builders.fact_rows import learned, unit

from nous.bus.redis.commit import CommitPlan
from nous.domain.effects import AppendFacts, ReleaseTranscript, SaveEpisode, SaveSessionState, Write
from nous.domain.fact import LogVersion
from nous.domain.session_state import Abandonment, SessionState
from nous.store.keys import StoreKeys
from nous.store.redis.plans import plan_for

KEYS = StoreKeys()
GIVEN_UP = SessionState(
    scope=HOME, session_id="s", by=episode().id, ended_at=NOON, given_up=Abandonment(NOON, "it is gone")
)


def append(count: int, expected: LogVersion | None = None) -> AppendFacts:
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
        append(2),
        append(3, LogVersion(n=2, chain="c", vectors=2)),
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
    commands = plan_for(append(9000), KEYS).commands

    assert max(len(command.arguments) for command in commands) <= 1000
    assert [len(command.arguments) for command in commands if command.command == "RPUSH"] == [1000] * 9
