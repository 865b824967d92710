"""Laws of the excerpt, for any transcript and any budget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nous.excerpt import fit, truncate_transcript
from nous.excerpt.strategies import names
from nous.transcript.model import Entry, Kind, Transcript

WORDS = st.sampled_from(
    [
        "because",
        "ship",
        "it",
        "\n",
        "\n\n",
        "```",
        "```py\nx = 1\n```",
        "# Plan",
        "- item",
        "a.b_c(d)",
        "wörd",
        "日本。",
        "\r\n",
        "  ",
    ]
)
TEXTS = st.one_of(
    st.lists(WORDS, max_size=60).map(" ".join), st.text(max_size=80), st.sampled_from(["x" * 3000, "y z " * 900])
)
INPUTS = st.one_of(
    st.none(),
    st.fixed_dictionaries({"file_path": st.sampled_from(["/a/b/c/d.py", "/a/b/c/e.py", "f.py"])}),
    st.fixed_dictionaries({"command": st.sampled_from(['git commit -m "Fix it"', "pytest -q", "ls"])}),
)
TOOLS = st.sampled_from(["Read", "Edit", "Bash", "book_flight", None])


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    entries: list[Entry] = []
    turn = 0
    for number in range(draw(st.integers(0, 25))):
        kind = draw(st.sampled_from(Kind))
        turn += kind is Kind.USER
        tool, given_ = (draw(TOOLS), draw(INPUTS)) if kind is Kind.TOOL_CALL else (None, None)
        entries.append(
            Entry(
                kind=kind,
                text=draw(TEXTS),
                id=f"e{number}",
                turn=turn,
                tool=tool,
                tool_input=given_,
                is_error=kind is Kind.TOOL_RESULT and draw(st.booleans()),
            )
        )
    return Transcript(format="test", entries=tuple(entries), digest="0" * 64, bytes=1)


BUDGETS = st.one_of(st.integers(0, 300), st.integers(0, 9000))
MORE = settings().max_examples * 2
"""For the law that everything rests on."""


@given(transcripts(), BUDGETS, st.sampled_from(names()))
@settings(max_examples=MORE, deadline=None)
def test_an_excerpt_is_never_longer_than_its_budget(transcript: Transcript, budget: int, strategy: str) -> None:
    assert len(fit(transcript, budget, strategy=strategy).text) <= budget


@given(transcripts(), BUDGETS, st.sampled_from(names()))
@settings(deadline=None)
def test_what_fits_is_left_as_it_is(transcript: Transcript, budget: int, strategy: str) -> None:
    whole = fit(transcript, 10_000_000, strategy=strategy).text

    if len(whole) <= budget:
        assert fit(transcript, budget, strategy=strategy).text == whole


@given(transcripts(), BUDGETS, st.sampled_from(names()))
@settings(deadline=None)
def test_every_entry_is_accounted_for_once(transcript: Transcript, budget: int, strategy: str) -> None:
    manifest = fit(transcript, budget, strategy=strategy).manifest

    records = (*manifest.kept, *manifest.cut, *manifest.dropped)
    assert sorted(entry for record in records for entry in record.entries) == sorted(e.id for e in transcript)
    assert all(record.reason for record in records)


@given(transcripts(), BUDGETS, st.sampled_from(names()))
@settings(deadline=None)
def test_the_same_transcript_gives_the_same_excerpt(transcript: Transcript, budget: int, strategy: str) -> None:
    assert fit(transcript, budget, strategy=strategy) == fit(transcript, budget, strategy=strategy)


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
