"""Render a transcript for a terminal, as JSON lines, by turn, or as qbit summarizer input."""
