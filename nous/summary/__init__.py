"""Package of session summarizers; re-exports `AnchoredSummary` (rolling) and `Summarizer`."""

from nous.domain.anchored_summary import AnchoredSummary, AnchoredSummarySection
from nous.summary.anchored import Summarizer, SummarizerError

__all__ = ["AnchoredSummary", "AnchoredSummarySection", "Summarizer", "SummarizerError"]
