"""A model's answer: what is repaired, and what is told to the model."""

import json
from typing import Any

import pytest

from nous.domain.episode import CandidateFact, Category, Lesson, Outcome, Quote
from nous.domain.errors import BadInput
from nous.summary.llm.response import (
    LONGEST_FACT,
    LONGEST_POINT,
    LONGEST_SUMMARY,
    LONGEST_TITLE,
    ModelSummary,
    read,
    schema,
)

WHOLE: dict[str, Any] = {
    "title": "Reading dates",
    "summary": "Dates were read.",
    "key_points": ["Dates have a zone."],
    "outcome_rationale": "The tests pass.",
    "outcome": "resolved",
    "topics": ["dates"],
    "open_threads": ["Leap seconds"],
    "candidate_facts": [
        {
            "quotes": [{"turn": 2, "quote": "in UTC"}, {"turn": 1, "quote": "all dates"}],
            "text": "Dates are in UTC.",
            "category": "technical",
            "subject": "dates",
            "confidence": 0.9,
            "event_date": None,
        }
    ],
}


def answer(**changes: Any) -> ModelSummary:
    return read(json.dumps({**WHOLE, **changes}))


def fact(**changes: Any) -> CandidateFact:
    return answer(candidate_facts=[{**WHOLE["candidate_facts"][0], **changes}]).facts[0]


def test_a_proper_answer_is_taken_as_it_is() -> None:
    summary, facts, has_facts = answer()

    assert has_facts
    assert summary.title == "Reading dates"
    assert summary.key_points == ("Dates have a zone.",)
    assert summary.outcome is Outcome.RESOLVED
    assert summary.open_threads == ("Leap seconds",)
    assert facts == (
        CandidateFact(
            text="Dates are in UTC.",
            subject="dates",
            confidence=0.9,
            turns=(1, 2),
            quotes=(Quote(2, "in UTC"), Quote(1, "all dates")),
        ),
    )


def test_the_schema_requires_every_field_and_allows_no_other() -> None:
    whole = schema()
    fact_schema, quote_schema = whole["$defs"]["FactAnswer"], whole["$defs"]["QuoteAnswer"]
    fact = WHOLE["candidate_facts"][0]

    for each, names in ((whole, WHOLE), (fact_schema, fact), (quote_schema, fact["quotes"][0])):
        assert each["required"] == list(names) == list(each["properties"])
        assert each["additionalProperties"] is False
        assert all("title" not in field for field in each["properties"].values())
    assert whole["properties"]["outcome"]["enum"] == [*Outcome]
    assert fact_schema["properties"]["category"]["enum"] == [*Category]


@pytest.mark.parametrize(
    ("value", "points"),
    [
        ("One thing.", ("One thing.",)),
        ("- One\n* Two\n\n3. Three", ("One", "Two", "Three")),
        ('["One", "Two"]', ("One", "Two")),
        (["One", {"text": "Two"}, None, " ", 3], ("One", "Two", "3")),
        ({"first": "One", "second": "Two"}, ("One", "Two")),
        (None, ()),
        ("None.", ()),
        (["N/A"], ()),
    ],
)
def test_a_list_is_made_of_whatever_was_given_and_never_of_characters(value: Any, points: tuple[str, ...]) -> None:
    read_answer = answer(key_points=value, topics="dates")

    assert read_answer.summary.key_points == points
    assert read_answer.summary.topics == ("dates",)


def test_a_point_gives_its_turns_at_its_end_or_in_an_object() -> None:
    summary = answer(key_points=["One (turns 2, 5)", {"text": "Two", "turns": [1]}, "Three (turn of events)"]).summary

    assert summary.lessons == (Lesson("One", (2, 5)), Lesson("Two", (1,)), Lesson("Three (turn of events)"))


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ("Resolved.", Outcome.RESOLVED),
        ("**SUCCESS**", Outcome.RESOLVED),
        ("in_progress", Outcome.PARTIAL),
        ("not resolved", Outcome.UNRESOLVED),
        ("Outcome.INFORMATIONAL", Outcome.INFORMATIONAL),
        ({"value": "answered"}, Outcome.INFORMATIONAL),
    ],
)
def test_an_outcome_is_read_in_other_letters_and_by_its_synonyms(value: Any, outcome: Outcome) -> None:
    assert answer(outcome=value).summary.outcome is outcome


