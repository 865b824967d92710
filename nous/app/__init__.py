"""The one place that builds the world."""

from nous.app.container import World, build, discover
from nous.app.from_settings import embedder, patience_of, policy
from nous.app.services import forgetter, onlooker, watcher, watchers
from nous.app.worker_process import clerk, finisher, fleet, pool

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
