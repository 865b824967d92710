"""Measures of sessions, pairs, search and excerpts against gold; each is a mean over items."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from statistics import fmean
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from nous.app.quality.gold import Gold, GoldExcerpt, GoldLesson, GoldPair, GoldSession, Learning, transcript_of
from nous.domain.episode import NAMESPACE, CandidateFact, Episode, Tier
from nous.domain.fact import Learned, Source
from nous.domain.scope import Scope
from nous.embedding.base import Embedder
from nous.excerpt import fit
from nous.knowledge.decision import LearnContext, claimed
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.verdict import Policy
from nous.retrieval.query import Query, asked
from nous.retrieval.search import Corpus, ScopeIndex, search
from nous.text.language import tables
from nous.text.token_estimate import estimate

BUDGETS = (2_000, 8_000, 16_000)
MUST = ("user", "final", "decision", "error", "commit", "path")
"""Categories that an excerpt must keep. The others are what a summary happened to use."""

PARTS = 5
_PLAIN = re.compile(r"[A-Za-z]?[a-z]+[,.;:]?")
FORMS: Mapping[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "whole": lambda words: words,
    "first half": lambda words: words[: max(4, len(words) // 2)],
    "plain words": lambda words: [word for word in words if _PLAIN.fullmatch(word)],
    "names": lambda words: [word for word in words if not _PLAIN.fullmatch(word) and re.search("[A-Za-z]", word)],
}
"""Questions that are made of a statement."""

_STOP = frozenset(tables("nous.app.quality", "words")["stop"].split())
_WORD = re.compile(r"[a-z0-9][a-z0-9_./:@+-]*[a-z0-9]|[a-z0-9]")
_TOKEN = re.compile(r"[a-z0-9_./:'-]+|[^\x00-\x7f]")
_COMMAND = re.compile(
    r"^(Tests?|The tests|Builds?|Lint|Format\w*|The (build|linter|formatter))\b.{0,40}"
    r"\b(run|built|checked|formatted|done)\b.{0,20}`",
    re.IGNORECASE,
)
_NONE: Any = SimpleNamespace(title="", summary="", lessons=(), outcome=None)  # summary of a session that has none

Vectors = Mapping[str, NDArray[np.float32]]
Finder = Callable[[Query, Corpus], Sequence[UUID]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A mean over *n* items; without items it is not measured. `in_tokens`, it is no share."""

    name: str
    value: float = 0.0
    n: int = 0
    lower_is_better: bool = False
    in_tokens: bool = False
    target: float | None = None


def mean_of(name: str, items: Iterable[float], *, lower: bool = False, **more: Any) -> Measure:
    found = [float(item) for item in items]
    return Measure(name=name, value=fmean(found or [0.0]), n=len(found), lower_is_better=lower, **more)


@lru_cache(maxsize=8192)
def _words(text: str) -> frozenset[str]:
    """Return the content words and literals of *text*, up to six characters of each."""
    found = (word for word in _WORD.findall(text.lower()) if word not in _STOP)
    return frozenset(word[:6] for word in found if len(word) > 1 or word.isdigit())


def overlap(said: str, gold: str) -> tuple[float, float]:
    """Return the shares of the words of *gold* that *said* has, and of *said* that *gold* has."""
    one, other = _words(said), _words(gold)
    return len(one & other) / max(len(other), 1), len(one & other) / max(len(one), 1)


def says(said: str, gold: str, *, precision: float = 0.25) -> bool:
    recall, share = overlap(said, gold)
    return recall >= 0.5 and share >= precision


