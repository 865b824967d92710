"""Anchored (rolling) summary, carried from one compaction or resume to the next."""
