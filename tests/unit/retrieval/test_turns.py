"""Finding turns of one session."""

from collections.abc import Sequence
from itertools import count

import pytest
from numpy import float32
from numpy.typing import NDArray

from nous.domain.errors import Unavailable
from nous.embedding.hashing import HashingEmbedder
from nous.retrieval.query import Embed, asked
from nous.retrieval.turns import TurnHit, recall_turns
from nous.transcript.model import Entry, Kind
from nous.transcript.render.turns import TurnText, group_into_turns

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
