"""Files that a query names."""

from collections.abc import Sequence
from itertools import count

import pytest
from numpy import float32
from numpy.typing import NDArray

from nous.context.notes import is_trivial
from nous.domain.errors import Unavailable
from nous.embedding.hashing import HashingEmbedder
from nous.retrieval.query import Embed, asked, files_named, parts, touched
from nous.retrieval.turns import TurnHit, recall_turns
from nous.retrieval.word_index import WordIndex, asked_terms, terms
from nous.transcript.model import Entry, Kind
from nous.transcript.render.turns import TurnText, group_into_turns


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("why does ingest.rs crash?", ["ingest.rs"]),
        ("look at `src/ingest.rs`, please", ["src/ingest.rs"]),
        (r"C:\work\Ingest.rs:42:7 fails", ["work/ingest.rs"]),
        ("./src/../lib/a.py and ../../b.c", ["lib/a.py", "b.c"]),
        ("'fix main.go please'", ["main.go"]),
        ("(see [it](docs/a.md#L3)).", ["docs/a.md"]),
        ("the .env and the Makefile", [".env", "makefile"]),
        ("why does it write to /tmp?", ["tmp"]),
        ("https://example.com/a.html", []),
        ("nothing here", []),
        ("icon@2x.png or docs/a@b.md", ["icon@2x.png", "docs/a@b.md"]),
    ],
)
def test_the_files_in_a_text(text: str, named: list[str]) -> None:
    assert ["/".join(path) for path in files_named(text)] == named


@pytest.mark.parametrize(
    ("name", "path", "is_it"),
    [
        ("ingest.rs", "src/ingest.rs", True),
        ("ingest.rs", "/home/me/src/ingest.rs", True),
        ("ingest.rs", "src/my_ingest.rs", False),
        ("ingest.rs", "src/ingest.rs.bak", False),
        ("src/ingest.rs", "lib/ingest.rs", False),
        ("rc/ingest.rs", "src/ingest.rs", False),
        ("src/ingest.rs", "a/b/../src/ingest.rs", True),
        ("/home/me/src/ingest.rs", "src/ingest.rs", True),
    ],
)
def test_parts_of_a_path_match_whole(name: str, path: str, *, is_it: bool) -> None:
    assert touched([parts(name)], [path]) == ((path,) if is_it else ())


def test_nothing_named_finds_nothing() -> None:
    assert touched((), ["a.py"]) == ()
    assert parts("../..") == ()


@pytest.mark.parametrize("prompt", ["/commit", "ok", "fix bug", "推送", "yes please do it", "好的谢谢"])
def test_a_trivial_prompt_is_not_searched_for(prompt: str) -> None:
    assert is_trivial(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "fix the bug",
        "what is 10.0.0.12?",
        "修改config",
        "read /tmp/x.txt please",
        "why does it write to /tmp?",
        "/review the new parser",
        "ingest.rs?",
        "ENT-250",
        "port 8080",
        "LastPrompt",
        "数据库",
        "'timeout'",
        "好的数据库",
    ],
)
def test_a_prompt_that_asks_for_something_is(prompt: str) -> None:
    assert not is_trivial(prompt)


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


EMBED = HashingEmbedder().embed


def session() -> tuple[TurnText, ...]:
    """Four turns: two that touch files, talk, and one that is long."""
    numbers = count()

    def entry(kind: Kind, turn: int, text: str, *paths: str) -> Entry:
        return Entry(kind, text, str(next(numbers)), turn=turn, paths=paths, tool="Edit" if paths else None)

    return group_into_turns(
        [
            entry(Kind.USER, 1, "Please mend the reader"),
            entry(Kind.TOOL_CALL, 1, "", "/home/me/app/src/ingest.rs"),
            entry(Kind.ASSISTANT, 1, "It is mended."),
            entry(Kind.USER, 2, "And now the other file"),
            entry(Kind.TOOL_CALL, 2, "", "src/my_ingest.rs"),
            entry(Kind.ASSISTANT, 2, "That one is fine."),
            entry(Kind.USER, 3, "Which port does staging use?"),
            entry(Kind.ASSISTANT, 3, "Staging listens on port 8080."),
            entry(Kind.USER, 4, "Tell me about the weather"),
            entry(Kind.ASSISTANT, 4, "rain and wind " * 400 + "then staging got port 8080 again"),
        ]
    )


def recalled(query: str, embed: Embed | None = None, in_context: Sequence[int] = (), limit: int = 5) -> list[TurnHit]:
    return [*recall_turns(asked(query, embed), session(), embed=embed, in_context=in_context, limit=limit)]


@pytest.mark.parametrize("query", ["ingest.rs", "what was wrong in `src/ingest.rs`?", "../app/src/ingest.rs:12"])
@pytest.mark.parametrize("embed", [None, EMBED])
def test_a_file_finds_the_turns_that_touched_it_and_not_those_of_a_like_name(query: str, embed: Embed | None) -> None:
    hits = recalled(query, embed)

    assert hits[0].turn == 1
    assert hits[0].files == ("/home/me/app/src/ingest.rs",)
    assert [hit.turn for hit in hits if hit.files] == [1]


def test_a_turn_is_found_once_however_many_of_its_pieces_are() -> None:
    hits = recalled("rain wind staging port 8080")

    assert sorted(hit.turn for hit in hits) == sorted({hit.turn for hit in hits})
    assert {3, 4} <= {hit.turn for hit in hits}


def test_turns_in_context_are_left_out_and_those_before_are_not() -> None:
    assert [hit.turn for hit in recalled("staging port 8080", in_context=range(4, 9))] == [3, 2]
    assert recalled("staging port 8080", in_context=range(9)) == []


def test_a_query_that_no_turn_is_near_finds_none() -> None:
    assert recalled("how do I cook rice") == []
    assert recalled("") == []
    assert recall_turns(asked("port", None), ()) == ()


def test_a_model_that_goes_away_meanwhile_leaves_words_and_files() -> None:
    answers = iter([EMBED(["staging port 8080"])])

    def fading(_: Sequence[str]) -> NDArray[float32]:
        for answer in answers:
            return answer
        raise Unavailable("away")

    assert {reason.split(":")[0] for hit in recalled("staging port 8080", fading) for reason in hit.found_by} == {
        "words"
    }
