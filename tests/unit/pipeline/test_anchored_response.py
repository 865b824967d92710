"""What a model is asked for an anchored summary, and how its answer is read."""

from typing import Any

import pytest

from nous.domain.anchored_summary import AnchoredSummary
from nous.domain.errors import BadInput
from nous.domain.summary_input import Segment
from nous.pipeline.anchored_summarizer import read_sections, schema, user_message
from nous.summary.llm.prompt import fenced

IDS = ["intent", "decisions", "files_touched", "pending_tasks", "current_state"]


def contents(**value: Any) -> dict[str, str]:
    return {section.id: section.content for section in read_sections(value) if section.content}


def test_every_section_is_asked_for_as_a_list() -> None:
    asked = schema()

    assert list(asked["properties"]) == asked["required"] == IDS
    assert all(asked["properties"][id_]["type"] == "array" for id_ in IDS)
    assert all(asked["properties"][id_]["items"] == {"type": "string"} for id_ in IDS)
    assert asked["additionalProperties"] is False


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"intent": ["Ship it", "by Friday"]}, {"intent": "- Ship it\n- by Friday"}),
        ({"files_touched": ["a.py", "- b.py", " "]}, {"files_touched": "- a.py\n- b.py"}),
        ({"intent": "Ship it. By Friday."}, {"intent": "Ship it. By Friday."}),
        ({"decisions": "Use Redis\nUse tabs"}, {"decisions": "- Use Redis\n- Use tabs"}),
        ({"current_state": ["Half done."]}, {"current_state": "Half done."}),
        ({"decisions": ["Use Redis\nso far", "Use tabs"]}, {"decisions": "- Use Redis\n  so far\n- Use tabs"}),
        ({"decisions": [8080, 1.5], "pending_tasks": None}, {"decisions": "- 8080\n- 1.5"}),
        ({"intent": "Ship\x00 it\ud800"}, {"intent": "Ship it"}),
        ({"intent": "x", "iteration": 3, "junk": {"a": 1}, "earlier": ["Begun"]}, {"intent": "x"}),
    ],
    ids=[
        "a list",
        "bullets",
        "a text of prose",
        "a text of bullets",
        "one text in a list",
        "further lines of an item",
        "numbers and nothing",
        "what cannot be written",
        "what is no section",
    ],
)
def test_a_section_is_read_as_what_it_is(value: dict[str, Any], said: dict[str, str]) -> None:
    assert contents(**value) == said


@pytest.mark.parametrize("value", [{}, {"summary": "It went well."}, {"intent": "", "decisions": [], "earlier": ["x"]}])
def test_an_answer_that_says_nothing_is_complained_of(value: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="says nothing in any of its sections; write intent, decisions"):
        read_sections(value)


def test_a_model_is_told_the_summary_so_far_and_what_is_new() -> None:
    previous = AnchoredSummary.of({"intent": "- Ship it"})
    news = [Segment("[User] Stop", "User", 3), Segment("[... 2 turns omitted ...]")]

    so_far = fenced([Segment("## Intent\n- Ship it")], name="notes")
    assert user_message(previous, news) == f"The summary so far:\n{so_far}\n\nNew since then:\n{fenced(news)}"
