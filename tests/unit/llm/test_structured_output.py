"""Structured output: one repair request, then a typed failure."""

import pytest
from builders.llm_stores import fake_counters
from builders.questions import question
from builders.scripted_model import ScriptedModel

from nous.llm.structured_output import AnswerUnusable, ask
from nous.summary.llm.response import read

NESTED = '{"title":"Tea","summary":"Tea.","key_points":' + "[[]," * 900 + "1" + "]" * 900 + "}"


def test_an_answer_nested_by_siblings_is_unusable_and_crashes_nothing() -> None:
    model = ScriptedModel([NESTED, NESTED])

    with pytest.raises(AnswerUnusable, match="nested too deeply"):
        ask(model, question(), read, counters=fake_counters())

    assert "nested too deeply" in model.questions[1].earlier[0].complaint
