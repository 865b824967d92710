"""Shorten a session to a length budget, in order, with a mark for every omission."""

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
