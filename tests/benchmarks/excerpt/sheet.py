"""The page that panels are drawn on: its size, its ground and its colours, on light pages and on dark ones.

The colours are Okabe and Ito's, which people of every colour vision tell apart; dashes and names say the same again.
It has a ground of its own, since a page may be light while the reader's system is dark.
"""

from collections.abc import Sequence

from .chart import HEIGHT, WIDTH

STYLES = ("first", "second", "third", "fourth", "fifth")
"""Classes of lines, the most important first. It is the broadest, so that it shows below those drawn over it."""

BASELINE, LIMIT = "baseline", "limit"
"""Classes of lines that are there to compare with."""

_MARGIN = 12
_CSS = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.title { font-size: 13px; font-weight: 600; }
.faint { fill: #59636e; font-size: 11px; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.ground { fill: #ffffff; }
.grid { stroke: #d1d9e0; }
.line, .lead { fill: none; stroke-linejoin: round; }
.line { stroke-width: 1.6; }
.lead { opacity: .6; }
.dot { stroke: none; }
.first { stroke: #0072b2; fill: #0072b2; }
.second { stroke: #d55e00; fill: #d55e00; }
.third { stroke: #009e73; fill: #009e73; }
.fourth { stroke: #b3558f; fill: #b3558f; }
.fifth { stroke: #a87900; fill: #a87900; }
.baseline, .limit { stroke: #59636e; fill: #59636e; }
.line.first { stroke-width: 4.4; }
.line.second { stroke-width: 2; }
.dot.first { r: 4.4px; }
.line.third { stroke-dasharray: 7 3; }
.line.fourth { stroke-dasharray: 2 3; }
.line.fifth { stroke-dasharray: 7 3 2 3; }
.line.limit { stroke-width: 1.2; stroke-dasharray: 3 4; }
path.line, path.lead { fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .faint { fill: #9198a1; }
  .ground { fill: #0d1117; }
  .grid { stroke: #2b323b; }
  .first { stroke: #56b4e9; fill: #56b4e9; }
  .second { stroke: #f08a3c; fill: #f08a3c; }
  .third { stroke: #2fc79a; fill: #2fc79a; }
  .fourth { stroke: #d890bb; fill: #d890bb; }
  .fifth { stroke: #e6b422; fill: #e6b422; }
  .baseline, .limit { stroke: #9198a1; fill: #9198a1; }
}
"""


def sheet(drawings: Sequence[str], *, columns: int, rows: int, title: str) -> str:
    """*drawings* of so many *columns* and *rows* of panels, as an SVG file."""
    width, height = columns * WIDTH + 2 * _MARGIN, rows * HEIGHT + 2 * _MARGIN
    box = f"0 0 {width} {height}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="{box}" role="img">',
            f"<title>{title}</title>",
            f"<style>{_CSS}</style>",
            f'<rect class="ground" width="{width}" height="{height}" rx="8"/>',
            f'<g transform="translate({_MARGIN} {_MARGIN})">',
            *drawings,
            "</g>",
            "</svg>\n",
        ]
    )
