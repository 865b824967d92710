"""Notes for a new session, and a compiler that fits prompts into a context window.

The names are imported on first use. Called like a function, the package returns the notes of a scope.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nous.context.compiler import CompiledContext, ContextTooLarge, compile, score  # noqa: A004
    from nous.context.compression import Compressed, CompressionMode, compress, count_tokens
    from nous.context.segments import (
        ContextBudget,
        ContextEvent,
        ContextMetrics,
        ContextSegment,
        ContextTier,
        Freshness,
        SegmentKind,
        SegmentMetrics,
    )

__all__ = [
    "CompiledContext",
    "Compressed",
    "CompressionMode",
    "ContextBudget",
    "ContextEvent",
    "ContextMetrics",
    "ContextSegment",
    "ContextTier",
    "ContextTooLarge",
    "Freshness",
    "SegmentKind",
    "SegmentMetrics",
    "compile",
    "compress",
    "count_tokens",
    "score",
]


def __getattr__(name: str) -> Any:
    # `import nous` imports this package, and costs a program nothing.
    for module in ("compression", "segments", "compiler") if name in __all__ else ():
        found = import_module(f"{__name__}.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
