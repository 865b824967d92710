"""What the readers of Codex's files have in common, and what they have to follow from record to record."""
