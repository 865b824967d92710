"""The answer in tags, case by case."""

import pytest

from nous.summary.llm.json_recovery import object_in, summary_in


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("<analysis>Thinking.</analysis>\n<summary>\n It works. \n</summary>\nBye", "It works.", id="both"),
        pytest.param("<analysis>1</analysis><summary>It works.</summary><analysis>2</analysis>", "It works.", id="two"),
        pytest.param("<analysis>1</analysis> It <analysis>2</analysis>works.", "It works.", id="analyses alone"),
        pytest.param("It works. <analysis>Thinking of what", "It works.", id="unclosed analysis"),
        pytest.param("<analysis>Thinking of the <summary>", "", id="two unclosed"),
        pytest.param("<analysis>Thinking. <summary>It works.</summary>", "It works.", id="unclosed before a summary"),
        pytest.param("<analysis>Hm.</analysis><summary> It works, and ", "It works, and", id="unclosed summary"),
        pytest.param("<Summary>It works.</SUMMARY>", "It works.", id="summary only"),
        pytest.param("  It works: a < b.\n", "It works: a < b.", id="no tags"),
        pytest.param("", "", id="empty"),
        pytest.param("<summary></summary>", "", id="empty tags"),
        pytest.param(" \n\t ", "", id="whitespace only"),
        pytest.param("<analysis> </analysis> <summary> \n </summary>", "", id="whitespace in tags"),
    ],
)
def test_an_answer_in_tags_is_read(text: str, said: str) -> None:
    assert summary_in(text) == said


@pytest.mark.parametrize("json", ['{"a": 1}', '```json\n{"a": 1}\n```'])
def test_json_in_tags_is_found(json: str) -> None:
    assert object_in(summary_in(f'<analysis>{{"a": 2, "b": 3}}</analysis><summary>{json}</summary>')) == {"a": 1}


@pytest.mark.parametrize(
    "piece", ["<analysis>", "<summary>", "</analysis>", "<analysis></analysis>", "<summary><analysis>"]
)
def test_a_mebibyte_of_tags_is_read_to_the_end(piece: str) -> None:
    """In steps that grow with the square of its length this would take hours."""
    assert "analysis" not in summary_in(piece * ((1 << 20) // len(piece))) or piece == "</analysis>"
