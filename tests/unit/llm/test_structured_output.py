"""Structured output: strict schemas, one repair request, then a typed failure."""

from typing import Any

import orjson
import pytest
from builders.llm_stores import fake_counters
from builders.questions import is_strict, question
from builders.scripted_model import ScriptedModel

from nous.llm.messages import instruction
from nous.llm.structured_output import AnswerUnusable, ask
from nous.pipeline import anchored_summarizer as anchored
from nous.summary.llm import response

NESTED = '{"title":"Tea","summary":"Tea.","key_points":' + "[[]," * 900 + "1" + "]" * 900 + "}"


@pytest.mark.parametrize(
    "schema", [response.schema(), response.facts_schema(), anchored.schema()], ids=["episode", "facts", "anchored"]
)
def test_every_schema_that_a_model_is_asked_with_is_strict(schema: dict[str, Any]) -> None:
    assert schema["type"] == "object"
    assert is_strict(schema)


def test_in_words_it_is_the_schema_as_it_stands() -> None:
    assert instruction(response.schema()).endswith(orjson.dumps(response.schema()).decode())


def test_an_answer_nested_by_siblings_is_unusable_and_crashes_nothing() -> None:
    model = ScriptedModel([NESTED, NESTED])

    with pytest.raises(AnswerUnusable, match="nested too deeply"):
        ask(model, question(), response.read, counters=fake_counters())

    assert "nested too deeply" in model.questions[1].earlier[0].complaint
