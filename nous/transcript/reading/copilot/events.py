"""The events of Copilot CLI that are told as they stand."""

from collections.abc import Mapping
from typing import Any

from nous.transcript.base import Draft, Place
from nous.transcript.model import Kind
from nous.transcript.reading.fields import as_text

_TOLD = {
    "session.error": (Kind.ERROR, "{message}"),
    "session.warning": (Kind.SYSTEM, "{message}"),
    "session.info": (Kind.SYSTEM, "{message}"),
    "session.handoff": (Kind.SUMMARY, "{summary}"),
    "session.snapshot_rewind": (Kind.SYSTEM, "Went back to an earlier point"),
    "system.notification": (Kind.SYSTEM, "{content}"),
    "subagent.started": (Kind.SUB_AGENT, "Started {agent}: {agentDescription}"),
    "subagent.completed": (Kind.SUB_AGENT, "{agent} has completed"),
    "subagent.failed": (Kind.ERROR, "Sub-agent {agent}: {error}"),
    "skill.invoked": (Kind.SYSTEM, "Skill {name}"),
    "abort": (Kind.SYSTEM, "Aborted: {reason}"),
}
"""Of which kind they are, and in which of their fields the words are."""

_IN_A_PERSONS_PLACE = frozenset({"system.notification"})
_NOISE = frozenset({"authentication", "mcp", "configuration", "timing"})
"""Information that says nothing of the work."""


def told(kind: str, data: Mapping[str, Any], place: Place) -> Draft | None:
    """What the event says; None if it is of no kind that says something, or says nothing."""
    if kind not in _TOLD or str(data.get("infoType")) in _NOISE:
        return None
    whose, words = _TOLD[kind]
    text = words.format_map(_Fields(data)).strip()
    is_error, is_meta = whose is Kind.ERROR, kind in _IN_A_PERSONS_PLACE
    return place.draft(whose, text, is_error=is_error, is_meta=is_meta) if text else None


class _Fields(dict[str, Any]):
    """The fields of an event as text, the missing ones empty; `agent` is the name of one as it is shown."""

    def __getitem__(self, name: str) -> str:
        if name == "agent":
            return as_text(self.get("agentDisplayName")) or as_text(self.get("agentName")) or "a sub-agent"
        return as_text(self.get(name))
