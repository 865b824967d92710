"""The answer in tags, one test for each case."""

import pytest

from nous.summary.llm.json_recovery import object_in, summary_in


def test_both_closed() -> None:
    assert summary_in("<analysis>Thinking.</analysis>\n<summary>\n It works. \n</summary>\nBye") == "It works."


def test_several_analyses() -> None:
    text = "<analysis>One.</analysis><summary>It works.</summary><analysis>Two.</analysis>"

    assert summary_in(text) == "It works."
    assert summary_in("<analysis>One.</analysis> It <analysis>Two.</analysis>works.") == "It works."


def test_unclosed_analysis() -> None:
    assert summary_in("It works. <analysis>Thinking of what") == "It works."
    assert summary_in("<analysis>Thinking of the <summary>") == ""


def test_unclosed_analysis_before_a_whole_summary() -> None:
    assert summary_in("<analysis>Thinking. <summary>It works.</summary>") == "It works."


def test_unclosed_summary() -> None:
    assert summary_in("<analysis>Thinking.</analysis><summary> It works, and ") == "It works, and"


def test_summary_only() -> None:
    assert summary_in("<Summary>It works.</SUMMARY>") == "It works."


def test_no_tags() -> None:
    assert summary_in("  It works: a < b.\n") == "It works: a < b."


def test_empty() -> None:
    assert summary_in("") == ""
    assert summary_in("<summary></summary>") == ""


def test_whitespace_only() -> None:
    assert summary_in(" \n\t ") == ""
    assert summary_in("<analysis> </analysis> <summary> \n </summary>") == ""


@pytest.mark.parametrize("json", ['{"a": 1}', '```json\n{"a": 1}\n```'])
def test_json_in_tags_is_found(json: str) -> None:
    assert object_in(summary_in(f'<analysis>{{"a": 2, "b": 3}}</analysis><summary>{json}</summary>')) == {"a": 1}


@pytest.mark.parametrize(
    "piece", ["<analysis>", "<summary>", "</analysis>", "<analysis></analysis>", "<summary><analysis>"]
)
def test_a_mebibyte_of_tags_is_read_to_the_end(piece: str) -> None:
    """In steps that grow with the square of its length this would take hours."""
    assert "analysis" not in summary_in(piece * ((1 << 20) // len(piece))) or piece == "</analysis>"