@pytest.mark.parametrize("value", ["splendid", "", None, 3, "resolved | partial", "resolved or not"])
def test_another_outcome_is_a_complaint_and_partial_the_second_time(value: Any) -> None:
    text = json.dumps({**WHOLE, "outcome": value})

    with pytest.raises(BadInput) as raised:
        read(text)
    coerced = read(text, coerce=True)

    assert str(raised.value) == "The outcome has to be one of resolved, partial, unresolved, informational."
    assert coerced.summary.outcome is Outcome.PARTIAL
    assert coerced.summary.outcome_rationale.startswith("The tests pass. (The model named no outcome")


@pytest.mark.parametrize("coerce", [False, True])
@pytest.mark.parametrize("name", ["title", "summary"])
@pytest.mark.parametrize("value", [None, "", " \n", "\x00", [], {}])
def test_no_title_or_summary_is_always_a_complaint(name: str, value: Any, *, coerce: bool) -> None:
    with pytest.raises(BadInput, match=rf"^The {name} is missing or blank\.$"):
        read(json.dumps({**WHOLE, name: value}), coerce=coerce)


def test_facts_may_be_texts() -> None:
    assert [each.text for each in answer(candidate_facts=["One.", "", {"fact": "Two."}, {}]).facts] == ["One.", "Two."]
    assert [each.text for each in answer(candidate_facts="- One.\n- Two.").facts] == ["One.", "Two."]
    assert [each.text for each in answer(candidate_facts={"text": "One."}).facts] == ["One."]
    assert answer(candidate_facts=["One."]).facts == (CandidateFact(text="One."),)


@pytest.mark.parametrize(
    ("value", "confidence"),
    [(1, 1.0), ("0.7", 0.7), ("85%", 0.85), (1.4, 1.0), (-3, 0.0), (float("nan"), 0.8), (None, 0.8)],
)
def test_a_confidence_is_a_number_between_0_and_1(value: Any, confidence: float) -> None:
    assert fact(confidence=value).confidence == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("value", "turns"),
    [
        (["3", "turn 2"], (2, 3)),
        ("turns 3 and 5", (3, 5)),
        ("3-5", (3, 5)),
        (3, (3,)),
        ([3.0, 3, True, None, 0, 10**30], (3,)),
        (None, ()),
        ("the last", ()),
    ],
)
def test_turns_are_numbers(value: Any, turns: tuple[int, ...]) -> None:
    assert fact(turns=value, quotes=None).turns == turns


@pytest.mark.parametrize(
    ("value", "quotes"),
    [
        ({"turn": "turn 3", "text": "in UTC"}, (Quote(3, "in UTC"),)),
        ([{"turn": 1, "content": "in UTC"}, {"quote": "and dates"}], (Quote(1, "in UTC"), Quote(5, "and dates"))),
        (["dates", "in UTC"], (Quote(4, "dates"), Quote(5, "in UTC"))),
        ("in UTC", (Quote(4, "in UTC"),)),
        ([{"turn": 4, "quote": ""}, {"turn": 5, "quote": None}, {"turn": 6}], ()),
    ],
)
def test_quotes_are_read_in_other_forms_and_a_blank_one_is_none(value: Any, quotes: tuple[Quote, ...]) -> None:
    assert fact(quotes=value, turns=[4, 5]).quotes == quotes


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("2024-05-03", "2024-05-03"),
        ("2024-05-03T10:00:00Z", "2024-05-03T10:00:00Z"),
        ("2024-05", "2024-05"),
        ("2024-13", None),
        ("yesterday", None),
    ],
)
def test_a_date_is_iso_8601_or_none(value: Any, date: str | None) -> None:
    assert fact(event_date=value).event_date == date


def test_what_is_too_long_is_cut() -> None:
    long = "word " * 2_000

    summary, facts, _ = answer(title=long, summary=long, key_points=[long], candidate_facts=[long])

    assert LONGEST_TITLE - 10 < len(summary.title) <= LONGEST_TITLE
    assert len(summary.summary) <= LONGEST_SUMMARY
    assert len(summary.key_points[0]) <= LONGEST_POINT
    assert len(facts[0].text) <= LONGEST_FACT


def test_an_answer_in_tags_is_read_and_tags_in_its_texts_are_texts() -> None:
    text = json.dumps({**WHOLE, "title": "The tag <summary>"})

    for each in (text, f"<analysis>{{}}</analysis><summary>```json\n{text}\n```"):
        assert read(each).summary.title.startswith("The tag <summary>")


def test_an_answer_that_was_cut_off_is_told_so() -> None:
    text = json.dumps(WHOLE)

    with pytest.raises(BadInput, match="cut off at its limit"):
        read(text[:-20], is_whole=False)
    with pytest.raises(BadInput, match="never closes"):
        read(text[:-20])
    assert read(f"{text} I hope", is_whole=False) == answer()
