"""One panel of lines, in SVG: two axes, and each line named at its end rather than in a legend."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log

WIDTH, HEIGHT = 320, 262
"""Of a panel with all that belongs to it, in pixels."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 236, 52, 206
"""Where the lines are, within a panel."""

_NAMES = _RIGHT + 22
_APART = 13
"""Between the names of two lines."""


@dataclass(frozen=True, slots=True)
class Axis:
    """From *low* to *high*; `ticks` are the values that are written beside it."""

    label: str
    ticks: Mapping[float, str]
    low: float
    high: float
    is_log: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1."""
        if self.is_log:
            return log(value / self.low) / log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Line:
    """`style` is the class by which the sheet colours it."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]
    has_dots: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]


def drawn(panel: Panel, *, left: float, top: float) -> Iterator[str]:
    """The elements of *panel*, with its corner at *left* and *top*."""
    yield f'<g transform="translate({left:g} {top:g})">'
    yield _text(_LEFT, 20, panel.title, "title")
    yield _text(_LEFT, 37, panel.y.label, "faint")
    yield _text((_LEFT + _RIGHT) / 2, _BOTTOM + 36, panel.x.label, "faint middle")
    yield from _grid(panel)
    for line in panel.lines:
        yield from _curve(panel, line)
    yield from _names(panel)
    yield "</g>"


def spread(wanted: Sequence[float], *, apart: float, low: float, high: float) -> list[float]:
    """Places near the *wanted* ones and in their order, *apart*, and between *low* and *high* if there is room."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    places = list(wanted)
    least = low
    for index in order:
        places[index] = max(places[index], least)
        least = places[index] + apart
    most = high
    for index in reversed(order):
        places[index] = min(places[index], most)
        most = places[index] - apart
    return places


def _grid(panel: Panel) -> Iterator[str]:
    for value, name in panel.y.ticks.items():
        y = _y(panel, value)
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>'
        yield _text(_LEFT - 8, y + 4, name, "faint end")
    for value, name in panel.x.ticks.items():
        yield _text(_x(panel, value), _BOTTOM + 18, name, "faint middle")


def _curve(panel: Panel, line: Line) -> Iterator[str]:
    points = [(_x(panel, x), _y(panel, y)) for x, y in line.points]
    yield f'<path class="line {line.style}" d="M{" ".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'
    if line.has_dots:
        yield from (f'<circle class="dot {line.style}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)


def _names(panel: Panel) -> Iterator[str]:
    ends = [(_x(panel, line.points[-1][0]), _y(panel, line.points[-1][1])) for line in panel.lines]
    places = spread([y for _, y in ends], apart=_APART, low=_TOP, high=_BOTTOM)
    for line, (x, y), place in zip(panel.lines, ends, places, strict=True):
        yield f'<path class="lead {line.style}" d="M{x + 5:.1f} {y:.1f}L{_NAMES - 8} {place:.1f}h5"/>'
        yield _text(_NAMES, place + 4, line.name, "name")


def _x(panel: Panel, value: float) -> float:
    return _LEFT + panel.x.share(value) * (_RIGHT - _LEFT)


def _y(panel: Panel, value: float) -> float:
    return _BOTTOM - panel.y.share(value) * (_BOTTOM - _TOP)


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text x="{x:.4g}" y="{y:.4g}" class="{style}">{escape(text)}</text>'
