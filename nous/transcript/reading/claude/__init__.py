"""What the reader of Claude Code's files has to follow from record to record."""
