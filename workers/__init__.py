"""Package of built-in workers, one module each; lazily exports two of the handler classes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workers.episode_summarizer import EpisodeSummarizer
    from workers.fact_extractor import FactExtractor

__all__ = ["EpisodeSummarizer", "FactExtractor"]

_MODULES = {"EpisodeSummarizer": "workers.episode_summarizer", "FactExtractor": "workers.fact_extractor"}


def __getattr__(name: str) -> Any:
    # Imported on first use: `import workers` alone costs nothing, and discovery looks at modules one by one.
    if name not in _MODULES:
        raise AttributeError(f"module 'workers' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
