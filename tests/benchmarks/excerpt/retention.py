"""What an excerpt keeps of the gold, how well it fills its budget, and how long that takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from time import process_time

from nous.app.quality.gold import GoldExcerpt, transcript_of
from nous.app.quality.measures import MUST, kept_of, means, must_keep

from .gold import excerpt_of, megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """One strategy at one budget, over the sessions of a data set that are clearly longer.

    `kept` is the mean share by category, `fill` the mean share of the budget that is used, `over` how many excerpts
    exceed it, `cost` milliseconds of CPU per megabyte of the sessions' text.
    """

    data: str
    strategy: str
    budget: int
    sessions: int
    kept: Mapping[str, float]
    fill: float
    over: int
    cost: float

    @property
    def must(self) -> float | None:
        """The mean over those of `MUST` that the data set has; None if it has none of them."""
        return must_keep(self.kept)


def retention(
    data: str, sessions: Sequence[GoldExcerpt], *, strategies: Sequence[str], budgets: Sequence[int]
) -> Iterator[Retention]:
    """A figure for each budget and strategy at which *sessions* have any that are long enough."""
    for budget in budgets:
        long_ones = [session for session in sessions if session.exceeds(budget)]
        for strategy in strategies if long_ones else ():
            yield _figure(data, long_ones, strategy=strategy, budget=budget)


def retention_table(figures: Sequence[Retention]) -> Iterator[str]:
    """The *figures* of one data set, as Markdown."""
    found = {category for figure in figures for category in figure.kept}
    categories = [*(name for name in MUST if name in found), *sorted(found - set(MUST))]
    head = ["budget", "strategy", "n", "must", *categories, "fill", "over", "ms/MB"]
    yield from table(head, [_row(figure, categories) for figure in figures])


def _figure(data: str, sessions: Sequence[GoldExcerpt], *, strategy: str, budget: int) -> Retention:
    transcripts = [transcript_of(session.turns) for session in sessions]
    began = process_time()
    texts = [excerpt_of(transcript, budget, strategy) for transcript in transcripts]
    spent = process_time() - began
    scores = [kept_of(text, session.gold) for session, text in zip(sessions, texts, strict=True)]
    return Retention(
        data=data,
        strategy=strategy,
        budget=budget,
        sessions=len(sessions),
        kept=means(scores),
        fill=mean(len(text) for text in texts) / budget,
        over=sum(len(text) > budget for text in texts),
        cost=1000 * spent / sum(megabytes(session.turns) for session in sessions),
    )


def _row(figure: Retention, categories: Sequence[str]) -> list[str]:
    shares = [figure.must, *map(figure.kept.get, categories)]
    shown = ["" if share is None else f"{share:.3f}" for share in shares]
    measured = [f"{figure.fill:.2f}", str(figure.over), f"{figure.cost:.1f}"]
    return [str(figure.budget), figure.strategy, str(figure.sessions), *shown, *measured]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Aligned lines; a column is flush right unless it holds words."""
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    are_words = [any(cell[:1].isalpha() for cell in column[1:]) for column in columns]
    yield _line(head, widths, are_words)
    rule = ["-" * width if words else "-" * (width - 1) + ":" for width, words in zip(widths, are_words, strict=True)]
    yield f"| {' | '.join(rule)} |"
    for row in rows:
        yield _line(row, widths, are_words)


def _line(cells: Sequence[str], widths: Sequence[int], are_words: Sequence[bool]) -> str:
    columns = zip(cells, widths, are_words, strict=True)
    padded = (cell.ljust(width) if words else cell.rjust(width) for cell, width, words in columns)
    return f"| {' | '.join(padded)} |"
