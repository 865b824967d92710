"""The commands about models, decisions and anchored summaries, on a real server."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from builders.command_line import Nous
from builders.model_server import ModelServer

from nous.app import build, fleet
from nous.cli.framework import BAD_INPUT, MISCONFIGURED
from nous.settings.model import Settings

SESSION = (
    "User: Please always run service billing on port 9017, never on Fridays.\n\n"
    "Assistant: Done: service billing now listens on port 9017, and nothing is deployed on Fridays.\n\n"
    "User: Thanks, that is all I needed."
)
ANSWER = {
    "title": "Billing moves to port 9017 for good",
    "summary": "Billing was moved to port 9017.",
    "key_points": [],
    "outcome": "resolved",
    "outcome_rationale": "The user was content in turn 2.",
    "topics": ["billing"],
    "open_threads": [],
    "candidate_facts": [
        {
            "text": "Service billing always runs on port 9017.",
            "category": "rule",
            "subject": "billing",
            "confidence": 0.9,
            "turns": [1],
            "event_date": None,
        }
    ],
}


@pytest.fixture
def work(directory: Path, nous: Nous, wait_until: Any) -> Callable[..., None]:
    """Runs every worker until the published session is done with; `model` is the address of one, if there is one.

    Where there is more to be done, `until` says when it is.
    """

    def work(path: Path, *options: str, model: str | None = None, until: Callable[[], bool] = lambda: True) -> None:
        llm = {"background_model": "openai:m", "llm": {"base_url": model}} if model else {}
        settings = Settings.model_validate({"data_dir": directory, "embedder": "hashed", "log_level": "error", **llm})
        world = build(settings)
        crew = fleet(world, sorted(world.workers), open_quarantine=lambda _: None)
        crew.start()
        try:
            result = nous("publish", str(path), "--session", "s1", "--wait", *options)
            assert result.exit_code == 0, result.output
            wait_until(until, "what else there is to be done")
        finally:
            crew.stop()
            crew.wait()
            world.mind.close()

    return work


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.txt"
    path.write_text(SESSION)
    return path


def test_a_decision_is_noted_once_and_stands_with_its_episode(
    nous: Nous, work: Callable[..., None], session: Path
) -> None:
    first, again = (nous("decide", "s1", "Billing keeps Postgres", "--stakes", "high").stdout for _ in range(2))
    work(session)

    assert (first, again) == ("noted\n", "was noted before\n")
    [episode] = orjson.loads(nous("episodes", "--json").output)
    assert [decision["description"] for decision in episode["decisions"]] == ["Billing keeps Postgres"]
    assert "Billing keeps Postgres" in nous("facts").output


def test_a_session_that_compacts_has_an_anchored_summary(nous: Nous, work: Callable[..., None], session: Path) -> None:
    without = nous("anchored", "s1")
    assert without.exit_code == BAD_INPUT
    assert "nous publish PATH --session s1 --compacting" in without.output
    nous("decide", "s1", "Billing keeps Postgres")

    work(session, "--compacting")

    result = nous("anchored", "s1")
    assert "## Intent" in result.stdout
    assert "port 9017" in result.stdout
    assert "decided: Billing keeps Postgres\n" in result.stdout
    told = orjson.loads(nous("anchored", "s1", "--json").stdout)
    assert told["summary"]["iteration"] == 1
    assert [each["description"] for each in told["decisions"]] == ["Billing keeps Postgres"]


def test_a_decision_that_comes_after_the_episode_stands_with_the_next_one(
    nous: Nous, work: Callable[..., None], session: Path
) -> None:
    work(session)
    late = nous("decide", "s1", "Billing keeps Postgres")
    session.write_text(f"{SESSION}\n\nAssistant: You are welcome.")
    work(session)

    assert "s1 has an episode already" in late.stderr
    assert "decided: Billing keeps Postgres" in nous("episodes").output


def test_what_the_model_could_not_answer_it_is_asked_again_when_that_is_wanted(
    nous: Nous, work: Callable[..., None], session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["", ""])
    with ModelServer(answer=lambda _: next(answers, orjson.dumps(ANSWER).decode())) as server:
        work(session, model=server.openai_url)
        assert "extractive summary" in nous("episodes").output
        monkeypatch.setenv("NOUS_BACKGROUND_MODEL", "openai:m")
        monkeypatch.setenv("NOUS_LLM__BASE_URL", server.openai_url)

        assert "will be made anew" in nous("reprocess", "s1").output
        assert "1 episode is still to be made anew by the model" in nous("status").output
        work(session, model=server.openai_url, until=lambda: "summary by openai:m" in nous("episodes").output)

    calls = orjson.loads(nous("status", "--json").output)["model"]["calls"]["openai:m"]
    assert (calls["remembered"], calls["asked_again"]) == (0, 1)


def test_sessions_and_all_of_them_cannot_both_be_wanted(nous: Nous, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUS_BACKGROUND_MODEL", "ollama:any")

    both = nous("reprocess", "--all", "s1")

    assert both.exit_code == BAD_INPUT
    assert "choose one of the two" in both.output


def test_what_the_model_has_done_and_cost_is_shown(nous: Nous, work: Callable[..., None], session: Path) -> None:
    with ModelServer(answer=lambda _: orjson.dumps(ANSWER).decode()) as server:
        work(session, model=server.openai_url)

    assert "summary by openai:m with episode-2" in nous("episodes").output
    status = orjson.loads(nous("status", "--json").output)["model"]
    assert {name: status["calls"]["openai:m"][name] for name in ("calls", "answered", "transport")} == {
        "calls": 1,
        "answered": 1,
        "transport": 0,
    }
    metrics = nous("metrics").output
    assert 'nous_model_answers_total{model="openai:m",kind="answered"} 1\n' in metrics
    assert 'nous_events_total{worker="episode-summarizer",outcome="done"} 1\n' in metrics
    samples = [line for line in metrics.splitlines() if not line.startswith("#")]
    assert [line for line in samples if not re.fullmatch(r'nous_[a-z_]+(\{([a-z]+="[^"\n]*",?)+\})? \d+', line)] == []


def test_episodes_are_made_anew_only_by_a_model(nous: Nous, work: Callable[..., None], session: Path) -> None:
    work(session)

    without = nous("reprocess", "--all")

    assert without.exit_code == MISCONFIGURED
    assert "set background_model" in without.output


def test_what_would_be_made_anew_is_said_before(
    nous: Nous, work: Callable[..., None], session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(session)
    monkeypatch.setenv("NOUS_BACKGROUND_MODEL", "ollama:any")

    dry, unknown = nous("reprocess", "--all", "--dry-run"), nous("reprocess", "s2")

    assert re.search(r"s1 +extractive +would be made anew", dry.output)
    assert unknown.exit_code == BAD_INPUT
    assert "no episode of a session 's2'" in unknown.output


def test_a_model_that_cannot_be_asked_stops_workers_and_nobody_else(
    nous: Nous, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOUS_BACKGROUND_MODEL", "openai:gpt-5-mini")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    published, status, worker = nous("publish", str(session)), nous("status"), nous("worker", "--all")

    assert (published.exit_code, status.exit_code, worker.exit_code) == (0, 0, MISCONFIGURED)
    assert (
        "workers do not start: openai:gpt-5-mini needs a key; set NOUS_LLM__API_KEY or OPENAI_API_KEY" in status.output
    )
