"""Session summaries: per episode, and anchored (rolling) ones that survive compaction."""

from nous.domain.anchored_summary import AnchoredSummary, AnchoredSummarySection
from nous.summary.anchored import Summarizer, SummarizerError

__all__ = ["AnchoredSummary", "AnchoredSummarySection", "Summarizer", "SummarizerError"]
