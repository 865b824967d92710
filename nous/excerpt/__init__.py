"""Shorten a session to a length budget, in order, with a mark for every omission."""

from nous.excerpt.fit import BUDGET, Excerpt, Unit, Windows, fit, truncate_transcript, windows
from nous.excerpt.strategy import Manifest

__all__ = [
    "BUDGET",
    "Excerpt",
    "Manifest",
    "Unit",
    "Windows",
    "fit",
    "truncate_transcript",
    "windows",
]
