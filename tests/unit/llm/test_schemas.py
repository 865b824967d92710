"""Schemas as providers take them."""

from typing import Any

import orjson
import pytest
from builders.questions import is_strict

from nous.llm.messages import instruction
from nous.pipeline import anchored_summarizer as anchored
from nous.summary.llm import response


@pytest.mark.parametrize(
    "schema", [response.schema(), response.facts_schema(), anchored.schema()], ids=["episode", "facts", "anchored"]
)
def test_every_schema_that_a_model_is_asked_with_is_strict(schema: dict[str, Any]) -> None:
    assert schema["type"] == "object"
    assert is_strict(schema)


def test_in_words_it_is_the_schema_as_it_stands() -> None:
    assert instruction(response.schema()).endswith(orjson.dumps(response.schema()).decode())
