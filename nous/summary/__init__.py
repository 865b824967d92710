"""What a session comes to: an episode's summary, and the anchored summary that outlives a full window."""

from nous.domain.anchored_summary import AnchoredSummary, AnchoredSummarySection
from nous.summary.anchored.base import Summarizer, SummarizerError

__all__ = ["AnchoredSummary", "AnchoredSummarySection", "Summarizer", "SummarizerError"]
