"""What survives a budget: from a transcript to the excerpt that a summarizer sees."""

from nous.excerpt.fitting import BUDGET, Excerpt, fit
from nous.excerpt.manifest import Manifest
from nous.excerpt.record import Record
from nous.excerpt.text import truncate_transcript

__all__ = ["BUDGET", "Excerpt", "Manifest", "Record", "fit", "truncate_transcript"]
