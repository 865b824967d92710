"""How well facts are found, by words, by meaning and by both.

    python tests/benchmarks/search.py [LEARNINGS.json]

The file holds a list of `{"session", "fact"}`; without one, the learnings in ../shared/data are taken, if they are
there. A question is a learning, whole or in part, and what answers it is another learning of its session. Learnings are
dealt into five parts: the questions of one are asked where only the other four are known, so that no question meets
the text that it was made of. Weights and thresholds were chosen on the first half of the questions; the second half is
what counts. Questions about other things tell how often nothing is found where nothing should be.
"""

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from uuid import UUID, uuid5

import numpy as np
from common.measure import DATA
from numpy.typing import NDArray

from nous.domain.episode import NAMESPACE, Category
from nous.domain.fact import Fact, Learned, Source
from nous.domain.scope import Scope
from nous.embedding.minilm import MiniLM
from nous.knowledge.fact_index import FactIndex
from nous.retrieval.query import Query, asked
from nous.retrieval.search import Corpus, ScopeIndex, search

LEARNINGS = DATA / "facts" / "learnings.json"
OTHER_THINGS = Path(__file__).parent / "data" / "other_questions.txt"
PARTS = 5
AT = datetime(2026, 1, 1, tzinfo=UTC)
_PLAIN = re.compile(r"[A-Za-z]?[a-z]+[,.;:]?")
FORMS: Mapping[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "whole": lambda words: words,
    "first half": lambda words: words[: max(4, len(words) // 2)],
    "plain words": lambda words: [word for word in words if _PLAIN.fullmatch(word)],
    "names": lambda words: [word for word in words if not _PLAIN.fullmatch(word) and re.search("[A-Za-z]", word)],
}
Vectors = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Learning:
    session: str
    text: str

    @property
    def number(self) -> int:
        """Where it is dealt to, the same in every run."""
        return int.from_bytes(blake2b(self.text.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class Question:
    learning: Learning
    form: str
    text: str


def learnings(path: Path) -> list[Learning]:
    """Each text once, from the session that said it first."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    first = {row["fact"].casefold(): Learning(row["session"], row["fact"]) for row in reversed(rows)}
    return list(first.values())


def questions(said: Sequence[Learning]) -> list[Question]:
    made = (Question(each, form, " ".join(make(each.text.split()))) for each in said for form, make in FORMS.items())
    return [question for question in made if len(question.text.split()) > 1]


def shelf_of(said: Sequence[Learning], vectors: Vectors, embedder: str) -> ScopeIndex:
    dim = len(next(iter(vectors.values())))
    knowledge = FactIndex(embedder_id=embedder, dim=dim)
    facts = {uuid5(NAMESPACE, each.text): each for each in said}
    rows = [Learned(fact=_fact(fact_id, each), reason="", embedded_by=embedder) for fact_id, each in facts.items()]
    knowledge.extend(rows, {fact_id: vectors[each.text] for fact_id, each in facts.items()})
    return ScopeIndex(knowledge)


def _fact(fact_id: UUID, said: Learning) -> Fact:
    source = Source(episode_id=uuid5(NAMESPACE, said.session), event_id=UUID(int=1), session_id=said.session, turns=())
    return Fact(
        id=fact_id,
        scope=Scope(),
        text=said.text,
        category=Category.TECHNICAL,
        subject="",
        confidence=1.0,
        source=source,
        learned_at=AT,
    )


Finder = Callable[[Query, Corpus], Sequence[UUID]]


def hybrid(query: Query, corpus: Corpus) -> Sequence[UUID]:
    assert query.vector is not None
    vectors = query.vector[np.newaxis]
    return [hit.id for hit in search(asked(query.text, lambda _: vectors), corpus, limit=10)]


def bm25(query: Query, corpus: Corpus) -> Sequence[UUID]:
    return [match.key[0] for match in corpus.scope_index.words().search(query.text, 10)]


def cosine(query: Query, corpus: Corpus) -> Sequence[UUID]:
    assert query.vector is not None
    return [near.fact_id for near in corpus.scope_index.knowledge.near(query.vector, -1.0)[:10]]


WAYS: Mapping[str, Finder] = {"hybrid": hybrid, "BM25 alone": bm25, "vectors alone": cosine}


def place(question: Question, corpus: Corpus, vectors: Vectors, find: Finder) -> int:
    """Where among the first ten the first learning of the same session stands, from 1; 0 if it is not there."""
    found = find(Query(question.text, vector=vectors[question.text]), corpus)
    sessions = (corpus.scope_index.knowledge[fact_id].fact.source.session_id for fact_id in found)
    places = (at for at, session in enumerate(sessions, start=1) if session == question.learning.session)
    return next(places, 0)


def quality(said: Sequence[Learning], asked: Sequence[Question], vectors: Vectors) -> Iterator[str]:
    parts = [[each for each in said if each.number % PARTS != part] for part in range(PARTS)]
    libraries = [Corpus(scope_index=shelf_of(part, vectors, MiniLM().id)) for part in parts]
    yield f"{'':40}" + "".join(f"{name:>23}" for name in WAYS)
    for half, name in enumerate(("first half (chosen on)", "second half (counts)")):
        dealt = [question for question in asked if question.learning.number // PARTS % 2 == half]
        for form in ("all", *FORMS):
            some = [question for question in dealt if form in {"all", question.form}]
            shown = f"{name}, {form}: {len(some)}"
            figures = (
                _figures([place(each, libraries[each.learning.number % PARTS], vectors, find) for each in some])
                for find in WAYS.values()
            )
            yield f"{shown:40}" + "".join(f"{figure:>23}" for figure in figures)


def _figures(places: Sequence[int]) -> str:
    mrr = statistics.fmean(1 / at if at else 0.0 for at in places)
    return f"MRR {mrr:.3f} hit@10 {statistics.fmean(at > 0 for at in places):.2f}"


def silence(said: Sequence[Learning], vectors: Vectors, others: Sequence[str], embed: MiniLM) -> Iterator[str]:
    corpus = Corpus(scope_index=shelf_of(said, vectors, embed.id))
    answered = [
        hits
        for text, vector in zip(others, embed.embed(others), strict=True)
        if (hits := search(Query(text, vector=vector), corpus))
    ]
    lost = sum(not search(Query(each.text, vector=vectors[each.text]), corpus) for each in said)
    yield f"questions about other things that find nothing: {len(others) - len(answered)} of {len(others)}"
    yield f"learnings that as questions find nothing: {lost} of {len(said)}"


def main(path: Path) -> int:
    if not path.exists():
        sys.stdout.write(f"not measured: there is no {path}; name a file of learnings\n")
        return 0 if path == LEARNINGS else 2
    embedder, said = MiniLM(), learnings(path)
    asked = questions(said)
    texts = list(dict.fromkeys((*(each.text for each in said), *(each.text for each in asked))))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    others = OTHER_THINGS.read_text(encoding="utf-8").splitlines()
    for line in (*quality(said, asked, vectors), "", *silence(said, vectors, others, embedder)):
        sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else LEARNINGS))
