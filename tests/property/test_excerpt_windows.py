"""Laws of windows, for any transcript, any budget and any number of windows."""

from builders.drawn import transcripts
from hypothesis import given, settings
from hypothesis import strategies as st

from nous.excerpt import fit, windows
from nous.excerpt.fit import ONE_PASS
from nous.excerpt.strategies import names
from nous.text.token_estimate import Counter, estimate
from nous.transcript.model import Transcript

COUNTERS: list[Counter] = [estimate, len, lambda text: -(-estimate(text) // 2), lambda text: 2 * estimate(text)]
BUDGETS = st.one_of(st.integers(0, 60), st.integers(60, 240), st.integers(0, 1200))
MOST = st.integers(1, 12)
MORE = settings().max_examples * 2
"""For laws whose failures are rare."""


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


def whole_length(transcript: Transcript) -> int:
    """The length of everything that was said, laid out."""
    return len(fit(transcript, 10_000_000, strategy="spec").text)
