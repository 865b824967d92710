"""The summary as a whole: title, prose, lessons, topics, what is open; and its parts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nous.prose import fences, sentences, without_code
from nous.summary.extractive import summarize
from nous.summary.statements import is_courtesy, plain
from nous.summary.told import MOST_WORDS
from nous.transcript import read_transcript
from nous.transcript.model import Header, Transcript

Told = Callable[..., Transcript]

SAMPLES = Path(__file__).parents[2] / "nous" / "samples"
EDIT = ("tool_call", "Edit", {"tool": "Edit", "tool_input": {"file_path": "/repo/src/cache.py"}})
CAUSE = "The cache was missing entries because `load_all` never reads the last page."
SESSION: tuple[tuple[Any, ...], ...] = (
    ("user", "Hi! Can you please fix the cache so that pages are not lost? It is urgent."),
    ("assistant", "Let me look at the cache."),
    EDIT,
    (
        "assistant",
        f"{CAUSE}\n\n- Fixed `load_all` in the cache module.\n\nStill to do: the page size needs further work.",
    ),
    ("user", "now commit it"),
    ("tool_call", "", {"tool": "Bash", "tool_input": {"command": 'git commit -m "Read the last page"'}}),
    ("assistant", "Committed as `abc1234`."),
)


def test_a_title_is_what_was_asked_without_the_courtesies(told: Told) -> None:
    assert summarize(told(*SESSION)).summary.title == "Fix the cache so that pages are not lost"


def test_a_title_has_at_most_ten_words_and_ends_where_a_clause_ends(told: Told) -> None:
    wish = (
        "Please rename the flag in the settings file, because nobody understands what the present name is about at all."
    )

    assert summarize(told(("user", wish))).summary.title == "Rename the flag in the settings file"


def test_a_short_request_borrows_the_next_one(told: Told) -> None:
    assert summarize(told(("user", "run tests"), ("user", "Fix the failing ones"))).summary.title == (
        "Run tests and fix the failing ones"
    )


def test_a_title_that_the_session_has_is_kept(told: Told) -> None:
    assert (
        summarize(told(*SESSION, header=Header(title="Repair the page cache"))).summary.title == "Repair the page cache"
    )


def test_a_pasted_plan_is_told_by_its_heading(told: Told) -> None:
    plan = "Implement the following plan:\n\n# Plan: Invert the telemetry flag\n\n" + "- a step of it\n" * 200

    summary = summarize(told(("user", plan), EDIT)).summary

    assert summary.title == "Invert the telemetry flag"
    assert "“Implement the following plan: Plan: Invert the telemetry flag”" in summary.summary


def test_a_short_request_without_another_borrows_the_commit(told: Told) -> None:
    commit = ("tool_call", "", {"tool": "Bash", "tool_input": {"command": 'git commit -m "Read the last page"'}})

    assert summarize(told(("user", "fix tests"), commit)).summary.title == "Fix tests: Read the last page"


def test_a_heading_that_stands_over_any_document_is_no_title(told: Told) -> None:
    wish = "# What I want to achieve\n\nRename the flag in the settings file."

    assert summarize(told(("user", wish), EDIT)).summary.title == "Rename the flag in the settings file"


def test_the_prose_gives_way_where_it_would_be_too_long(told: Told) -> None:
    turns = [
        (
            ("user", f"Please rename the flag number {n} in the file flags_{n}.py of the package."),
            EDIT,
            (
                "assistant",
                f"Renamed the flag number {n}, because flags_{n}.py never had a name that anybody understood.",
            ),
        )
        for n in range(12)
    ]

    prose = summarize(told(*(entry for turn in turns for entry in turn))).summary.summary

    assert len(prose.split()) <= MOST_WORDS
    assert prose.startswith("The user asked: “Please rename the flag number 0")


def test_the_prose_tells_what_was_asked_and_what_came_of_it(told: Told) -> None:
    prose = summarize(told(*SESSION)).summary.summary

    assert (
        prose.startswith("The user asked: “Hi! Can you please fix")
        or "fix the cache so that pages are not lost?" in prose
    )
    assert "Then: “now commit it”" in prose
    assert "“Fixed `load_all` in the cache module” (turn 1)" in prose
    assert "Files written: cache.py." in prose
    assert "Commits: “Read the last page”." in prose


def test_key_points_are_lessons_and_not_events(told: Told) -> None:
    assert summarize(told(*SESSION)).summary.key_points == (CAUSE,)


def test_what_the_user_corrected_is_a_key_point(told: Told) -> None:
    rejected = ("decision", "Rejected Edit(/repo/src/cache.py): use the helper")

    points = summarize(told(*SESSION[:3], rejected, *SESSION[3:])).summary.key_points

    assert points == ("The user rejected Edit(cache.py): “use the helper”", CAUSE)


def test_what_is_left_to_do_is_an_open_thread(told: Told) -> None:
    summary = summarize(told(*SESSION[:4])).summary

    assert summary.open_threads == ("Still to do: the page size needs further work.",)


def test_topics_are_what_the_user_comes_back_to(told: Told) -> None:
    assert summarize(told(*SESSION)).summary.topics[:2] == ("cache", "page")


def test_a_topic_is_called_as_it_was_said_most(told: Told) -> None:
    said = [("user", "Does postgres keep pages in postgres?"), ("assistant", "Yes, postgres keeps each page.")]

    assert summarize(told(*said)).summary.topics[0] == "postgres"


def test_written_files_are_listed(told: Told) -> None:
    assert summarize(told(*SESSION)).files_touched == ("/repo/src/cache.py",)


def test_a_transcript_without_words_has_a_summary_too(told: Told) -> None:
    summary = summarize(told()).summary

    assert (summary.title, summary.outcome) == ("Session without words", "informational")


def test_the_bundled_sessions_teach_one_fact_each_on_average() -> None:
    kept = [path for path in SAMPLES.rglob("*") if path.suffix in {".json", ".jsonl", ".txt"}]

    extracted = [summarize(read_transcript(path)) for path in kept]

    assert sum(len(one.candidate_facts) for one in extracted) >= len(kept)
    assert all(fact.turns for one in extracted for fact in one.candidate_facts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks, that's all!", True),
        ("ok", True),
        ("Great, now finally do that to func TestCollect too", False),
        ("run the linter", False),
        ("Thanks?", False),
    ],
)
def test_courtesy_is_told_from_requests(text: str, expected: bool) -> None:  # noqa: FBT001  a parametrised value
    assert is_courtesy(text) is expected


def test_markup_is_taken_off_a_statement() -> None:
    assert plain("- **Fixed** [a.py](a.py)  in `x` ###STOP###") == "Fixed a.py in `x`"


def test_sentences_keep_abbreviations_numbering_and_code_together() -> None:
    text = "1. Use it, e.g. here. Then stop.\n```\na. b. c\n```\nDone."

    assert [text[start:end] for start, end in sentences(text)] == [
        "1. Use it, e.g. here.",
        "Then stop.",
        "```\na. b. c\n```",
        "Done.",
    ]


def test_an_unclosed_code_block_reaches_to_the_end() -> None:
    (block,) = fences("a ```b")

    assert (block.start, block.end, block.is_closed) == (2, 6, False)
    assert without_code("a ```b").strip() == "a"
