"""Laws of windows, for any transcript, any budget and any number of windows."""

from itertools import pairwise

from builders.drawn import transcript_of, transcripts
from hypothesis import given, settings
from hypothesis import strategies as st

from nous.excerpt import Windows, fit, windows
from nous.excerpt.fit import ONE_PASS
from nous.excerpt.strategies import names
from nous.text.token_estimate import Counter, estimate
from nous.transcript.model import Entry, Kind, Transcript

COUNTERS: list[Counter] = [estimate, len, lambda text: -(-estimate(text) // 2), lambda text: 2 * estimate(text)]
BUDGETS = st.one_of(st.integers(0, 60), st.integers(60, 240), st.integers(0, 1200))
MOST = st.integers(1, 12)
MORE = settings().max_examples * 2
"""For laws whose failures are rare."""


@st.composite
def spoken(draw: st.DrawFn) -> Transcript:
    """Turns of one to five answers, none of them longer than 200 characters."""
    entries: list[Entry] = []
    for turn, answers in enumerate(draw(st.lists(st.integers(1, 5), min_size=4, max_size=20)), start=1):
        for number in range(answers + 1):
            kind, letters = Kind.ASSISTANT if number else Kind.USER, draw(st.integers(1, 180))
            entries.append(Entry(kind=kind, text="x" * letters, id=f"e{len(entries)}", turn=turn))
    return transcript_of(entries)


@given(transcripts(), BUDGETS, MOST, st.sampled_from(names()))
@settings(max_examples=MORE, deadline=None)
def test_windows_keep_their_budget_and_are_together_the_transcript(
    transcript: Transcript, budget: int, most: int, strategy: str
) -> None:
    found = windows(transcript, budget, most=most, strategy=strategy)

    parts = [window.transcript.entries for window in found.windows]
    assert all(len(window.excerpt.text) <= budget for window in found.windows)
    assert tuple(entry for part in parts for entry in part) == transcript.entries
    assert all(parts) or not transcript.entries
    assert 1 <= len(parts) <= min(most, found.wanted)
    for window in found.windows:
        account = window.excerpt.manifest
        named = [entry for record in (*account.kept, *account.cut, *account.dropped) for entry in record.entries]
        assert sorted(named) == sorted(entry.id for entry in window.transcript)
    assert windows(transcript, budget, most=most, strategy=strategy).digest == found.digest


@given(transcripts(), st.integers(0, 300), MOST, st.sampled_from(COUNTERS))
@settings(deadline=None)
def test_no_window_has_more_tokens_than_the_budget(
    transcript: Transcript, budget: int, most: int, count: Counter
) -> None:
    found = windows(transcript, budget, most=most, unit="tokens", count=count)

    assert all(count(window.excerpt.text) <= budget for window in found.windows)


@given(transcripts(), BUDGETS, MOST)
@settings(deadline=None)
def test_a_session_of_up_to_four_budgets_has_one_window_which_is_its_excerpt(
    transcript: Transcript, budget: int, most: int
) -> None:
    found = windows(transcript, budget, most=most)

    if whole_length(transcript) <= ONE_PASS * budget:
        assert found.wanted == 1
    if len(found.windows) == 1:
        assert found.windows[0].excerpt == fit(transcript, budget)
        assert found.digest == found.windows[0].excerpt.digest


@given(spoken(), st.integers(200, 600), st.integers(2, 12))
@settings(max_examples=MORE, deadline=None)
def test_a_boundary_is_inside_of_a_turn_only_if_the_turn_is_longer_than_a_window(
    transcript: Transcript, budget: int, most: int
) -> None:
    found = windows(transcript, budget, most=most)

    window = (whole_length(transcript) + len("\n\n")) / len(found.windows)
    assert all(length_of_turn(transcript, turn) > window for turn in turns_cut(found))


def whole_length(transcript: Transcript) -> int:
    """The length of everything that was said, laid out."""
    return len(fit(transcript, 10_000_000, strategy="head").text)


def length_of_turn(transcript: Transcript, number: int) -> int:
    entries = [entry for entry in transcript if entry.turn == number]
    return sum(len(f"[{'User' if entry.kind is Kind.USER else 'Assistant'}] {entry.text}\n\n") for entry in entries)


def turns_cut(found: Windows) -> set[int]:
    """The turns that a boundary is inside of."""
    pairs = pairwise(window.transcript.entries for window in found.windows)
    return {before[-1].turn for before, after in pairs if before[-1].turn == after[0].turn}
