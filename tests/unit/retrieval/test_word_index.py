"""Finding texts by words."""

import pytest

from nous.retrieval.word_index import WordIndex, asked_terms, terms


def indexed(*texts: str) -> WordIndex[str]:
    index: WordIndex[str] = WordIndex()
    index.extend((text, text) for text in texts)
    return index


def found(index: WordIndex[str], query: str, limit: int = 10) -> list[str]:
    return [match.key for match in index.search(query, limit)]


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("see `src/ingest.rs`.", {"src/ingest.rs=", "ingest.rs=", "ingest", "src"}),
        ("commit[:7], (8080)", {"commit[:7]=", "commit", "8080"}),
        ("ENT-250", {"ent-250=", "ent", "250"}),
        ("LastInteractionTime", {"lastinteractiontime", "last", "interaction", "time"}),
        ("HTTPServer last_prompt", {"http", "server", "last_prompt=", "last", "prompt"}),
        ("C++ --json .env", {"c++=", "--json=", ".env="}),
        ("修改config", {"修", "改", "config"}),
        ("it\u2019s Größe", {"its", "grösse"}),
    ],
)
def test_names_are_found_whole_and_in_parts(text: str, some: set[str]) -> None:
    assert some <= set(terms(text))


def test_a_query_is_what_says_something_in_it() -> None:
    assert asked_terms("What is the port of the API?") == ("port", "api")


def test_words_are_found_in_other_forms_and_names_are_not() -> None:
    index = indexed("The parser crashes on empty lines", "Reads src/ingest.rs", "Reads ingest.r")

    assert found(index, "crash of parsers") == ["The parser crashes on empty lines"]
    assert found(index, "`ingest.rs`")[0] == "Reads src/ingest.rs"
    assert index.search("ingest.rs", 1)[0].shown == "ingest.rs"


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    index = indexed("the cat sat", "a cat ran", "a cat slept", "the parser slept")

    assert found(index, "cat parser")[0] == "the parser slept"


def test_the_share_tells_how_much_of_the_query_is_there() -> None:
    index = indexed("The API listens on port 8080", "Tim likes tea")

    [all_of_it] = index.search("which port has the API", 5)
    [some] = index.search("port of the zebra", 5)

    assert all_of_it.share == pytest.approx(1)
    assert all_of_it.terms == ("port", "api")
    assert 0 < some.share < 0.5
    assert all_of_it.is_near


def test_whoever_accepts_few_of_many_texts_finds_them_all_the_same() -> None:
    index: WordIndex[int] = WordIndex()
    index.extend((number, f"session {number}") for number in range(3000))

    matches = index.search("session", 2, lambda number: number in {1500, 2999})

    assert sorted(match.key for match in matches) == [1500, 2999]
    assert index.search("session 7", 5)[0].key == 7
    assert index.search("session", 0) == []
    assert len(index.search("session", 1 << 40)) == 3000
