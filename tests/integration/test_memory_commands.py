"""One session's memory, whole; a folder of sessions; and the same from Python."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from builders.command_line import Nous
from builders.episodes import HOME, episode

from nous.app.container import Container
from nous.bus.base import Committed
from nous.cli.framework import BAD_INPUT
from nous.domain.effects import Effects, SaveEpisode
from nous.domain.episode import CandidateFact, Decision, episode_id
from nous.domain.fact import Source
from nous.pipeline.fact_learner import FactLearner

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
    assert "there is something in default/default/home" in missing.stderr
    assert missing.exit_code == BAD_INPUT


def test_a_folder_is_published_with_all_sessions_below_it(nous: Nous, tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    (tmp_path / "one.txt").write_text(CHAT)
    (tmp_path / "deeper" / "two.txt").write_text(CHAT)
    (tmp_path / "odd.bin").write_bytes(bytes(range(256)) * 99)

    published = nous("publish", tmp_path)

    assert published.exit_code == 0
    assert ("one.txt" in published.stdout, "deeper/two.txt" in published.stdout) == (True, True)
    assert "1 file in" in published.stderr
    assert "such as odd.bin" in published.stderr


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
