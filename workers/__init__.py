"""Built-in workers, one module each: a `WORKER`, and the handler class that it builds."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workers.episode_embedder import EpisodeEmbedder
    from workers.episode_reviser import EpisodeReviser
    from workers.episode_summarizer import EpisodeSummarizer
    from workers.fact_embedder import FactEmbedder
    from workers.fact_extractor import FactExtractor
    from workers.session_anchorer import SessionAnchorer
    from workers.session_keeper import SessionKeeper

__all__ = [
    "EpisodeEmbedder",
    "EpisodeReviser",
    "EpisodeSummarizer",
    "FactEmbedder",
    "FactExtractor",
    "SessionAnchorer",
    "SessionKeeper",
]

_MODULES = {name: f"workers.{''.join(f'_{c.lower()}' if c.isupper() else c for c in name)[1:]}" for name in __all__}


def __getattr__(name: str) -> Any:
    # Imported on first use: `import workers` alone costs nothing, and discovery looks at modules one by one.
    if name not in _MODULES:
        raise AttributeError(f"module 'workers' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
