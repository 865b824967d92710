"""A transcript as somebody wants to see it: on a terminal, as JSON lines, by turns."""
