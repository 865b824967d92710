"""The table that a run of drills ends in."""

import math
from collections.abc import Callable, Iterable, Mapping

from chaos.drill.drive import Outcome
from chaos.drill.stage import LEASE, SWEEP

COLUMNS: Mapping[str, Callable[[Outcome], str]] = {
    "kind": lambda outcome: outcome.kind,
    "events": lambda outcome: str(outcome.size.events),
    "faults": lambda outcome: str(outcome.size.faults),
    "lost": lambda outcome: str(outcome.report.missing),
    "cut off": lambda outcome: str(len(outcome.report.cut_off)),
    "doubled": lambda outcome: str(outcome.report.doubled),
    "run twice": lambda outcome: str(outcome.report.run_twice),
    "dead": lambda outcome: str(len(outcome.report.dead)),
    "bystanders": lambda outcome: str(len(outcome.report.bystanders)),
    "p50 s": lambda outcome: _recovery(outcome, 0.5),
    "max s": lambda outcome: _recovery(outcome, 1.0),
    "accounts": lambda outcome: f"off by {outcome.report.imbalance}" if outcome.report.imbalance else "exact",
    "took s": lambda outcome: f"{outcome.seconds:.0f}",
}
"""What is shown of a drill; recovery is from a fault, or its end, until all that was in flight is through."""


def _recovery(outcome: Outcome, share: float) -> str:
    """The seconds within which that share of faults had healed."""
    if not (times := outcome.recoveries):
        return "-"
    seconds = times[min(int(len(times) * share), len(times) - 1)]
    return "later" if seconds == math.inf else f"{seconds:.1f}"


def table(outcomes: Iterable[Outcome]) -> str:
    """A row for each drill."""
    rows = [tuple(COLUMNS), *(tuple(show(outcome) for show in COLUMNS.values()) for outcome in outcomes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)
    return "\n".join([f"lease {LEASE:g} s, sweep every {SWEEP:g} s", *lines])
