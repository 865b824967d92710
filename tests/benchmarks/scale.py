"""What learning costs in a large scope: CPU, the start of a process, memory, and how they grow.

CPU of judging and storing a fact is set beside the bare product of all the scope's vectors with one, in the same run.
Of each session of ten, six facts are new, one repeats a text and three say what is known in another form. BLAS runs in
one thread, as in `nous worker`.

    python tests/benchmarks/scale.py                       # 1,000 to 100,000 facts
    python tests/benchmarks/scale.py --sizes 1000,10000
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any
from uuid import uuid5

from common.corpus import DIM, PER_SESSION, SESSIONS, Corpus, made_up
from common.measure import SUMMARY, cpu

from nous.app.container import Container, build
from nous.bus.base import Committed
from nous.domain.effects import AppendFacts, Effects
from nous.domain.episode import NAMESPACE, CandidateFact
from nous.domain.events import EpisodeSummarized
from nous.domain.fact import Fact, Learned, LogVersion, Source
from nous.domain.scope import Scope
from nous.knowledge.decision import announcements
from nous.pipeline.fact_learner import FactLearner
from nous.redis_server import embedded
from nous.settings.model import Settings
from nous.store.base import NO_VECTORS

FLOOR = 0.80
SCOPE = Scope(project="scale")
NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
_AT_ONCE = 2000
_ONE_THREAD = "OPENBLAS_NUM_THREADS"


def main(sizes: Sequence[int]) -> None:
    print(f"{'facts':>9} {'bare ms':>8} {'learn ms':>9} {'ratio':>6} {'server ms':>10}  verdicts")
    for size in sizes:
        with ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nous-")))
            stack.callback(embedded.stop, directory)
            _measure_learning(size, _settings(directory))
            _measure_start(directory)


def _settings(directory: Path) -> Settings:
    return Settings(data_dir=directory, embedder="hashed")


def _measure_learning(size: int, settings: Settings) -> None:
    corpus, container = Corpus.of(size + SESSIONS * PER_SESSION), build(settings)
    _fill(container, corpus, size)
    fact_learner = FactLearner(replace(container.context, embedder=corpus))
    with container.context.fact_cache.current(container.context.facts, SCOPE, corpus) as knowledge:
        knowledge.near(corpus.vectors[0], FLOOR)
    whole, asked = corpus.vectors[:size].copy(), corpus.vectors[-1]
    bare: list[float] = []
    taught: list[float] = []
    verdicts = Counter[str]()
    before = _server_cpu(container)

    def learn(candidates: Sequence[CandidateFact], number: int) -> None:
        verdicts.update(_teach(container, fact_learner, candidates, number))

    for number, candidates in enumerate(corpus.sessions(size)):
        bare.append(cpu(lambda: whole @ asked))
        taught.append(cpu(learn, candidates, number) / PER_SESSION)
    server = (_server_cpu(container) - before) / SESSIONS / PER_SESSION
    ratio = median(taught) / median(bare)
    print(
        f"{size:>9,} {median(bare) * 1000:>8.2f} {median(taught) * 1000:>9.2f} {ratio:>6.2f} {server * 1000:>10.2f}"
        f"  {dict(verdicts)}",
        flush=True,
    )


def _teach(
    container: Container, fact_learner: FactLearner, candidates: Sequence[CandidateFact], number: int
) -> Iterator[str]:
    """Judge and store what a session says, and announce it, as the worker does; the verdicts."""
    cause = _cause(number)
    source = Source(episode_id=cause.episode_id, event_id=cause.id, session_id=cause.session_id, turns=())
    lesson = fact_learner.ingest(candidates, scope=SCOPE, source=source)
    assert lesson.append.rows
    told = tuple(announcements(cause, lesson.fact_decisions, by="benchmark", at=NOW))
    assert isinstance(container.bus.apply(Effects(writes=(lesson.append,), events=told)), Committed)
    return (fact_decision.verdict.name for fact_decision in lesson.fact_decisions)


def _cause(number: int) -> EpisodeSummarized:
    event_id = uuid5(NAMESPACE, f"session {number}")
    return EpisodeSummarized(
        id=event_id,
        time=NOW,
        source="benchmark",
        scope=SCOPE,
        agent_id="default",
        session_id=f"s{number}",
        trace_id=event_id,
        episode_id=event_id,
        version="",
        summary=SUMMARY,
    )


def _fill(container: Container, corpus: Corpus, size: int) -> None:
    """Store the first *size* texts as facts, without judging them."""
    version = LogVersion()
    for start in range(0, size, _AT_ONCE):
        rows = [_learned(corpus, number) for number in range(start, min(start + _AT_ONCE, size))]
        vectors = {row.fact.id: corpus.vectors[start + away] for away, row in enumerate(rows)}
        append = AppendFacts(scope=SCOPE, expected=version, rows=tuple(rows), vectors=vectors)
        assert isinstance(container.bus.apply(Effects(writes=(append,))), Committed)
        version = container.context.facts.read(SCOPE, after=version, embedder=NO_VECTORS).version


def _learned(corpus: Corpus, number: int) -> Learned:
    cause = _cause(-1 - number // PER_SESSION)
    fact = Fact(
        id=uuid5(NAMESPACE, f"fact {number}"),
        scope=SCOPE,
        text=corpus.texts[number],
        category=CandidateFact(text="-").category,
        subject="",
        confidence=0.9,
        source=Source(episode_id=cause.episode_id, event_id=cause.id, session_id=cause.session_id, turns=(1,)),
        learned_at=NOW,
    )
    return Learned(fact=fact, reason="nothing known is near", embedded_by=corpus.id)


def _measure_start(directory: Path) -> None:
    command = [sys.executable, __file__, "--start", str(directory)]
    print(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip(), flush=True)


def start(directory: Path) -> None:
    """Read the scope, find what is near a vector, and print what that took."""
    container = build(_settings(directory))
    embedder: Any = type("MadeUp", (), {"id": "made-up", "dim": DIM})()
    before, began = _memory(), process_time()
    with container.context.fact_cache.current(container.context.facts, SCOPE, embedder) as knowledge:
        read = process_time() - began
        knowledge.near(made_up(1, seed=1)[0], FLOOR)
    print(f"{'':>9} a cold process: {read:.1f} s of CPU, {_memory() - before:.0f} MB more than the {before:.0f} of any")


def _server_cpu(container: Container) -> float:
    """Seconds of CPU that the server has taken."""
    client: Any = container.client
    info = client.info("cpu")
    return info["used_cpu_user"] + info["used_cpu_sys"]


def _memory() -> float:
    """Resident MB of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if int(part)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=_numbers, default=[1000, 10_000, 100_000])
    parser.add_argument("--start", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if _ONE_THREAD not in os.environ:
        sys.exit(
            subprocess.run([sys.executable, *sys.argv], env=os.environ | {_ONE_THREAD: "1"}, check=False).returncode
        )
    if given.start:
        start(given.start)
    else:
        main(given.sizes)
