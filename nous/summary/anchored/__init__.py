"""What is carried of a session from one compaction or resume to the next."""
