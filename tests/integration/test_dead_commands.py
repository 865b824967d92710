"""Dead letters at the command line: what is told of them, what is kept back, and what is done about them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders.command_line import Nous, on_terminal

from nous.app.container import Container
from nous.bus.base import DeadLetterKind, Priority
from nous.bus.delivery_state import AttemptFailure, AttemptOutcome

ALERTS = Path(__file__).parents[2] / "deploy" / "alerts.yaml"
GROUP = "episode-summarizer"
SAID = "I want to tell my boss that this is over"


@pytest.fixture
def letters(container: Container, ended: Any) -> list[str]:
    """The ids of three letters: two that are dead, for one reason, and one that is parked."""
    container.bus.publish(*(ended(f"s{number}", f"User: {SAID}") for number in range(3)))
    told = container.bus.receive(container.subscription(GROUP), priority=Priority.LIVE, limit=3, lease=60)
    for delivery, grave in zip(told, (DeadLetterKind.DEAD, DeadLetterKind.DEAD, DeadLetterKind.PARKED), strict=True):
        last = AttemptFailure(
            fate=AttemptOutcome.FAILED, attempt=1, text="Retryable: away", place="workers/toy.py:7 in f"
        )
        reason = "failed 5 times; Retryable: away" if grave is DeadLetterKind.DEAD else f"no such thing: '{SAID}'"
        trace = "  workers/toy.py:7 in f\n| redis/client.py:1 in a\n| rq/job.py:2 in b\n! Retryable: away"
        container.bus.dead_letter(
            delivery.ref, progress=delivery.state, reason=reason, grave=grave, attempt_failure=last, traceback=trace
        )
    return [letter.id for letter in container.dead_letters.letters()]


def in_flight(container: Container) -> int:
    return container.delivery_stats.counters(container.subscription(GROUP)).in_flight


def test_the_list_can_be_narrowed_and_says_what_it_leaves_out(nous: Nous, letters: list[str]) -> None:
    def ids(*filters: str) -> list[str]:
        return [letter["id"] for letter in json.loads(nous("dead-letters", "list", "--json", *filters).stdout)]

    assert ids() == letters
    assert ids("--dead") == ids("--reason", "RETRYABLE") == letters[:2]
    assert ids("--parked") == letters[2:]
    assert "2 more dead letters, newer than these, not shown" in nous("dead-letters", "list", "--limit", "1").stdout
    assert nous("dead-letters", "list", "--reason", "else").stdout == "no dead letter matches\n"


def test_a_letter_tells_all_there_is_but_for_what_was_said(nous: Nous, letters: list[str]) -> None:
    shown = nous("dead-letters", "show", letters[0]).stdout
    told = json.loads(nous("dead-letters", "show", letters[0], "--json").stdout)

    assert "workers/toy.py:7 in f  Retryable: away" in shown
    assert "... 2 frames in redis, rq" in shown
    assert "redis/client.py" not in shown
    assert "redis/client.py:1 in a" in str(told["traceback"])
    assert "session_ended" in shown
    assert told["history"][0]["fate"] == "failed"
    assert told["session_id"] == "s0"
    assert told["event"]["scope"] == "default/default/default"
    for output in (shown, json.dumps(told), nous("dead-letters", "show", letters[2]).stdout):
        assert "boss" not in output


def test_redriving_says_what_it_does_to_each(nous: Nous, container: Container, letters: list[str]) -> None:
    done = nous("dead-letters", "redrive", "--reason", "away")

    assert (done.exit_code, in_flight(container)) == (0, 2)
    assert [line.partition(" ")[0] for line in done.stdout.splitlines()] == letters[:2]
    assert "2 of 2 dead letters redriven" in done.stderr
    assert nous("dead-letters", "redrive", letters[0]).exit_code == 3


def test_a_letter_whose_event_is_gone_is_said_to_be_so_and_the_others_are_redriven(
    nous: Nous, container: Container, letters: list[str]
) -> None:
    client: Any = container.client
    client.xdel("nous:events:session_ended", container.dead_letters.find(letters[0]).entry)

    done = nous("dead-letters", "redrive", "--all")

    assert (done.exit_code, in_flight(container)) == (3, 2)
    assert "no longer in its stream" in done.stderr
    assert "its event is gone" in nous("dead-letters", "show", letters[0]).stdout


def test_nothing_is_dropped_without_a_yes(nous: Nous, container: Container, letters: list[str]) -> None:
    unasked = nous("dead-letters", "drop", letters[0])
    asked, declined = on_terminal("dead-letters", "drop", "--parked", answer="n\n")
    accepted, done = on_terminal("dead-letters", "drop", "--parked", answer="y\n")

    assert unasked.exit_code == 3
    assert "nothing was dropped: say --yes; " in unasked.stderr
    assert "ithout its dead letter an event can never be redriven" in " ".join(asked.split())
    assert "Drop 1 parked letter for good, so that its event is never tried again? [y/N]" in " ".join(asked.split())
    assert (declined, done) == (6, 0)
    assert "is dropped" in accepted
    assert [letter.id for letter in container.dead_letters.letters()] == letters[:2]
    assert nous("dead-letters", "drop", "--all", "--yes").exit_code == 0
    assert nous("status", "s0").stdout.count("its letter was dropped") == 1


@pytest.mark.parametrize("command", [("redrive",), ("drop", "--yes"), ("redrive", "1-1", "--all")])
def test_which_letters_are_meant_has_to_be_said(nous: Nous, letters: list[str], command: tuple[str, ...]) -> None:
    assert letters
    assert nous("dead-letters", *command).exit_code == 3


def test_the_rules_of_alarms_name_what_is_measured(nous: Nous, letters: list[str]) -> None:
    told = nous("metrics").stdout
    known = set(re.findall(r"^# TYPE (\w+)", told, re.MULTILINE))
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]

    assert f"nous_dead_letters {len(letters)}\n" in told
    assert f'nous_accounts_balance{{worker="{GROUP}"}} 0\n' in told
    assert "nous_lease_seconds 60\n" in told
    for rule in group["rules"]:
        assert {"alert", "expr", "labels", "annotations"} <= rule.keys()
        named = set(re.findall(r"\bnous_\w+", rule["expr"]))
        assert named
        assert named <= known
        assert all(f"{label}=" in told for label in re.findall(r"[{,](\w+)=", rule["expr"]))


def test_status_fails_and_names_the_account_and_the_cause(nous: Nous, container: Container, ended: Any) -> None:
    container.bus.publish(ended("s0"), ended("s1"))
    container.bus.receive(container.subscription(GROUP), priority=Priority.LIVE, limit=2, lease=60)
    client: Any = container.client
    client.hincrby("nous:account:episode-summarizer", "received", 2)
    client.hincrby("nous:account:fact-extractor", "received", -2)

    told = nous("status")

    assert told.exit_code == 1
    assert "the counters of episode-summarizer do not reconcile: 2 were received and are nowhere" in told.stdout
    assert "the counters of fact-extractor do not reconcile: 2 more are accounted for" in told.stdout
    assert json.loads(nous("status", "--json").stdout)["balance"] == 4
