"""What a file says of its session as a whole, gathered from all over it."""

from collections.abc import Mapping
from typing import Any

from nous.transcript.base import Notes
from nous.transcript.fields import as_count, as_object, as_text

_READ_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Where titles stand, the more trusted first."""


class About:
    """Gathers the header. What is known at the first message is learned at once, the rest when the file is read."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._usage: dict[str, tuple[int, int]] = {}
        self._titles: dict[str, str] = {}

    def introduce(self, record: Mapping[str, Any]) -> None:
        """Learn who is speaking where, from the first message."""
        self._notes.learn(
            session_id=as_text(record.get("sessionId")),
            cwd=as_text(record.get("cwd")),
            git_branch=as_text(record.get("gitBranch")),
        )

    def charge(self, own: str, message: Mapping[str, Any]) -> None:
        """Keep the last usage that is given for the message *own*: its records repeat or complete it."""
        if self._notes.header.model is None and not (model := as_text(message.get("model"))).startswith("<"):
            self._notes.learn(model=model)
        usage = as_object(message.get("usage"))
        written = as_count(usage.get("output_tokens"))
        if own not in self._usage or written > self._usage[own][1]:
            self._usage[own] = sum(as_count(usage.get(key)) for key in _READ_TOKENS), written

    def title(self, record: Mapping[str, Any]) -> None:
        """Remember a title of this session; a later one of the same kind replaces it."""
        kind = as_text(record.get("type"))
        self._titles[kind] = as_text(record.get(_TITLES[kind]))

    def conclude(self) -> None:
        """Learn what only the whole file tells."""
        title = next((self._titles[kind] for kind in _TITLES if self._titles.get(kind)), None)
        read = sum(tokens for tokens, _ in self._usage.values())
        written = sum(tokens for _, tokens in self._usage.values())
        self._notes.learn(title=title, input_tokens=read, output_tokens=written)
