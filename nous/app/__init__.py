"""Composition root: builds the application from the settings."""

from nous.app.container import Container, build, discover
from nous.app.from_settings import embedder, policy, retry_policy_of
from nous.app.services import eraser, read_only_watcher, watcher, watchers
from nous.app.worker_process import dispatch_loop, pool, session_recovery, worker_process

__all__ = [
    "Container",
    "build",
    "discover",
    "dispatch_loop",
    "embedder",
    "eraser",
    "policy",
    "pool",
    "read_only_watcher",
    "retry_policy_of",
    "session_recovery",
    "watcher",
    "watchers",
    "worker_process",
]
