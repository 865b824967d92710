"""The one place that builds the world."""

from nous.wiring.choices import embedder, patience_of, policy
from nous.wiring.finisher import finisher
from nous.wiring.fleet import clerk, fleet, pool
from nous.wiring.forgetter import forgetter
from nous.wiring.watcher import onlooker, watcher, watchers
from nous.wiring.world import World, build, discover

__all__ = [
    "World",
    "build",
    "clerk",
    "discover",
    "embedder",
    "finisher",
    "fleet",
    "forgetter",
    "onlooker",
    "patience_of",
    "policy",
    "pool",
    "watcher",
    "watchers",
]
