"""What a session comes to: an episode's summary, and the anchored summary that outlives a full window."""

from nous.summary.anchored.model import AnchoredSummary, AnchoredSummarySection
from nous.summary.anchored.port import Summarizer, SummarizerError

__all__ = ["AnchoredSummary", "AnchoredSummarySection", "Summarizer", "SummarizerError"]
