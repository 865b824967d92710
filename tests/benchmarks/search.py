"""How well facts are found, by words, by meaning and by both.

    python tests/benchmarks/search.py [LEARNINGS.json]

The file holds a list of `{"session", "fact"}`; without one, the learnings in ../shared/data are taken, if they are
there. A question is a learning, whole or in part, and what answers it is another learning of its session. Learnings are
dealt into five parts: the questions of one are asked where only the other four are known, so that no question meets
the text that it was made of. Weights and thresholds were chosen on the first half of the questions; the second half is
what counts. Questions about other things tell how often nothing is found where nothing should be.
"""

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from common.measure import DATA

from nous.app.quality import measures
from nous.app.quality.gold import Learning, learnings_in
from nous.embedding.minilm import MiniLM
from nous.retrieval.query import Query
from nous.retrieval.search import Corpus, search

LEARNINGS = DATA / "facts" / "learnings.json"
OTHER_THINGS = Path(__file__).parent / "data" / "other_questions.txt"


def bm25(query: Query, corpus: Corpus) -> Sequence[UUID]:
    return [match.key[0] for match in corpus.scope_index.words().search(query.text, 10)]


def cosine(query: Query, corpus: Corpus) -> Sequence[UUID]:
    assert query.vector is not None
    return [near.fact_id for near in corpus.scope_index.knowledge.near(query.vector, -1.0)[:10]]


WAYS: Mapping[str, measures.Finder] = {"hybrid": measures.hybrid, "BM25 alone": bm25, "vectors alone": cosine}


def quality(
    said: Sequence[Learning], asked: Sequence[measures.SearchQuestion], vectors: measures.Vectors
) -> Iterator[str]:
    corpora = measures.corpora_of(said, vectors, MiniLM.id)
    yield f"{'':40}" + "".join(f"{name:>23}" for name in WAYS)
    for half, name in enumerate(("first half (chosen on)", "second half (counts)")):
        dealt = [question for question in asked if question.learning.number // measures.PARTS % 2 == half]
        for form in ("all", *measures.FORMS):
            some = [question for question in dealt if form in {"all", question.form}]
            shown = f"{name}, {form}: {len(some)}"
            figures = (
                _figures([measures.place(each, corpora, vectors, find) for each in some]) for find in WAYS.values()
            )
            yield f"{shown:40}" + "".join(f"{figure:>23}" for figure in figures)


def _figures(places: Sequence[int]) -> str:
    mrr = statistics.fmean(1 / at if at else 0.0 for at in places)
    return f"MRR {mrr:.3f} hit@10 {statistics.fmean(at > 0 for at in places):.2f}"


def silence(said: Sequence[Learning], vectors: measures.Vectors, others: Sequence[str], embed: MiniLM) -> Iterator[str]:
    corpus = Corpus(scope_index=measures.scope_index(said, vectors, embed.id))
    answered = [
        hits
        for text, vector in zip(others, embed.embed(others), strict=True)
        if (hits := search(Query(text, vector=vector), corpus))
    ]
    lost = sum(not search(Query(each.fact, vector=vectors[each.fact]), corpus) for each in said)
    yield f"questions about other things that find nothing: {len(others) - len(answered)} of {len(others)}"
    yield f"learnings that as questions find nothing: {lost} of {len(said)}"


def main(path: Path) -> int:
    if not path.exists():
        sys.stdout.write(f"not measured: there is no {path}; name a file of learnings\n")
        return 0 if path == LEARNINGS else 2
    embedder, said = MiniLM(), learnings_in(path)
    asked = measures.questions(said)
    texts = list(dict.fromkeys((*(each.fact for each in said), *(each.text for each in asked))))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    others = OTHER_THINGS.read_text(encoding="utf-8").splitlines()
    for line in (*quality(said, asked, vectors), "", *silence(said, vectors, others, embedder)):
        sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else LEARNINGS))
