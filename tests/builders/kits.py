"""A worker's kit over a store in memory."""

from typing import Any

from nous.embed.hashed import Hashed
from nous.kit import Kit
from nous.store.memory import MemoryStore


def kit_of(store: MemoryStore, **more: Any) -> Kit:
    """A kit that reads from *store*, with *more* of its fields; transcripts and clock are among them."""
    known: dict[str, Any] = {
        "episodes": store,
        "briefs": store,
        "decisions": store,
        "facts": store,
        "embedder": Hashed(),
    }
    return Kit(**{**known, **more})
