"""What survives a budget: the most telling part of a session, in order, with a mark for every gap."""

from nous.excerpt.fitting import BUDGET, Excerpt, Unit, fit
from nous.excerpt.manifest import Manifest
from nous.excerpt.record import Record
from nous.excerpt.text import truncate_transcript
from nous.excerpt.windows import Window, Windows, windows

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
