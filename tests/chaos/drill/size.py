"""How large a drill is."""

import os
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Size:
    """*faults* are struck while *events* sessions are handled; an outage takes *outage* seconds.

    The seed draws every moment and every victim.
    """

    events: int
    faults: int
    outage: float
    seed: int

    @classmethod
    def chosen(cls) -> "Size":
        """Small, unless CHAOS_EVENTS, CHAOS_FAULTS, CHAOS_OUTAGE and CHAOS_SEED make it larger, or another."""
        return cls(
            events=int(os.environ.get("CHAOS_EVENTS", "40")),
            faults=int(os.environ.get("CHAOS_FAULTS", "2")),
            outage=float(os.environ.get("CHAOS_OUTAGE", "1")),
            seed=int(os.environ.get("CHAOS_SEED", "20260117")),
        )
