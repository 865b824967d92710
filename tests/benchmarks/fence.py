"""What the fence is worth: the same faults, drawn from the same seed, against nous and against RQ without a fence.

Without it a consumer acknowledges an event when its job is queued, as tests/chaos/drill/plain_work.py tells. Both make
episodes and facts of the same sessions by the same handlers. In each cell: nous / plain.

    lost        sessions, facts and announcements of facts that are missing in the end
    doubled     events and facts that are there more than once
    run twice   runs of handlers beyond the first for an event; nous runs again what a dead process had in flight
    stuck       jobs that nobody worked on any more until RQ's housekeeping, which is done at once here, and comes up to
                ten minutes later
    given up    sessions that nobody will try again: dead letters, or RQ's failed jobs
    p50 s       seconds from a fault until what the system lists as being handled is through, which RQ does not list
                any more when its queue is lost; "later": not before that housekeeping

    python tests/benchmarks/fence.py                                          # a few kinds, some minutes
    python tests/benchmarks/fence.py --kinds all --events 300 --faults 6      # all kinds that both can meet
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where pytest looks for these as well

from chaos.drill.crew import Nursery
from chaos.drill.drive import Outcome, drill
from chaos.drill.fault import faults
from chaos.drill.plain import Plain
from chaos.drill.size import Size
from chaos.drill.stage import LEASE, SWEEP
from chaos.drill.system import PROCESSES, Nous
from chaos.drill.table import COLUMNS

FEW = ("worker killed", "work-horse killed", "server killed", "queue lost")
KINDS = (
    *FEW,
    "worker drained",
    "fleet killed",
    "parent killed",
    "group killed",
    "server down",
    "server stalled",
    "replies lost",
)

_COLUMNS: dict[str, Callable[[Outcome], str]] = {
    **{name: COLUMNS[name] for name in ("lost", "doubled", "run twice")},
    "stuck": lambda outcome: str(outcome.stuck),
    "given up": COLUMNS["dead"],
    "p50 s": COLUMNS["p50 s"],
}


def main(kinds: Sequence[str], size: Size) -> None:
    print(f"seed {size.seed}; {PROCESSES} processes each; nous: lease {LEASE:g} s, sweep every {SWEEP:g} s")
    print("| kind | events | faults |", " | ".join(_COLUMNS), "|")
    print("|---|--:|--:|" + "--:|" * len(_COLUMNS))
    with Nursery() as nursery:
        for kind in kinds:
            ours, theirs = (drill(faults()[kind](), size, nursery, system) for system in (Nous(), Plain()))
            cells = (f"{show(ours)} / {show(theirs)}" for show in _COLUMNS.values())
            print(f"| {kind} | {size.events} | {size.faults} |", " | ".join(cells), "|", flush=True)


def _kinds(text: str) -> Sequence[str]:
    return KINDS if text == "all" else text.split(",")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kinds", type=_kinds, default=FEW, help=f"all, or some of {', '.join(KINDS)}")
    parser.add_argument("--events", type=int, default=40)
    parser.add_argument("--faults", type=int, default=3)
    parser.add_argument("--outage", type=float, default=2.0, help="seconds that a server is out")
    parser.add_argument("--seed", type=int, default=20260117)
    given = parser.parse_args()
    main(given.kinds, Size(events=given.events, faults=given.faults, outage=given.outage, seed=given.seed))
