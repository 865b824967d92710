"""What an excerpt costs, from short transcripts to very long ones, beside a bare `orjson` pass in the same run.

CPU time. The same sessions are joined to transcripts of each size, so that sizes differ in nothing but their size;
sizes above the sum of the sessions repeat them. The pass parses `{"role", "text"}` of each turn, one line each.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, cycle

import orjson
from common.measure import cpu

from nous.app.quality.gold import GoldExcerpt, GoldTurn, transcript_of
from nous.excerpt import BUDGET
from nous.transcript.model import Transcript

from .gold import excerpt_of, megabytes
from .retention import table

LIMITS: Mapping[str, float] = {"default": 15}
"""Passes of `orjson` that a strategy may take at most."""


def cost_lines(
    sessions: Sequence[GoldExcerpt], sizes: Sequence[float], strategies: Sequence[str], rounds: int
) -> Iterator[str]:
    """Milliseconds per megabyte at each size (in MB), in brackets in passes of `orjson`; then how limits are kept."""
    costs = {size: _cost(list(_turns(sessions, size)), strategies, rounds) for size in sizes}
    rows = [
        [f"{size:g} MB", f"{parsed:.2f}", *(f"{each:.1f} ({each / parsed:.1f}x)" for each in spent)]
        for size, (parsed, *spent) in costs.items()
    ]
    yield from table(["size", "orjson", *strategies], rows)
    yield ""
    parsed, *spent = costs[max(sizes)]
    for strategy, each in zip(strategies, spent, strict=True):
        ratio, limit = each / parsed, LIMITS.get(strategy)
        judged = f" (limit {limit:g}: {'kept' if ratio <= limit else 'MISSED'})" if limit else ""
        yield f"- {strategy}: {ratio:.1f}x orjson at {max(sizes):g} MB{judged}"


def _turns(sessions: Sequence[GoldExcerpt], size: float) -> Iterator[GoldTurn]:
    room = size * 1e6
    for turn in cycle(chain.from_iterable(session.turns for session in sessions)):
        yield turn
        room -= len(turn.text.encode())
        if room <= 0:
            return


def _cost(turns: Sequence[GoldTurn], strategies: Sequence[str], rounds: int) -> list[float]:
    """Of the pass and of each strategy: the best of *rounds*, in which all take turns."""
    lines = [orjson.dumps({"role": turn.role, "text": turn.text}) for turn in turns]
    transcript = transcript_of(turns)
    _fit(transcript, strategies[0])  # what is loaded at the first call is no matter of growth
    spent = [[cpu(_parse, lines), *(cpu(_fit, transcript, strategy) for strategy in strategies)] for _ in range(rounds)]
    return [1000 * min(times) / megabytes(turns) for times in zip(*spent, strict=True)]


def _parse(lines: Sequence[bytes]) -> None:
    for line in lines:
        orjson.loads(line)


def _fit(transcript: Transcript, strategy: str) -> None:
    excerpt_of(transcript, BUDGET, strategy)
