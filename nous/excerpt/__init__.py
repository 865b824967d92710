"""What survives a budget: the most telling part of a session, in order, with a mark for every gap."""

from nous.excerpt.fit import BUDGET, Excerpt, Unit, fit
from nous.excerpt.manifest import Manifest, Record
from nous.excerpt.windows import Window, Windows, truncate_transcript, windows

__all__ = [
    "BUDGET",
    "Excerpt",
    "Manifest",
    "Record",
    "Unit",
    "Window",
    "Windows",
    "fit",
    "truncate_transcript",
    "windows",
]
