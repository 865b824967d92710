"""The anchored summary: its sections, how it is read by a model and how it is kept."""

import json
from typing import Any

import pytest

import nous.summary
from nous.domain.errors import BadInput, NousError
from nous.summary import AnchoredSummary, AnchoredSummarySection, SummarizerError

LABELS = ["Intent", "Decisions", "Files touched", "Pending tasks", "Current state"]
IDS = ["intent", "decisions", "files_touched", "pending_tasks", "current_state"]


def summary(**contents: str) -> AnchoredSummary:
    return AnchoredSummary.of(contents, iteration=3)


def kept_as(**fields: Any) -> str:
    return json.dumps({**json.loads(summary(intent="- Ship it").to_json()), **fields})


def test_an_empty_summary_has_the_five_sections_and_says_nothing() -> None:
    empty = AnchoredSummary.empty()

    assert [section.id for section in empty.sections] == IDS
    assert [section.label for section in empty.sections] == LABELS
    assert empty.is_empty
    assert (empty.to_prompt_text(), empty.token_estimate, empty.iteration) == ("", 0, 0)
    assert empty.schema_version == AnchoredSummary.SCHEMA_VERSION == 1


def test_a_model_reads_the_sections_that_say_something_a_blank_line_between() -> None:
    said = summary(current_state="\n  Tests pass. \n", intent="- Ship it\n- by Friday", decisions="  ")

    assert said.to_prompt_text() == "## Intent\n- Ship it\n- by Friday\n\n## Current state\nTests pass."
    assert not said.is_empty


def test_sections_stand_in_their_order_and_foreign_ones_behind_them() -> None:
    given = (
        AnchoredSummarySection("risks", "Risks, so far", "- The disk is full"),
        AnchoredSummarySection("current_state", "State", "Half done."),
        AnchoredSummarySection("earlier", "Earlier", "- Begun"),
        AnchoredSummarySection("intent", "Intent", "- Ship it"),
    )

    said = AnchoredSummary(given)

    assert [section.id for section in said.sections] == [*IDS, "risks", "earlier"]
    assert [section.label for section in said.sections] == [*LABELS, "Risks, so far", "Earlier"]
    assert said.content("current_state") == "Half done."


@pytest.mark.parametrize(
    "said",
    [
        AnchoredSummary.empty(),
        summary(intent="- Ship “it” — ünïcode\n```\ncode\n```", earlier="- Begun\x00\ud800"),
        AnchoredSummary(summary(risks="- Fire").sections, 1, 99, 30),
    ],
)
def test_a_summary_is_read_back_as_it_was_written(said: AnchoredSummary) -> None:
    assert AnchoredSummary.from_json(said.to_json()) == said
    assert AnchoredSummary.from_json(said.to_json().encode()) == said


@pytest.mark.parametrize(
    ("version", "complaint"), [(2, "schema version 2; this release reads version 1"), ("x", "schema version x")]
)
def test_a_schema_version_that_is_not_known_is_refused(version: object, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        AnchoredSummary.from_json(kept_as(schema_version=version))


@pytest.mark.parametrize("text", ["", b"\xff", "[]", "{}", kept_as(sections=["- Ship it"]), kept_as(iteration="many")])
def test_what_is_no_summary_is_bad_input_and_not_quoted(text: str | bytes) -> None:
    with pytest.raises(BadInput) as raised:
        AnchoredSummary.from_json(text)

    assert "Ship it" not in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("timeout", "summarizer timed out"),
        ("transport", "summarizer transport: no route"),
        ("parse", "summarizer parse: no route"),
        ("other", "summarizer: no route"),
    ],
)
def test_an_error_says_its_kind_and_reason(kind: str, text: str) -> None:
    error = SummarizerError(kind, "no route")

    assert (str(error), error.kind) == (text, kind)
    assert isinstance(error, NousError)


def test_the_package_offers_its_names() -> None:
    assert {"AnchoredSummary", "AnchoredSummarySection", "Summarizer", "SummarizerError"} <= set(nous.summary.__all__)
