"""Laws of excerpts and windows, for any transcript and any budget in characters, or in tokens by a sane counter."""

import pytest
from builders.drawn import TEXTS, transcript_of, transcripts
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nous.excerpt import fit, truncate_transcript, windows
from nous.excerpt.fit import ONE_PASS
from nous.excerpt.strategies import names
from nous.text.token_estimate import Counter, estimate
from nous.transcript.model import Entry, Kind, Transcript

CHARACTERS = st.one_of(st.integers(0, 300), st.integers(0, 9000))
MORE = settings().max_examples * 2
"""For the law that everything rests on."""


@given(transcripts(), CHARACTERS, st.sampled_from(names()))
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


@given(transcripts(), CHARACTERS, st.sampled_from(names()))
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


def words(text: str, /) -> int:
    return max(len(text.split()), min(len(text), 1))


def in_blocks(text: str, /) -> int:
    """Jumps by forty, as a counter does that bills in blocks."""
    return -(-len(text) // 40) * 40


def unsteady(text: str, /) -> int:
    """A longer text may count less: merges of byte pairs are not monotone either."""
    return len(text) + sum(map(ord, text)) % 7 * 30 if text else 0


COUNTERS: list[Counter] = [estimate, len, words, lambda text: 3 * estimate(text), in_blocks, unsteady]
SMALL: list[Counter] = [estimate, len, words]
"""Those that count one character as one."""

BUDGETS = st.one_of(st.integers(0, 20), st.integers(0, 400), st.integers(0, 3000))


def said(*entries: tuple[Kind, str]) -> Transcript:
    return transcript_of([Entry(kind, text, f"e{number}", 1) for number, (kind, text) in enumerate(entries)])


LONG_WORDS = said(*((Kind.USER, "internationalization documentation " * 3),) * 40)
ONE = said((Kind.USER, "Hello."))


@given(transcripts(), BUDGETS, st.sampled_from(COUNTERS), st.sampled_from(names()))
@settings(max_examples=200, deadline=None)
def test_an_excerpt_never_has_more_tokens_than_its_budget(
    transcript: Transcript, budget: int, count: Counter, strategy: str
) -> None:
    found = fit(transcript, budget, strategy=strategy, unit="tokens", count=count)

    account = found.manifest
    named = [entry for record in (*account.kept, *account.cut, *account.dropped) for entry in record.entries]
    assert count(found.text) <= budget
    assert sorted(named) == sorted(entry.id for entry in transcript)
    assert (account.budget, account.unit) == (budget, "tokens")


@given(transcripts(), st.integers(0, 300), st.sampled_from(COUNTERS), st.sampled_from(names()))
@example(LONG_WORDS, 0, estimate, "default")
@example(LONG_WORDS, 0, words, "spec")
@example(said((Kind.USER, "x" * 2500)), 0, words, "default")
@settings(deadline=None)
def test_what_fits_in_tokens_is_whole(transcript: Transcript, spare: int, count: Counter, strategy: str) -> None:
    """All that was said, that is: what tools answered may fill the rest."""
    whole = fit(transcript, 10_000_000, strategy="spec")

    found = fit(transcript, count(whole.text) + spare, strategy=strategy, unit="tokens", count=count)

    said = {record.entries for record in whole.manifest.kept}
    assert said <= {record.entries for record in found.manifest.kept}


@given(transcripts(), st.integers(1, 400), st.sampled_from(SMALL))
@example(ONE, 1, len)
@settings(deadline=None)
def test_a_single_token_shows_something_of_what_was_said(transcript: Transcript, budget: int, count: Counter) -> None:
    """As a single character does, unless that is more than a token."""
    found = fit(transcript, budget, unit="tokens", count=count)
    character = fit(transcript, 1).text

    assert found.text or not character or count(character) > budget


WINDOW_COUNTERS: list[Counter] = [estimate, len, lambda text: -(-estimate(text) // 2), lambda text: 2 * estimate(text)]
WINDOW_BUDGETS = st.one_of(st.integers(0, 60), st.integers(60, 240), st.integers(0, 1200))
MOST = st.integers(1, 12)


@given(transcripts(), WINDOW_BUDGETS, MOST, st.sampled_from(names()))
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


@given(transcripts(), st.integers(0, 300), MOST, st.sampled_from(WINDOW_COUNTERS))
@settings(deadline=None)
def test_no_window_has_more_tokens_than_the_budget(
    transcript: Transcript, budget: int, most: int, count: Counter
) -> None:
    found = windows(transcript, budget, most=most, unit="tokens", count=count)

    assert all(count(window.excerpt.text) <= budget for window in found.windows)


@given(transcripts(), WINDOW_BUDGETS, MOST)
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
