"""The turns that excerpts are scored with: what is missing or odd in them costs nothing but itself."""

from typing import Any

import pytest
from benchmarks.excerpt.gold import kept, kept_fast, kept_spec, transcript_of

from nous.transcript.model import Entry, Kind


def one(**turn: Any) -> Entry:
    """The only entry of a transcript of one *turn*."""
    (entry,) = transcript_of([turn]).entries
    return entry


def test_entries_are_named_by_place_and_turns_counted_by_what_the_user_says() -> None:
    turns = [{"role": role, "text": "x"} for role in ("event", "user", "assistant", "user", "tool_result")]

    entries = transcript_of(turns).entries

    assert [entry.id for entry in entries] == ["e0", "e1", "e2", "e3", "e4"]
    assert [entry.turn for entry in entries] == [0, 1, 1, 2, 2]
    assert entries[0].kind is Kind.SYSTEM


def test_a_call_has_its_input_and_the_files_that_it_names() -> None:
    call = one(role="tool_call", tool="Read", text='Read({"file_path": "/a/b.py"})', short="Read(/a/b.py)")

    assert (call.text, call.tool, call.tool_input) == ("Read(/a/b.py)", "Read", {"file_path": "/a/b.py"})
    assert call.paths == ("/a/b.py",)


def test_a_call_without_a_named_tool_is_called_as_its_text_says() -> None:
    assert one(role="tool_call", text='list_teams({"query": "x"})').tool == "list_teams"


def test_a_call_that_was_cut_is_shown_as_it_stands() -> None:
    call = one(role="tool_call", tool="Write", text='Write({"content": "abc', short=None, paths=["/a", "", 3])

    assert (call.text, call.tool, call.tool_input) == ('Write({"content": "abc', None, None)
    assert call.paths == ("/a",)


@pytest.mark.parametrize("key", ["error", "is_error"])
def test_a_result_failed_if_either_key_says_so(key: str) -> None:
    assert one(role="tool_result", text="exit 1", **{key: True}).is_error
    assert not one(role="tool_result", text="exit 1", **{key: None}).is_error


def test_what_the_user_rejected_is_told_with_the_reason() -> None:
    text = "The tool use was rejected. To tell you how to proceed, the user said:\nuse tabs"

    assert one(role="tool_result", text=text, tool="Edit", rejected=True).text == "Rejected Edit: use tabs"
    assert one(role="tool_result", text=text, rejected=True).text == "Rejected a call: use tabs"
    assert one(role="tool_result", text="Approved.", decision=True).kind is Kind.DECISION


def test_nobody_but_the_user_speaks_as_the_user() -> None:
    assert [one(role=role, text="x").kind for role in ("robot", None, "", 7)] == [Kind.ASSISTANT] * 4
    assert one(text="x").kind is Kind.ASSISTANT


ODD: list[Any] = [
    {},
    {"role": None, "text": None},
    {"role": "user"},
    {"role": "user", "text": ""},
    {"role": "user", "text": 42},
    {"role": "assistant", "text": ["a", "list"]},
    {"role": "tool_call", "tool": None, "short": "", "paths": None, "text": ""},
    {"role": "tool_call", "tool": 5, "short": 6, "paths": "/not/a/list", "text": "5([1, 2])"},
    {"role": "tool_result", "text": None, "error": "", "is_error": None},
    {"role": "tool_result", "decision": True, "rejected": True},
    {"role": "user", "text": "a lone \ud800 surrogate"},
    "no turn at all",
    None,
]


@pytest.mark.parametrize("keep", [kept, kept_fast, kept_spec])
@pytest.mark.parametrize("budget", [0, 20, 2000])
def test_odd_turns_are_read_and_keep_within_the_budget(keep: Any, budget: int) -> None:
    turns = [*ODD, {"role": "user", "text": "Rename the port."}, *({"role": "user", "text": "word " * 99} for _ in ODD)]

    assert len(keep(turns, budget)) <= budget
    assert "Rename the port." in keep([*ODD, {"role": "user", "text": "Rename the port."}], 2000)


def test_no_turns_make_an_empty_excerpt() -> None:
    assert kept([], 2000) == ""
