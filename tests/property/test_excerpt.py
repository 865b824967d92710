"""Laws of the excerpt, for any transcript and any budget."""

import pytest
from builders.drawn import TEXTS, transcripts
from hypothesis import given, settings
from hypothesis import strategies as st

from nous.excerpt import fit, truncate_transcript
from nous.excerpt.strategies import names
from nous.transcript.model import Transcript

BUDGETS = st.one_of(st.integers(0, 300), st.integers(0, 9000))
MORE = settings().max_examples * 2
"""For the law that everything rests on."""


@given(transcripts(), BUDGETS, st.sampled_from(names()))
@settings(max_examples=MORE, deadline=None)
def test_an_excerpt_keeps_its_budget_and_accounts_for_every_entry_once(
    transcript: Transcript, budget: int, strategy: str
) -> None:
    found = fit(transcript, budget, strategy=strategy)

    records = (*found.manifest.kept, *found.manifest.cut, *found.manifest.dropped)
    assert len(found.text) <= budget
    assert sorted(entry for record in records for entry in record.entries) == sorted(e.id for e in transcript)
    assert all(record.reason for record in records)
    assert fit(transcript, budget, strategy=strategy) == found


@given(transcripts(), BUDGETS, st.sampled_from(names()))
@settings(deadline=None)
def test_what_fits_is_left_as_it_is(transcript: Transcript, budget: int, strategy: str) -> None:
    whole = fit(transcript, 10_000_000, strategy=strategy).text

    if len(whole) <= budget:
        assert fit(transcript, budget, strategy=strategy).text == whole


@given(transcripts(), st.integers(200, 9000))
@settings(deadline=None)
def test_the_first_and_the_last_thing_said_are_shown_whenever_there_is_room(
    transcript: Transcript, budget: int
) -> None:
    """Which also says that the plan of an excerpt holds, and is not given up for the bare beginning."""
    everything = fit(transcript, 10_000_000).manifest
    said = [record for record in (*everything.kept, *everything.cut) if record.role != "Output"]
    said.sort(key=lambda record: int(record.entries[0].removeprefix("e")))

    manifest = fit(transcript, budget).manifest

    shown = {record.entries for record in (*manifest.kept, *manifest.cut)}
    assert {record.entries for record in (*said[:1], *said[-1:])} <= shown
    assert "the budget is too small for more" not in {record.reason for record in (*manifest.kept, *manifest.cut)}


@given(transcripts(), st.integers(100, 9000))
@settings(deadline=None)
def test_no_code_block_is_left_open(transcript: Transcript, budget: int) -> None:
    text = fit(transcript, budget).text

    if len(text) >= 100:
        assert text.count("```") % 2 == 0


@given(st.lists(st.tuples(st.sampled_from(["User", "Assistant"]), TEXTS), max_size=30), st.integers(0, 3000))
@settings(deadline=None)
def test_a_text_is_truncated_to_its_budget_or_returned_itself(turns: list[tuple[str, str]], budget: int) -> None:
    text = "\n\n".join(f"{label}: {said}" for label, said in turns)

    truncated = truncate_transcript(text, budget)

    assert len(truncated) <= budget
    assert (truncated is text) == (len(text) <= budget)


@pytest.mark.parametrize("budget", [0, 1, 30, 500, 8000])
@pytest.mark.parametrize(
    "text",
    [
        "User: " + "x" * 9000,
        f"User: {'a ' * 3000}\n\nAssistant: {'b ' * 3000}",
        "\n\n".join(f"{('User', 'Assistant')[n % 2]}: ten chars!" for n in range(1500)),
        "\n\n".join(f"{('User', 'Assistant')[n % 2]}: y" for n in range(20_000)),
        "\r\n\r\n".join(f"User: line {n}\r\n\r\nAssistant: reply {n}" for n in range(900)),
        "\n".join(f"user: line {n}\nassistant: reply {n}" for n in range(900)),
        "no labels and no end" * 900,
    ],
    ids=["one long turn", "two long turns", "1500 turns", "20000 turns", "CRLF", "no blank lines", "no labels"],
)
def test_awkward_texts_keep_to_their_budget(text: str, budget: int) -> None:
    assert len(truncate_transcript(text, budget)) <= budget
