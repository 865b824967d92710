"""The JSON object in what a model wrote."""

from contextlib import suppress
from typing import Any

import pytest

from nous.domain.errors import BadInput
from nous.summary.llm.json_recovery import object_in, summary_in

FENCE = "```"
LONG = 4 << 20


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a": 1}', {"a": 1}, id="bare"),
        pytest.param(f'{FENCE}json\n{{"a": 1}}\n{FENCE}', {"a": 1}, id="fenced"),
        pytest.param('Sure, "here {it} is: {"a": 1} - anything else?', {"a": 1}, id="prose around"),
        pytest.param('Use {" to open. {"a": 1}', {"a": 1}, id="a brace and a quote before"),
        pytest.param('{"a": [1, 2,], "b": {"c": 3,},}', {"a": [1, 2], "b": {"c": 3}}, id="trailing commas"),
        pytest.param(r'{"a": "}{\" ```", "b": "]"}', {"a": '}{" ```', "b": "]"}, id="braces in strings"),
        pytest.param('{"a": 1}\nor rather\n{"a": 2, "b": 3}\n{"c": 4}', {"a": 2, "b": 3}, id="several"),
        pytest.param('<think>Say {"a": so} or</think>{"a": 1}', {"a": 1}, id="reasoning before"),
        pytest.param('{"a": <number>, "b": 2}\n\n{"a": 1}', {"a": 1}, id="a broken draft before"),
        pytest.param('{"a": 1, "b": 2} and not {"a": 1', {"a": 1, "b": 2}, id="a broken one behind"),
        pytest.param('\ufeff{"a": 1}', {"a": 1}, id="byte order mark"),
        pytest.param('{"a": "two\nlines"}', {"a": "two\nlines"}, id="a line break in a string"),
    ],
)
def test_an_object_is_found_whatever_stands_around_it(text: str, value: dict[str, Any]) -> None:
    assert object_in(text) == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            f'{{"a": {"1" * 5000}}}',
            "The JSON is nested too deeply, or has a number of too many digits; write a plain object.",
        ),
        ('{"a": [\n  {"b": 1},\n  {"b": 2', "The JSON object never closes; write the whole object, more briefly."),
        ('[{"a": 1}]', "The answer is a JSON array; write one JSON object."),
        (f"{FENCE}json\n[1, 2]\n{FENCE}", "The answer holds no JSON object; write one."),
        ('"a"', "The answer holds no JSON object; write one."),
        (f"{FENCE}\nnull\n{FENCE}", "The answer holds no JSON object; write one."),
        ("", "The answer holds no JSON object; write one."),
        ("I can't do that.", "The answer holds no JSON object; write one."),
        ('{"a": {"b": 1}, "c": "d', "The JSON object never closes; write the whole object, more briefly."),
        ('{"a": 1} {"b": {"c": 1}, "d": [', "The JSON object never closes; write the whole object, more briefly."),
    ],
)
def test_what_is_no_object_is_said_in_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(BadInput) as raised:
        object_in(text)

    assert str(raised.value) == complaint


@pytest.mark.parametrize("text", ['{"a": 1 "secret": {"b": 2}}', '{"secret": 1.2.3}', r'{"secret": "\d"}', '{"a": s}'])
def test_a_complaint_says_where_it_is_wrong_and_quotes_nothing(text: str) -> None:
    with pytest.raises(BadInput, match="not valid at character") as raised:
        object_in(text)

    assert "secret" not in str(raised.value)


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(BadInput, match="nested"):
        object_in('{"a":' * 100_000 + "1" + "}" * 100_000)


@pytest.mark.parametrize("piece", ["{", "}", "{}", '{"', "[{", '[{"', "{ ", '{"":', '{"":0}', '{"a":"\\', "[ ", " "])
def test_four_mebibytes_of_braces_are_read_to_the_end(piece: str) -> None:
    """In steps that grow with the square of its length this would take hours."""
    with suppress(BadInput):
        object_in(piece * (LONG // len(piece)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("<analysis>Thinking.</analysis>\n<summary>\n It works. \n</summary>\nBye", "It works.", id="both"),
        pytest.param("<analysis>1</analysis> It <analysis>2</analysis>works.", "It works.", id="analyses alone"),
        pytest.param("It works. <analysis>Thinking of what", "It works.", id="unclosed analysis"),
        pytest.param("<analysis>Hm.</analysis><summary> It works, and ", "It works, and", id="unclosed summary"),
        pytest.param("<Summary>It works.</SUMMARY>", "It works.", id="summary only"),
        pytest.param("  It works: a < b.\n", "It works: a < b.", id="no tags"),
        pytest.param("<analysis> </analysis> <summary> \n </summary>", "", id="whitespace in tags"),
    ],
)
def test_an_answer_in_tags_is_read(text: str, said: str) -> None:
    assert summary_in(text) == said
