"""Parsers of Codex conversations, events and tool outputs, shared by several readers."""
