"""Shorten a session to a length budget, in order, with a mark for every omission."""

from nous.excerpt.fit import BUDGET, Excerpt, Unit, fit
from nous.excerpt.strategy import Manifest, ManifestEntry
from nous.excerpt.windows import ExcerptWindow, Windows, truncate_transcript, windows

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
