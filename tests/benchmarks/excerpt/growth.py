"""What an excerpt costs, from short transcripts to very long ones, beside a bare `orjson` pass in the same run.

CPU time. The same sessions are joined to transcripts of each size, so that sizes differ in nothing but their size;
sizes above the sum of the sessions repeat them. The pass parses `{"role", "text"}` of each turn, one line each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from statistics import median

import orjson
from common.measure import cpu

from nous.excerpt import BUDGET, fit
from nous.transcript.model import Transcript

from .gold import Session, Turn, megabytes, text_of, transcript_of
from .tables import table

LIMITS: Mapping[str, float] = {"default": 15, "fast": 5}
"""Passes of `orjson` that a strategy may take at most."""

_SETTLED = 1.0
"""The size in megabytes with which the largest is compared: below it, what every call costs still shows."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Transcripts of about *size* megabytes each, of *megabytes* together, and the same text as lines of JSON."""

    size: float
    megabytes: float
    transcripts: Sequence[Transcript]
    lines: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds per megabyte: of one pass of `orjson`, and of `fit` by strategy."""

    size: float
    transcripts: int
    orjson: float
    spent: Mapping[str, float]

    def ratio(self, strategy: str) -> float:
        return self.spent[strategy] / self.orjson


def joined(sessions: Sequence[Session], sizes: Sequence[float]) -> Iterator[Sample]:
    """For each size (in MB) as many transcripts of that size as cover the *sessions* once, at least one."""
    turns = list(chain.from_iterable(session.turns for session in sessions))
    whole = megabytes(turns)
    for size in sizes:
        yield _sample(size, list(_pieces(turns, size, count=max(1, int(whole / size)))))


def each(sessions: Sequence[Session]) -> Iterator[Sample]:
    """Every session on its own."""
    for session in sessions:
        yield _sample(session.megabytes, [session.turns])


def costs(samples: Sequence[Sample], strategies: Sequence[str], rounds: int) -> list[Cost]:
    """The best of *rounds* for each sample, nothing if there are none.

    In each round all take turns, as a shared machine has fast and slow spells.
    """
    if not rounds:
        return []
    # What is loaded at the first call is no matter of growth.
    _round(samples[:1], strategies)
    spent = [_round(samples, strategies) for _ in range(rounds)]
    best = [[min(times) for times in zip(*of_one, strict=True)] for of_one in zip(*spent, strict=True)]
    return [_cost(sample, strategies, times) for sample, times in zip(samples, best, strict=True)]


def cost_table(figures: Sequence[Cost], strategies: Sequence[str]) -> Iterator[str]:
    """Milliseconds per megabyte, and in brackets how many times that of `orjson`."""
    head = ["size", "number", "orjson", *strategies]
    rows = [
        [
            f"{figure.size:g} MB",
            str(figure.transcripts),
            f"{figure.orjson:.2f}",
            *(f"{figure.spent[strategy]:.1f} ({figure.ratio(strategy):.1f}x)" for strategy in strategies),
        ]
        for figure in figures
    ]
    yield from table(head, rows)


def verdicts(by_size: Sequence[Cost], by_session: Sequence[Cost], strategies: Sequence[str]) -> Iterator[str]:
    """A line for each strategy: the cost at the largest size against its limit, how it grew, and single sessions."""
    last = max(by_size, key=lambda figure: figure.size)
    first = min((figure for figure in by_size if figure.size >= _SETTLED), key=lambda f: f.size, default=last)
    for strategy in strategies:
        ratio = last.ratio(strategy)
        limit = LIMITS.get(strategy)
        judged = f" (limit {limit:g}: {'kept' if ratio <= limit else 'MISSED'})" if limit else ""
        grown = last.spent[strategy] / first.spent[strategy]
        worst = max(by_size, key=lambda figure: figure.ratio(strategy))
        alone = [figure.ratio(strategy) for figure in by_session]
        yield (
            f"- {strategy}: {ratio:.1f}x orjson at {last.size:g} MB{judged}, at most {worst.ratio(strategy):.1f}x at"
            f" {worst.size:g} MB; a MB costs {grown:.2f} times that at {first.size:g} MB;"
            f" sessions alone {median(alone):.1f}x in the median, {max(alone):.1f}x at worst"
        )


def _pieces(turns: Sequence[Turn], size: float, *, count: int) -> Iterator[Sequence[Turn]]:
    """*count* runs of turns, each the next ones that come to *size* megabytes; after the last turn comes the first."""
    endless = cycle(turns)
    for _ in range(count):
        yield list(_up_to(size, endless))


def _up_to(size: float, turns: Iterator[Turn]) -> Iterator[Turn]:
    room = size * 1e6
    for turn in turns:
        yield turn
        room -= len(text_of(turn).encode())
        if room <= 0:
            return


def _sample(size: float, pieces: Sequence[Sequence[Turn]]) -> Sample:
    lines = [orjson.dumps({"role": turn.get("role"), "text": text_of(turn)}) for piece in pieces for turn in piece]
    return Sample(size, sum(map(megabytes, pieces)), [transcript_of(piece) for piece in pieces], lines)


def _round(samples: Sequence[Sample], strategies: Sequence[str]) -> list[list[float]]:
    """Seconds for each sample: of the pass, which is taken before each strategy, then of each strategy."""
    return [_turns_about(sample, strategies) for sample in samples]


def _turns_about(sample: Sample, strategies: Sequence[str]) -> list[float]:
    times = [(cpu(_parse, sample), cpu(_fit, sample, strategy)) for strategy in strategies]
    return [min(parsed for parsed, _ in times), *(fitted for _, fitted in times)]


def _parse(sample: Sample) -> None:
    for line in sample.lines:
        orjson.loads(line)


def _fit(sample: Sample, strategy: str) -> None:
    for transcript in sample.transcripts:
        fit(transcript, BUDGET, strategy=strategy)


def _cost(sample: Sample, strategies: Sequence[str], seconds: Sequence[float]) -> Cost:
    parsed, *spent = (1000 * time / sample.megabytes for time in seconds)
    return Cost(sample.size, len(sample.transcripts), parsed, dict(zip(strategies, spent, strict=True)))