def _cut(text: str, most: int) -> str:
    return " ".join(text.split()[:most])


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Memory of a session: its episode, the candidates that pass the filter, the current facts.

    `turns` are those of the transcript. `true_facts` tells which true facts the checks of a model's facts keep.
    """

    episode: Episode | None
    candidates: Sequence[CandidateFact]
    facts: Sequence[str]
    turns: Collection[int]
    true_facts: Sequence[bool] = ()

    @property
    def summary(self) -> Any:
        return self.episode.summary if self.episode else _NONE

    @property
    def texts(self) -> Sequence[str]:
        """The first facts, each cut: a flood of words must not pay."""
        return [_cut(text, 40) for text in self.facts][:10]

    def covers(self, gold: str) -> bool:
        """Return whether a fact or the summary has half of the words of *gold*."""
        return any(says(text, gold, precision=0.08) for text in (*self.texts, _cut(self.summary.summary, 150)))


def of_sessions(gold: Gold, results: Mapping[str, Result], *, by_model: bool) -> Iterator[Measure]:
    rows = [(row, results[row.file]) for row in gold.sessions]
    right = [result.summary.outcome in {row.outcome, row.alt_outcome or row.outcome} for row, result in rows]
    yield mean_of("outcomes right", right)
    sure = [result.episode is not None and result.episode.is_sure for _, result in rows]
    yield mean_of("sure outcomes right", [is_right for is_right, is_sure in zip(right, sure, strict=True) if is_sure])
    titles = [overlap(_cut(result.summary.title, 10), row.title)[0] for row, result in rows]
    yield mean_of("words of gold titles", titles)
    yield mean_of("titles with none of them", [not share for share in titles], lower=True)
    yield from _of_facts(rows)
    yield mean_of("true facts kept by the checks", [kept for each in results.values() for kept in each.true_facts])
    made = [result for result in results.values() if result.episode]
    traced = [each.turns and each.quotes and {*each.turns} <= {*one.turns} for one in made for each in one.candidates]
    yield mean_of("traced facts", map(bool, traced), target=0.5)
    tokens = [estimate(one.summary.summary) for one in made]
    yield mean_of("tokens of a summary", tokens, lower=True, in_tokens=True, target=250)
    yield mean_of("partial episodes", [one.summary.outcome == "partial" for one in made], lower=True, target=0.4)
    lessons = [(row, results[row.file].summary.lessons) for row in gold.lessons if row.deserves]
    useful = [any(_is_of(row, *lesson) for lesson in found) for row, found in lessons]
    yield mean_of("useful lessons", useful, target=0.7 if by_model else 0.4)
    yield mean_of("sessions with a lesson", [bool(found) for _, found in lessons])
    others = [bool(results[row.file].summary.lessons) for row in gold.lessons if not row.deserves]
    yield mean_of("other sessions with a lesson", others, lower=True)
    if by_model:
        yield mean_of("episodes by the model", [each.episode.tier is Tier.LLM for each in made if each.episode])


def _is_of(gold: GoldLesson, text: str, turns: Collection[int]) -> bool:
    """Return whether a lesson says the gold's, or has a word of it and rests on a turn of it."""
    is_near = not {*gold.turns}.isdisjoint(turns) and overlap(text, gold.lesson or "")[0] > 0
    return is_near or says(text, gold.lesson or "")


def _of_facts(rows: Sequence[tuple[GoldSession, Result]]) -> Iterator[Measure]:
    right: list[bool] = []
    wrong: list[bool] = []
    for row, result in rows:
        known = [each.text for each in (*row.facts, *row.answers)]
        for text in (text for text in result.texts if not _COMMAND.search(text)):
            good = max((overlap(text, each)[0] for each in known if says(text, each)), default=0.0)
            bad = max((overlap(text, each.text)[0] for each in row.not_facts), default=0.0)
            right.append(good > 0)
            wrong.append(bad >= 0.6 and bad > good)
    must = [result.covers(fact.text) for row, result in rows for fact in row.facts if fact.level == "must"]
    yield mean_of("facts that match gold", right)
    yield mean_of("facts that match a non-fact", wrong, lower=True)
    yield mean_of("gold facts covered", must)
    yield mean_of("answers kept", [result.covers(each.text) for row, result in rows for each in row.answers])


def of_pairs(verdicts: Mapping[GoldPair, str]) -> Iterator[Measure]:
    """Measure the verdicts on the later statement of each pair."""
    same, merged = {"same", "a_in_b", "b_in_a"}, {"known", "richer"}
    found = [(pair.label, verdict) for pair, verdict in verdicts.items()]
    others = [verdict in merged for label, verdict in found if label not in same]
    wrong = [verdict == "supersedes" for label, verdict in found if label in {"both", "apart"}]
    yield mean_of("repeats merged", [verdict in merged for label, verdict in found if label in same])
    yield mean_of("others merged", others, lower=True, target=0.02)
    yield mean_of("updates recognized", [verdict == "supersedes" for label, verdict in found if label == "update"])
    yield mean_of("others taken for updates", wrong, lower=True)


class SearchQuestion(NamedTuple):
    """A question made of a learning; another learning of its session answers it."""

    learning: Learning
    form: str
    text: str


