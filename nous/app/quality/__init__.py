"""Measure the workers' handlers on gold, with the configured model, without a server."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from nous.app.from_settings import excerpts, policy, redactor
from nous.app.llm import llm_stack
from nous.app.memory import embedder
from nous.app.quality.gold import Gold
from nous.app.quality.measures import Measure, of_excerpts, of_pairs, of_search, of_sessions
from nous.app.quality.run import OfflinePipeline
from nous.domain.errors import Unavailable
from nous.embedding.base import CachedEmbedder
from nous.pipeline.worker import WorkerContext
from nous.settings.model import Settings

In = TypeVar("In")
Out = TypeVar("Out")
Progress = Callable[[Sequence[Any], str], Iterator[Any]]
"""Called with running tasks, and a noun for them; yields them in order."""

_AT_ONCE = 4  # sessions, or pairs, that wait for a model
_STORES = ("episodes", "decisions", "anchored_summaries", "session_states", "facts", "transcripts")


def measures_of(gold: Gold, settings: Settings, progress: Progress) -> Sequence[Measure]:
    """Measure all that *gold* has.

    Raises `Misconfigured` if the model cannot be used, and `Unavailable` if it wrote no episode.
    """
    model, vectors = settings.background_model, CachedEmbedder(embedder(settings))
    pipeline = _pipeline(settings, vectors)
    run = partial(_each, threads=_AT_ONCE if model else 1, progress=progress)
    results = run(partial(pipeline.result, gold=gold), gold.files, noun="sessions")
    made_do = [result.episode.made_do for result in results.values() if result.episode]
    if made_do and all(made_do):
        raise Unavailable(f"{model} wrote no episode: {made_do[0]}")
    verdicts = run(pipeline.verdict, gold.pairs, noun="pairs")
    of_all = (of_sessions(gold, results, by_model=bool(model)), of_pairs(verdicts), of_search(gold.learnings, vectors))
    return [measure for measures in (*of_all, of_excerpts(gold.excerpts)) for measure in measures]


def _pipeline(settings: Settings, vectors: CachedEmbedder) -> OfflinePipeline:
    clock = partial(datetime.now, UTC)
    llm = llm_stack(settings, None, excerpts=excerpts(settings), clock=clock)
    if llm.problem:
        raise llm.problem

    def context_over(store: Any) -> WorkerContext:
        stores: Any = dict.fromkeys(_STORES, store)
        return WorkerContext(
            **stores,
            embedder=vectors,
            clock=clock,
            summarizer=llm.summarizer,
            fact_extractor=llm.fact_extractor,
            adjudicator=llm.adjudicator,
            anchored_summarizer=llm.anchored_summarizer,
            excerpts=llm.anchored_summarizer.excerpts,
            policy=policy(settings),
        )

    return OfflinePipeline(context_over=context_over, redactor=redactor(settings.redact, lambda: None))


def _each(
    task: Callable[[In], Out], items: Iterable[In], *, noun: str, threads: int, progress: Progress
) -> Mapping[In, Out]:
    with ThreadPoolExecutor(threads) as pool:
        tasks = {item: pool.submit(task, item) for item in items}
        try:
            return dict(zip(tasks, [done.result() for done in progress([*tasks.values()], noun)], strict=True))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # after Ctrl-C or an error
