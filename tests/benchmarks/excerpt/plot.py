"""The figures as one drawing: what is kept against the budget, and what it costs against the size."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, log10
from statistics import mean

from .chart import HEIGHT, WIDTH, Axis, Line, Panel, drawn
from .growth import LIMITS, Cost
from .retention import MUST, Retention
from .sheet import BASELINE, LIMIT, STYLES, sheet

COLUMNS = 3
OTHERS: Mapping[str, str] = {"ref_id": "identifiers of a summary", "ref_word": "words of a summary"}
"""Categories that have a panel of their own, and how that is called."""

_STEP = 0.2
_TITLE = "What an excerpt keeps, by budget, and what it costs, by size"


def plotted(figures: Sequence[Retention], by_size: Sequence[Cost], strategies: Sequence[str]) -> str:
    """An SVG file: what must be kept of each data set, what summaries used, and the cost."""
    panels = [*_retention_panels(figures, strategies), _cost_panel(by_size, strategies)]
    drawings = [
        element
        for number, panel in enumerate(panels)
        for element in drawn(panel, left=number % COLUMNS * WIDTH, top=number // COLUMNS * HEIGHT)
    ]
    return sheet(drawings, columns=min(COLUMNS, len(panels)), rows=ceil(len(panels) / COLUMNS), title=_TITLE)


def _retention_panels(figures: Sequence[Retention], strategies: Sequence[str]) -> Iterator[Panel]:
    for data in dict.fromkeys(figure.data for figure in figures):
        of_set = [figure for figure in figures if figure.data == data]
        yield from _retention_panel(f"{data}: what must be kept", of_set, MUST, strategies)
    for category, name in OTHERS.items():
        with_it = [figure for figure in figures if category in figure.kept]
        yield from _retention_panel(name, with_it, (category,), strategies)


def _retention_panel(
    title: str, figures: Sequence[Retention], categories: Sequence[str], strategies: Sequence[str]
) -> Iterator[Panel]:
    """A panel, if any of *figures* has one of *categories*."""
    shares = [(figure, share) for figure in figures if (share := figure.mean_of(categories)) is not None]
    if not shares:
        return
    budgets = sorted({figure.budget for figure, _ in shares})
    low = floor(min(share for _, share in shares) / _STEP) * _STEP
    ticks = {low + step * _STEP: f"{low + step * _STEP:.0%}" for step in range(round((1 - low) / _STEP) + 1)}
    yield Panel(
        title,
        x=_log_axis("budget in characters", {budget: _thousands(budget) for budget in budgets}),
        y=Axis("share kept", ticks, low=min(low, 1 - _STEP), high=1),
        lines=[
            Line(strategy, style, [(budget, _mean_at(budget, strategy, shares)) for budget in budgets])
            for strategy, style in zip(strategies, STYLES, strict=False)
        ],
    )


def _mean_at(budget: int, strategy: str, shares: Sequence[tuple[Retention, float]]) -> float:
    return mean(share for figure, share in shares if (figure.budget, figure.strategy) == (budget, strategy))


def _cost_panel(by_size: Sequence[Cost], strategies: Sequence[str]) -> Panel:
    sizes = sorted(by_size, key=lambda cost: cost.size)
    lines = [
        Line(strategy, style, [(cost.size, cost.spent[strategy]) for cost in sizes])
        for strategy, style in zip(strategies, STYLES, strict=False)
    ]
    lines.append(Line("orjson", BASELINE, [(cost.size, cost.orjson) for cost in sizes]))
    lines += (
        Line(f"{limit:g} x orjson", LIMIT, [(cost.size, limit * cost.orjson) for cost in sizes], has_dots=False)
        for limit in LIMITS.values()
    )
    spent = [y for line in lines for _, y in line.points]
    decades = [10.0**power for power in range(floor(log10(min(spent))), ceil(log10(max(spent))) + 1)]
    return Panel(
        "cost",
        x=_log_axis("transcript in MB", {cost.size: f"{cost.size:.2g}" for cost in sizes}),
        y=Axis("ms of CPU per MB", {value: f"{value:g}" for value in decades}, decades[0], decades[-1], is_log=True),
        lines=lines,
    )


def _log_axis(label: str, ticks: Mapping[float, str]) -> Axis:
    """An axis from the first tick to the last; a tick that stands alone is in the middle."""
    low, high = min(ticks), max(ticks)
    return Axis(label, ticks, low, high, is_log=True) if low < high else Axis(label, ticks, low / 2, high * 2, True)


def _thousands(number: int) -> str:
    return f"{number // 1000}k" if number % 1000 == 0 else f"{number:,}"
