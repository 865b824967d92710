"""Parsing helpers shared by the readers: content blocks, chats, tool results, user text."""
