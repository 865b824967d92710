"""Look up an excerpt strategy by name: a module here, or an entry point `nous.strategies`."""

import sys
from functools import cache

from nous.domain.errors import BadInput
from nous.domain.plug_ins import PlugIns
from nous.excerpt.strategy import Strategy

STRATEGIES = PlugIns(sys.modules[__name__], attribute="STRATEGY", group="nous.strategies")


def names() -> tuple[str, ...]:
    return tuple(sorted(STRATEGIES.names()))


@cache  # the folder is searched once for each name: a search costs as much as a short excerpt
def named(name: str) -> Strategy:
    """Return the strategy with that name; raise BadInput if there is none."""
    if name not in names():
        raise BadInput(f"{name!r} is not a strategy: choose one of {', '.join(names())}")
    return STRATEGIES.load(name)
