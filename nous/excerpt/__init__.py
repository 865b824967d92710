"""Re-export the functions and types that shorten a transcript to a length budget."""

from nous.excerpt.fit import BUDGET, Excerpt, ExcerptWindow, Unit, Windows, fit, truncate_transcript, windows
from nous.excerpt.strategy import Manifest, ManifestEntry

__all__ = [
    "BUDGET",
    "Excerpt",
    "ExcerptWindow",
    "Manifest",
    "ManifestEntry",
    "Unit",
    "Windows",
    "fit",
    "truncate_transcript",
    "windows",
]
