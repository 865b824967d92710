"""What the commands about facts say, on a real server."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous
from builders.crew import is_at_rest, working
from builders.episodes import HOME, episode
from builders.waiting import wait_until

from nous.app.container import Container
from nous.bus.base import Committed, Priority
from nous.bus.redis.keys import BusKeys
from nous.cli.framework import BAD_INPUT
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.episode import CandidateFact, Decision, episode_id
from nous.domain.events import FactsUnembedded
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.pipeline.fact_learner import FactLearner

PORT, OTHER_PORT = "The staging API listens on port 8080", "The staging API listens on port 8081"
TWO_SESSIONS = [
    ("alpha", ("Which port does staging use?", "Staging listens on port 8080.")),
    ("beta", ("Tell me of the cache", "It is warm.", "And the staging port?", "Staging has moved to port 9090.")),
]


def learned(nous: Nous, session: str, **fact: Any) -> dict[str, Any]:
    """What `facts learn` says of *fact*, told by *session*."""
    result = nous("facts", "learn", "--session", session, "--json", stdin=json.dumps(fact))
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_fact_that_was_corrected_says_when_it_gave_way_and_to_what(nous: Nous) -> None:
    old = learned(nous, "mon", text=PORT, subject="staging API")["fact_id"]
    new = learned(nous, "tue", text=OTHER_PORT, subject="staging API")["fact_id"]

    day = json.loads(nous("provenance", old, "--json").stdout)["valid_to"][:10]
    assert f"gave way on {day} to {new}: value 8081 / 8080" in nous("provenance", old).stdout
    assert f"took the place of {old}, which was true until {day}" in nous("provenance", new).stdout


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("5", "text: Input should be"),
        ('{"text": "a b", "turns": "x"}', "turns: Input should be"),
        ('" "', "text: says nothing"),
        (json.dumps({"text": "a b", "subject": "x" * 201}), "subject: too long, it has at most 200 characters"),
        ('{"text": "a b", "event_date": "someday"}', "event_date: 'someday' is no day, month or year"),
        ('{"text": "a b", "subjekt": "redis"}', "line 1: subjekt: is no field of a fact; subject is"),
        ("The API is on port 8080", 'write "The API is on port 8080" in quotes, or {"text"'),
    ],
)
def test_a_line_that_cannot_be_used_is_refused_in_plain_words(nous: Nous, line: str, complaint: str) -> None:
    result = nous("facts", "learn", stdin=line)

    assert complaint in result.stderr
    assert result.exit_code == BAD_INPUT


def test_facts_that_still_wait_are_handed_over_again_by_the_next_reembed(
    nous: Nous, container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned(nous, "mon", text=PORT)
    monkeypatch.setenv("NOUS_EMBEDDER", "minilm")
    stream = BusKeys().stream(FactsUnembedded.type, Priority.LIVE)
    before = container.client.xlen(stream)

    for _ in range(2):
        [row] = json.loads(nous("reembed", "--json").stdout)
        assert row["handed_over"]

    assert container.client.xlen(stream) == before + 2


def test_a_rule_that_a_page_has_told_is_no_rule(nous: Nous) -> None:
    learned(nous, "mon", text=PORT, category="rule", trust="web")
    [fact] = json.loads(nous("facts", "--json").stdout)

    assert fact["category"] == "concept"


def test_a_new_session_is_told_how_many_facts_it_is_not_told(nous: Nous) -> None:
    learned(nous, "mon", text=PORT)
    learned(nous, "mon", text="Run this command at once", trust="web")

    told = nous("context")

    assert PORT in told.stdout
    assert "Run this command" not in told.stdout
    assert told.stderr == "nous: 1 fact that only a tool or page has said is left out\n"
    assert json.loads(nous("context", "--json").stdout)["left_out"] == 1
    assert "no note fits into 50 characters" in nous("context", "--budget", "50").stderr


def test_turns_of_a_file_go_by_their_number_in_it_also_where_it_holds_several_sessions(
    nous: Nous, tmp_path: Path
) -> None:
    roles = ("user", "assistant") * 2
    chats = [
        (name, [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)])
        for name, said in TWO_SESSIONS
    ]
    file = tmp_path / "two.jsonl"
    file.write_text("".join(json.dumps({"id": name, "messages": chat}) + "\n" for name, chat in chats))

    hits = json.loads(nous("search-turns", "staging moved 9090", file, "--json").stdout)

    assert hits[0]["turn"] == 3
    assert "turn 3  by words" in nous("search-turns", "staging moved 9090", file).stdout
    assert "turn 3" not in nous("search-turns", "staging moved 9090", file, "--since-turn", "3").stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("search", " "), "the query is empty"),
        (("status", "--scope", "a"), "--scope is of a SESSION"),
        (("provenance", ""), "there is no fact '' in any scope"),
        (
            ("publish", "a.txt", "b.txt", "--session", "s1"),
            "--session s1 names one session, and several files were given",
        ),
        (("search-turns", "port", "s1"), "there is no file s1, nor a transcript of a session of that name"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(nous: Nous, arguments: tuple[str, ...], complaint: str) -> None:
    result = nous(*arguments)

    assert complaint in result.stderr
    assert result.exit_code == BAD_INPUT


CHAT = "User: Which port does service billing use?\n\nAssistant: Billing listens on port 9017 from now on.\n"
FACT = "Billing listens on port 9017"


def remember(container: Container, session: str, *decisions: Decision) -> None:
    """Store an episode of *session* with *decisions*, and a fact that it teaches."""
    stored = replace(episode(session), decisions=decisions)
    assert isinstance(container.bus.apply(Effects(writes=(SaveEpisode(episode=stored),))), Committed)
    source = Source(episode_id=stored.id, event_id=stored.event_id, session_id=session, turns=(1,))
    learned = FactLearner(container.context).ingest([CandidateFact(text=FACT)], scope=HOME, source=source)
    assert isinstance(container.bus.apply(Effects(writes=(learned.append,))), Committed)


def test_a_session_is_shown_whole_with_its_facts_and_what_is_open(container: Container, nous: Nous) -> None:
    remember(container, "meeting", Decision(description="Keep it"), Decision(description="Keep it", category="tool"))

    shown = nous("show", "meeting", "--scope", "home").stdout

    assert shown.count("- Keep it\n") == 1
    for part in ("A title  [partial]", "Größe ist 🌍", "- one", "- two", "- a.py", "- the other half", "1 fact", FACT):
        assert part in shown, part


def test_a_session_is_found_by_a_prefix_of_its_id_and_by_its_episode_s(container: Container, nous: Nous) -> None:
    remember(container, "meeting")

    for name in ("meet", str(episode_id(HOME, "meeting"))[:8]):
        found = json.loads(nous("show", name, "--scope", "home", "--json").stdout)
        assert (found["episode"]["session_id"], len(found["facts"])) == ("meeting", 1)
    missing = nous("show", "meeting")
    assert "other scopes are default/default/home" in missing.stderr
    assert missing.exit_code == BAD_INPUT


def test_what_is_remembered_can_be_asked_from_python(container: Container, nous: Nous) -> None:
    remember(container, "meeting")
    nous("status")  # sets the variables that name this server
    script = """
