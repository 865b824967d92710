"""Which lines of a session are quoted for a fact."""

from nous.brief import Passage
from nous.recall.quotes import MOST, quoted

FACT = "Tests are run with `mise run test`."


def test_the_lines_with_the_words_of_the_fact_come_first_each_with_whose_it_is() -> None:
    passages = [
        Passage("[Assistant] Here is my plan:\n1. look around\n2. mend it", "assistant", 1),
        Passage("[Tools] Edit(reset_test.go) | Bash(mise run test)", "tools", 1),
    ]

    first, *others = quoted(FACT, passages)

    assert first == "[Tools] Bash(mise run test)"
    assert "[Assistant] 2. mend it" in others


def test_no_more_lines_are_quoted_than_an_eye_takes_in() -> None:
    plan = Passage("[Assistant] " + "\n".join(f"{number}. step" for number in range(20)), "assistant", 1)

    assert len(quoted(FACT, [plan, Passage("[Tools] Bash(mise run test)", "tools", 1)])) == MOST
    assert quoted(FACT, []) == ()


def test_a_long_line_is_cut_where_the_fact_stands_in_it() -> None:
    rain = "rain and wind " * 100

    [quote] = quoted("The port of staging is 8080", [Passage(f"[User] {rain}staging has port 8080 {rain}", "user", 1)])

    assert "staging has port 8080" in quote
    assert quote.startswith("[User] …")
    assert len(quote) < 320
