"""Render a transcript for a terminal, as JSON lines, by turn, or as summarizer input."""
