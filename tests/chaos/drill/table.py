"""The table that a run of drills ends in."""

from collections.abc import Iterable

from chaos.drill.drive import Outcome
from chaos.drill.stage import LEASE, SWEEP

_HEADS = (
    "kind",
    "events",
    "faults",
    "lost",
    "cut off",
    "doubled",
    "run twice",
    "dead",
    "bystanders",
    "p50 s",
    "max s",
    "accounts",
    "took s",
)


def table(outcomes: Iterable[Outcome]) -> str:
    """A row for each drill; recovery is from a fault, or its end, until all that was in flight is through."""
    rows = [_HEADS, *(_row(outcome) for outcome in outcomes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = (
        "  ".join(
            cell.ljust(width) if not at else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join([f"lease {LEASE:g} s, sweep every {SWEEP:g} s", *lines])


def _row(outcome: Outcome) -> tuple[str, ...]:
    report, size = outcome.report, outcome.size
    times = outcome.recoveries
    return (
        outcome.kind,
        str(size.events),
        str(size.faults),
        f"{report.missing}",
        str(len(report.cut_off)),
        str(report.doubled),
        str(report.run_twice),
        str(len(report.dead)),
        str(len(report.bystanders)),
        f"{times[len(times) // 2]:.1f}" if times else "-",
        f"{times[-1]:.1f}" if times else "-",
        f"off by {report.imbalance}" if report.imbalance else "exact",
        f"{outcome.seconds:.0f}",
    )
