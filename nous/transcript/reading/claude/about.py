"""What a file says of its session as a whole, gathered from all over it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nous.transcript.notes import Notes
from nous.transcript.reading.fields import as_count, as_object, as_text

_READ_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Where titles stand, the more trusted first."""


@dataclass(slots=True)
class About:
    """Gathers the header. What is known at the first message is learned at once, the rest when the file is read."""

    is_sub_agents: bool | None = None
    usage: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    titles: dict[str, str] = field(default_factory=dict[str, str])

    def introduce(self, record: Mapping[str, Any], notes: Notes) -> None:
        """Learn who is speaking where, from the first message. A file belongs to whom that belongs."""
        self.is_sub_agents = record.get("isSidechain") is True
        if not self.is_sub_agents and notes.header.parent_session_id:
            notes.header = replace(notes.header, session_id=None, parent_session_id=None)
        session, agent = as_text(record.get("sessionId")), as_text(record.get("agentId"))
        is_named_apart = self.is_sub_agents and agent
        notes.learn(
            session_id=f"agent-{agent}" if is_named_apart else session,
            parent_session_id=session if is_named_apart else None,
            cwd=as_text(record.get("cwd")),
            git_branch=as_text(record.get("gitBranch")),
        )

    def charge(self, own: str, message: Mapping[str, Any], notes: Notes) -> None:
        """Keep the last usage that is given for the message *own*: its records repeat or complete it."""
        if notes.header.model is None and not (model := as_text(message.get("model"))).startswith("<"):
            notes.learn(model=model)
        usage = as_object(message.get("usage"))
        written = as_count(usage.get("output_tokens"))
        if own in self.usage and self.usage[own][1] >= written:
            return
        self.usage[own] = sum(as_count(usage.get(name)) for name in _READ_TOKENS), written

    def title(self, record: Mapping[str, Any]) -> None:
        """Remember a title of this session; a later one of the same kind replaces it."""
        kind = as_text(record.get("type"))
        self.titles[kind] = as_text(record.get(_TITLES[kind]))

    def conclude(self, notes: Notes) -> None:
        """Learn what only the whole file tells."""
        title = next((self.titles[kind] for kind in _TITLES if self.titles.get(kind)), None)
        read = sum(tokens for tokens, _ in self.usage.values())
        written = sum(tokens for _, tokens in self.usage.values())
        notes.learn(title=title, input_tokens=read, output_tokens=written)
