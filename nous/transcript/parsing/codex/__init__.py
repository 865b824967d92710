"""Parsing helpers and per-session state shared by the readers of Codex files."""
