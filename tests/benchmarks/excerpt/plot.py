"""The figures as one drawing: what is kept against the budget, and what it costs against the size."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, floor, log10
from statistics import mean

from nous.excerpt import BUDGET

from .chart import HEIGHT, WIDTH, Axis, Line, Panel, drawn
from .growth import LIMITS, Cost
from .retention import MUST, Retention
from .sheet import BASELINE, LIMIT, STYLES, sheet

COLUMNS = 3
OTHERS: Mapping[str, str] = {"ref_id": "identifiers of a summary", "ref_word": "words of a summary"}
"""Categories that have a panel of their own, and how that is called."""

_STEPS = 5
"""From nothing to all, on the axis of shares."""

_TITLE = "What an excerpt keeps, by budget, and what it costs, by size"

Share = tuple[Retention, float]


def plotted(figures: Sequence[Retention], by_size: Sequence[Cost], strategies: Sequence[str]) -> str:
    """An SVG file: what must be kept of each data set, what summaries used, and the cost.

    Strategies beyond the fifth have no style, and are left out.
    """
    panels = [*_retention_panels(figures, strategies), *([_cost_panel(by_size, strategies)] if by_size else [])]
    drawings = [
        element
        for number, panel in enumerate(panels)
        for element in drawn(panel, left=number % COLUMNS * WIDTH, top=number // COLUMNS * HEIGHT)
    ]
    return sheet(drawings, columns=min(COLUMNS, len(panels)), rows=ceil(len(panels) / COLUMNS), title=_TITLE)


def _retention_panels(figures: Sequence[Retention], strategies: Sequence[str]) -> Iterator[Panel]:
    """All with the same axis of shares, so that they can be compared."""
    wanted = {f"{data}: what must be kept": (data, MUST) for data in dict.fromkeys(figure.data for figure in figures)}
    wanted |= {name: ("", (category,)) for category, name in OTHERS.items()}
    shares = {title: _shares(figures, data, categories) for title, (data, categories) in wanted.items()}
    low = min((share for found in shares.values() for _, share in found), default=0.0)
    axis = _share_axis(min(floor(low * _STEPS), _STEPS - 1))
    yield from (_retention_panel(title, found, strategies, axis) for title, found in shares.items() if found)


def _shares(figures: Sequence[Retention], data: str, categories: Sequence[str]) -> list[Share]:
    """What each of the *figures* has to say of *categories*, of one data set or, if that is empty, of all."""
    found = ((figure, figure.mean_of(categories)) for figure in figures if data in {"", figure.data})
    return [(figure, share) for figure, share in found if share is not None]


def _share_axis(low: int) -> Axis:
    ticks = {step / _STEPS: f"{step / _STEPS:.0%}" for step in range(low, _STEPS + 1)}
    return Axis("share kept", ticks, low=min(ticks), high=1)


def _retention_panel(title: str, shares: Sequence[Share], strategies: Sequence[str], axis: Axis) -> Panel:
    budgets = sorted({figure.budget for figure, _ in shares})
    return Panel(
        title,
        x=_log_axis("budget in characters", {budget: _thousands(budget) for budget in budgets}),
        y=axis,
        lines=[
            Line(strategy, style, [(budget, _mean_at(budget, strategy, shares)) for budget in budgets])
            for strategy, style in zip(strategies, STYLES, strict=False)
        ],
    )


def _mean_at(budget: int, strategy: str, shares: Sequence[Share]) -> float:
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
    round_numbers = _round_numbers(min(spent), max(spent))
    return Panel(
        f"cost of an excerpt of {_thousands(BUDGET)}",
        x=_log_axis("transcript in MB", {cost.size: f"{cost.size:g}" for cost in sizes}),
        y=_log_axis("ms of CPU per MB", {number: f"{number:g}" for number in round_numbers}),
        lines=lines,
    )


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 and so on, from the last that is not above *low* to the first that is not below *high*."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    numbers = [first * 10.0**power for power in powers for first in (1, 2, 5)]
    least = max(number for number in numbers if number <= low)
    most = min(number for number in numbers if number >= high)
    return [number for number in numbers if least <= number <= most]


def _log_axis(label: str, ticks: Mapping[float, str]) -> Axis:
    """An axis from the first tick to the last; a tick that stands alone is in the middle."""
    low, high = min(ticks), max(ticks)
    around = 1 if low < high else 2
    return Axis(label, ticks, low / around, high * around, is_log=True)


def _thousands(number: int) -> str:
    return f"{number // 1000}k" if number % 1000 == 0 else f"{number:,}"