def of_search(learnings: Sequence[Learning], embedder: Embedder) -> Iterator[Measure]:
    """Ask the second half of the questions. The weights of the search were chosen on the first."""
    asking = [each for each in questions(learnings) if each.learning.number // PARTS % 2]
    texts = list(dict.fromkeys((*(each.fact for each in learnings), *(each.text for each in asking))))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if asking else {}
    corpora = corpora_of(learnings, vectors, embedder.id) if asking else []
    places = [place(each, corpora, vectors) for each in asking]
    yield mean_of("search hit@10", [at > 0 for at in places])
    yield mean_of("search MRR", [1 / at if at else 0.0 for at in places])


def questions(learnings: Sequence[Learning]) -> Sequence[SearchQuestion]:
    forms = ((each, form, make(each.fact.split())) for each in learnings for form, make in FORMS.items())
    return [SearchQuestion(each, form, " ".join(words)) for each, form, words in forms if len(words) > 1]


def corpora_of(learnings: Sequence[Learning], vectors: Vectors, embedder: str) -> Sequence[Corpus]:
    """Return the corpora in which questions of each part are asked: they lack its learnings."""
    parts = [[each for each in learnings if each.number % PARTS != part] for part in range(PARTS)]
    return [Corpus(scope_index=scope_index(part, vectors, embedder)) for part in parts]


def scope_index(learnings: Sequence[Learning], vectors: Vectors, embedder: str) -> ScopeIndex:
    knowledge = FactIndex(embedder_id=embedder, dim=len(next(iter(vectors.values()))))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for each in learnings:
        episode = uuid5(NAMESPACE, each.session)
        source = Source(episode_id=episode, event_id=episode, session_id=each.session, turns=())
        context = LearnContext(scope=Scope(), source=source, policy=Policy(), at=at)
        fact = claimed(CandidateFact(text=each.fact), context).fact
        knowledge.extend([Learned(fact=fact, reason="", embedded_by=embedder)], {fact.id: vectors[each.fact]})
    return ScopeIndex(knowledge)


def hybrid(query: Query, corpus: Corpus) -> Sequence[UUID]:
    return [hit.id for hit in search(asked(query.text, lambda _: np.array([query.vector])), corpus, limit=10)]


def place(question: SearchQuestion, corpora: Sequence[Corpus], vectors: Vectors, find: Finder = hybrid) -> int:
    """Return the place of the first answer among the first ten, from 1; 0 without one."""
    corpus = corpora[question.learning.number % PARTS]
    found = find(Query(question.text, vector=vectors[question.text]), corpus)
    sessions = [corpus.scope_index.knowledge[fact_id].fact.source.session_id for fact_id in found]
    return sessions.index(question.learning.session) + 1 if question.learning.session in sessions else 0


def of_excerpts(sets: Mapping[str, Sequence[GoldExcerpt]]) -> Iterator[Measure]:
    """Measure what is kept of sessions that are clearly longer than a budget."""
    for name, sessions in sets.items():
        transcripts = [(session, transcript_of(session.turns)) for session in sessions]
        for budget in BUDGETS:
            scores = [kept_of(fit(each, budget).text, one.gold) for one, each in transcripts if one.exceeds(budget)]
            kept = means(scores)
            of_set = {f"must-keep of {name}": must_keep(kept), f"summary words of {name}": kept.get("ref_word")}
            for what, share in of_set.items():
                if share is not None:
                    yield Measure(name=f"{what} at {budget:,}", value=share, n=len(scores))
    if not sets:
        yield mean_of("must-keep of excerpts", [])


def kept_of(text: str, gold: Sequence[tuple[str, str, str]]) -> Mapping[str, float]:
    """Return the share of each category of *gold* that an excerpt has.

    A text counts by its sequences of four tokens, a path by its file name, an id or a word as it is.
    """
    low = text.lower()
    tokens = _TOKEN.findall(low)
    runs, flat, words = frozenset(_runs(tokens)), " ".join(tokens), set(re.findall(r"[a-z][a-z0-9']{2,}", low))
    shares: dict[str, list[float]] = {}
    for category, kind, item in gold:
        wanted = _TOKEN.findall(item.lower()) if kind == "text" else []
        if len(wanted) > 3:
            share = fmean(run in runs for run in _runs(wanted))
        elif kind == "text":
            share = float(" ".join(wanted) in flat)
        else:
            named = item.rstrip("/").rpartition("/")[2].lower() if kind == "path" else item
            share = float(named in (words if kind == "word" else low))
        if wanted or kind != "text":
            shares.setdefault(category, []).append(share)
    return {category: fmean(found) for category, found in shares.items()}


def _runs(tokens: Sequence[str]) -> Sequence[tuple[str, ...]]:
    return [tuple(tokens[at : at + 4]) for at in range(len(tokens) - 3)]


def means(scores: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """Return the mean of each category over the excerpts that have it."""
    categories = sorted({category for score in scores for category in score})
    return {category: fmean(score[category] for score in scores if category in score) for category in categories}


def must_keep(kept: Mapping[str, float]) -> float | None:
    return fmean(found) if (found := [kept[name] for name in MUST if name in kept]) else None
