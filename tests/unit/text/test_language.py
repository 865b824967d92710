"""What the words of a language tell, whichever languages there are."""

from nous.text.language import words_in

ENGLISH = """
openers = "well"
[sets]
stopwords = "the a"
[contains]
says_why = ["because"]
[begins]
question = ["what"]
"""
GERMAN = """
openers = "also"
[sets]
stopwords = "der ein"
[contains]
says_why = ["weil", "entschieden"]
"""


def test_another_language_adds_its_words_to_those_of_the_others() -> None:
    both = words_in([ENGLISH, GERMAN])

    assert both.sets["stopwords"] == {"the", "a", "der", "ein"}
    assert both.says("says_why", "Das bleibt so, weil es warm ist.")
    assert both.says("says_why", "It stays because it is warm.")
    assert both.opens("question", "Also, what now?")


def test_words_count_only_where_they_are_whole() -> None:
    both = words_in([ENGLISH, GERMAN])

    assert not both.says("says_why", "Weiler and becausement")
