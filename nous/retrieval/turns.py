"""Search the turns of given sessions by words, by meaning and by file; return the best."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nous.domain.errors import NousError
from nous.retrieval.query import Embed, Query, touched
from nous.retrieval.word_index import LEAST_COSINE, RankedItem, Ranking, WordIndex, by_cosine, fused, ranking
from nous.transcript.render.turns import Chunk, TurnText, chunk

Piece = tuple[int, int]
"""The number of a turn, and the index of a chunk in it."""

MOST_EMBEDDED = 256
"""Maximum chunks of a session that are compared by meaning: those with the query's words first, then the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnHit:
    """A turn that was found: its best chunk, the named files that it touched, and the evidence."""

    turn: int
    text: str
    files: tuple[str, ...]
    score: float
    found_by: tuple[str, ...]


def recall_turns(
    query: Query,
    turns: Sequence[TurnText],
    *,
    embed: Embed | None = None,
    in_context: Collection[int] = (),
    limit: int = 5,
) -> tuple[TurnHit, ...]:
    """Return the *limit* turns that answer *query* best, each once, best first.

    Turns with numbers *in_context* are left out: the caller still sees them. Without an embedder, or while it does not
    answer, turns are found by words and files.
    """
    searched = {turn.number: turn for turn in turns if turn.number not in in_context}
    chunks = (each for turn in searched.values() for each in chunk(turn.text, turn=turn.number))
    pieces = {(each.turn, each.index): each for each in chunks}
    index: WordIndex[Piece] = WordIndex()
    index.extend((key, piece.text) for key, piece in pieces.items())
    words = ranking(index.search(query.text, len(pieces)))
    paths = {number: [path for entry in turn.entries for path in entry.paths] for number, turn in searched.items()}
    files = {number: found for number, each in paths.items() if (found := touched(query.files, each))}
    rankings: Mapping[Ranking, Mapping[Piece, RankedItem]] = {
        Ranking.WORDS: words,
        Ranking.MEANING: _by_meaning(query, pieces, words, embed),
        Ranking.FILE: {piece: RankedItem(1.0, files[piece[0]][0]) for piece in pieces if piece[0] in files},
    }
    best: dict[int, TurnHit] = {}
    for key, score, found_by in fused(rankings):
        number = key[0]
        hit = TurnHit(
            turn=number,
            text=pieces[key].text,
            files=files.get(number, ()),
            score=score,
            found_by=found_by,
        )
        best.setdefault(number, hit)
    return tuple(best.values())[:limit]


def _by_meaning(
    query: Query, pieces: Mapping[Piece, Chunk], by_words: Collection[Piece], embed: Embed | None
) -> dict[Piece, RankedItem]:
    if query.vector is None or embed is None or not pieces:
        return {}
    likely = list(dict.fromkeys((*by_words, *reversed(tuple(pieces)))))[:MOST_EMBEDDED]
    try:
        vectors = embed([pieces[key].text for key in likely])
    except NousError:
        return {}
    cosines = ((key, float(vector @ query.vector)) for key, vector in zip(likely, vectors, strict=True))
    return by_cosine([near for near in cosines if near[1] >= LEAST_COSINE])
