"""Schemas as providers take them."""

from typing import Any

import orjson
import pytest

from nous.llm.messages import instruction, strict

TEXT = {"type": "string"}


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_every_object_is_closed_and_has_all_of_its_properties() -> None:
    found = strict(object_of(outer=object_of(inner=TEXT), other=TEXT))

    assert found is not None
    assert found["required"] == ["outer", "other"]
    assert found["additionalProperties"] is False
    assert found["properties"]["outer"] == {
        "type": "object",
        "properties": {"inner": TEXT},
        "required": ["inner"],
        "additionalProperties": False,
    }


def test_keywords_that_only_narrow_a_value_are_left_out() -> None:
    narrow = {"type": "string", "minLength": 1, "maxLength": 9, "default": "x", "pattern": "x", "description": "a word"}

    assert strict(object_of(word=narrow)) == strict(object_of(word={"type": "string", "description": "a word"}))


def test_a_property_may_be_called_like_a_keyword() -> None:
    found = strict(object_of(default=TEXT, maxLength=TEXT, properties=TEXT))

    assert found is not None
    assert list(found["properties"]) == ["default", "maxLength", "properties"]


def test_objects_in_lists_choices_and_definitions_are_closed_as_well() -> None:
    fact = object_of(text=TEXT)
    closed = {**fact, "required": ["text"], "additionalProperties": False}
    found = strict(
        {
            **object_of(
                listed={"type": "array", "items": fact, "maxItems": 3},
                chosen={"anyOf": [fact, {"type": "null"}]},
                one={"oneOf": [fact], "discriminator": {"propertyName": "text"}},
                named={"$ref": "#/$defs/Fact", "description": "a fact"},
            ),
            "$defs": {"Fact": fact},
        }
    )

    assert found is not None
    assert found["properties"] == {
        "listed": {"type": "array", "items": closed},
        "chosen": {"anyOf": [closed, {"type": "null"}]},
        "one": {"anyOf": [closed]},
        "named": {"$ref": "#/$defs/Fact"},
    }
    assert found["$defs"] == {"Fact": closed}


@pytest.mark.parametrize(
    "loose",
    [
        {},
        True,
        {"type": "object"},
        {"type": "object", "additionalProperties": TEXT},
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True},
        {"type": "array"},
        {"type": "array", "prefixItems": [TEXT, TEXT]},
        {"allOf": [TEXT]},
    ],
)
def test_what_no_strict_schema_says_makes_none(loose: Any) -> None:
    assert strict(object_of(value=loose)) is None


@pytest.mark.parametrize("root", [TEXT, {"anyOf": [object_of(a=TEXT)]}, {"type": "array", "items": TEXT}])
def test_a_root_that_is_no_object_makes_none(root: dict[str, Any]) -> None:
    assert strict(root) is None


def test_the_schema_it_is_made_from_stays_as_it_was() -> None:
    schema = object_of(word={"type": "string", "default": "x"}, deep=object_of(a=TEXT))
    before = orjson.dumps(schema)
    strict(schema)

    assert orjson.dumps(schema) == before


def test_making_it_strict_twice_is_making_it_strict() -> None:
    once = strict(object_of(word={"type": "string", "default": "x"}, words={"type": "array", "items": TEXT}))

    assert once is not None
    assert strict(once) == once


def test_in_words_it_is_the_schema_as_it_stands() -> None:
    schema = object_of(word={"type": "string", "maxLength": 9})

    assert instruction(schema).endswith(orjson.dumps(schema).decode())
