"""An anchored summary from a session's own words, and through many re-anchors."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from nous.domain.anchored_summary import AnchoredSummary
from nous.summary.anchored.heuristic import anchored_from
from nous.summary.anchored.retention import SearchableText, lines_of
from nous.transcript import read_transcript
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]

SAMPLES = Path(__file__).parents[3] / "nous" / "samples"
ALL = sorted(path for path in SAMPLES.rglob("*") if path.suffix in {".json", ".jsonl", ".txt"})
PLANTED = (
    "- The port of the gateway is 8443",
    "- Never delete rows of audit_log",
    "- Retry S3 uploads 7 times, because the bucket is in us-east-1",
    "- src/gateway/main.py",
)
EDIT = ("tool_call", "Edit", {"tool": "Edit", "tool_input": {"file_path": "/w/a.py"}, "call_id": "c1"})
TEST = ("tool_call", "Bash", {"tool": "Bash", "tool_input": {"command": "pytest -q"}, "call_id": "c2"})


def planted() -> AnchoredSummary:
    return AnchoredSummary.of({"intent": PLANTED[0], "decisions": "\n".join(PLANTED[1:3]), "files_touched": PLANTED[3]})


def test_the_sections_say_what_was_wanted_decided_touched_left_and_reached(told: Told) -> None:
    session = told(
        ("user", "Please make the import faster. Always run the linter before you commit."),
        EDIT,
        TEST,
        ("tool_result", "3 passed", {"call_id": "c2"}),
        ("assistant", "Changed `a.py` so that rows are read once. The import was slow because `read_rows` ran twice."),
        ("user", "yes, please proceed"),
        ("user", "Can you also mend the export?"),
        ("assistant", "Fixed the export in `a.py`. Which format do you prefer, CSV or JSON?"),
        header=replace(told().header, cwd="/w"),
    )

    summary = anchored_from(session)

    assert summary.content("intent") == (
        "- Please make the import faster. Always run the linter before you commit.\n- Can you also mend the export?"
    )
    assert summary.content("decisions").splitlines()[0] == "- Always run the linter before you commit."
    assert "because `read_rows` ran twice" in summary.content("decisions")
    assert summary.content("files_touched") == "- a.py"
    assert summary.content("pending_tasks") == "- Which format do you prefer, CSV or JSON?"
    assert "- Last test run: `pytest` passed." in summary.content("current_state")
    assert summary.iteration == 1


def test_a_secret_is_not_carried_on(told: Told) -> None:
    secret = "password is [secret:password:1a2b]"  # noqa: S105
    summary = anchored_from(told(("user", f"Please log in to the site. The {secret}."), ("assistant", "Logged in.")))

    assert summary.content("intent") == "- Please log in to the site."
    assert "[secret" not in summary.to_prompt_text()


def test_verdicts_of_the_user_are_decisions(told: Told) -> None:
    session = told(
        ("user", "Please mend it."),
        EDIT,
        ("decision", "Rejected Edit(/w/a.py): not there, in b.py", {"call_id": "c1"}),
        ("decision", 'Answered: "Which port?"="8443"'),
        ("decision", "Approved the plan: Move the port"),
        header=replace(told().header, cwd="/w/"),
    )

    assert anchored_from(session).content("decisions").splitlines() == [
        "- The user rejected Edit(a.py): not there, in b.py",
        '- The user answered: "Which port?"="8443"',
        "- The user approved the plan: Move the port",
    ]


def test_where_nothing_was_said_all_stays_but_the_iteration(told: Told) -> None:
    before = replace(planted(), iteration=4)

    assert anchored_from(told(), before) == replace(before, iteration=5)
    assert anchored_from(told()) == replace(AnchoredSummary.empty(), iteration=1)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_the_same_session_again_adds_nothing(path: Path) -> None:
    session = read_transcript(path)
    once = anchored_from(session)

    assert anchored_from(session, once) == replace(once, iteration=2)
    assert anchored_from(session) == once
    assert not once.is_empty


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_a_real_session_anchored_turn_by_turn_loses_nothing(path: Path) -> None:
    session = read_transcript(path)
    summary = AnchoredSummary.empty()
    for turn in session.turns:
        new = anchored_from(replace(session, entries=turn.entries), summary)
        text = SearchableText(section.content for section in new.sections)
        assert [line for one in summary.sections for line in lines_of(one.content) if not text.holds(line)] == []
        summary = new


def test_many_threads_get_the_same_summary() -> None:
    said = read_transcript(SAMPLES / "claude_code" / "geese.jsonl")

    with ThreadPoolExecutor(8) as threads:
        running = [threads.submit(anchored_from, said, planted()) for _ in range(40)]
        summaries = [each.result() for each in running]

    assert len(set(summaries)) == 1