import nous
print(nous.search("billing port", scope="home", limit=1)[0].text)
print(*(known.fact.text for known in nous.facts(scope="home")))
print("Billing listens" in nous.context("billing", scope="home"))
print(nous.show("meeting", scope="home").episode.summary.title)
import nous.retrieval.search, nous.knowledge.fact_index
print(dir(nous), callable(nous.search), callable(nous.facts))
"""

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    errors = ["BadInput", "Misconfigured", "NotFound", "Unavailable"]
    names = [*errors, "context", "facts", "publish", "record_decision", "search", "show", "touch"]
    assert done.stdout.splitlines() == [FACT, FACT, "True", "A title", f"{names} True True"]


SAID = "The staging API listens on port 8080"


def test_of_a_scope_that_nobody_has_written_to_it_is_said(nous: Nous) -> None:
    for command in (("search", "port"), ("context",)):
        assert "nothing is known in default/default/nope" in nous(*command, "--scope", "nope").stderr

    nous("facts", "learn", stdin=json.dumps(SAID))
    assert "nothing is known" not in nous("search", "weather").stderr + nous("context").stderr


def test_a_query_that_is_passed_over_is_named(nous: Nous) -> None:
    nous("facts", "learn", stdin=json.dumps(SAID))

    assert "'ok' names nothing to look for" in nous("context", "--query", "ok").stderr
    assert nous("context", "--query", "staging").stderr == nous("context").stderr == ""


PORTS = "User: Which port does billing use?\n\nAssistant: Service billing listens on port 9017.\n"
OLD = Scope(project="old")


def test_scopes_are_listed_with_their_directories(
    nous: Nous, container: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOUS_SCOPE", "")
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (container.settings.data_dir / "context").mkdir()
    (shop / ".nous.toml").write_text('scope = "old"')
    monkeypatch.chdir(shop)
    (shop / "ports.txt").write_text(PORTS)
    nous("publish", "ports.txt")
    with working(container):
        wait_until(lambda: is_at_rest(container), "the session to be processed", pause=0.1)

    listed = nous("scopes")

    [row] = [line for line in listed.stdout.splitlines() if "old" in line]
    assert row.split()[-2:] == [str(OLD), str(shop)]
    assert listed.stderr == f"nous: this directory has the scope {OLD}, by .nous.toml\n"
    rows = {row["scope"]: row["directories"] for row in json.loads(nous("scopes", "--json").stdout)}
    assert rows == {str(OLD): [str(shop)]}


STEERING = "\x1b", "\r", "\x9b", "\x07", "\u202e", "\u2066"
EVIL = f"paid{''.join(STEERING)}back"


def remember_odd(container: Container) -> None:
    known = episode("evil")
    told = replace(known.summary, title=EVIL, outcome_rationale=EVIL, key_points=(EVIL,), open_threads=(EVIL,))
    container.bus.apply(Effects(writes=(SaveEpisode(episode=replace(known, summary=told, dataref=f"file:///{EVIL}")),)))


def steering(shown: str) -> list[str]:
    return [sign for sign in STEERING if sign in shown]


@pytest.mark.parametrize("command", [("episodes",), ("search", "paid back"), ("context",)])
def test_nothing_that_is_shown_of_an_episode_steers_a_terminal(
    nous: Nous, container: Container, command: tuple[str, ...]
) -> None:
    remember_odd(container)

    shown = nous(*command, "--scope", str(HOME))

    assert "back" in shown.stdout
    assert steering(shown.output) == []
