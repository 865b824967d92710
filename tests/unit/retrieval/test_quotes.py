"""Which lines of a session are quoted for a fact."""

from nous.domain.summary_input import Segment
from nous.retrieval.provenance import quoted

FACT = "Tests are run with `mise run test`."


def test_the_line_with_the_words_of_the_fact_is_quoted_with_whose_it_is() -> None:
    segments = [
        Segment("[Assistant] Here is my plan:\n1. look around\n2. mend it", "assistant", 1),
        Segment("[Tools] Edit(reset_test.go) | Bash(mise run test)", "tools", 1),
    ]

    assert quoted(FACT, segments) == ("[Tools] Bash(mise run test)",)


def test_a_line_is_quoted_only_for_what_no_line_before_it_has() -> None:
    said = Segment("[User] staging is on port 8080\nport 8080, right\nI use Redis 8 for the cache", "user", 1)

    quotes = quoted("Staging has port 8080 and its cache is Redis 8", [said])

    assert quotes == ("[User] staging is on port 8080", "[User] I use Redis 8 for the cache")


def test_where_no_line_has_a_word_of_the_fact_the_first_shows_the_place() -> None:
    assert quoted(FACT, [Segment("[User] thanks\nbye", "user", 1)]) == ("[User] thanks",)
    assert quoted(FACT, []) == ()


def test_a_long_line_is_cut_where_the_fact_stands_in_it() -> None:
    rain = "rain and wind " * 100

    [quote] = quoted("The port of staging is 8080", [Segment(f"[User] {rain}staging has port 8080 {rain}", "user", 1)])

    assert "staging has port 8080" in quote
    assert quote.startswith("[User] …")
    assert len(quote) < 320
