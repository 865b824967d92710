"""Which events belong into a transcript."""

from collections.abc import Mapping
from typing import Any

from nous.transcript.events import TranscriptEvent
from nous.transcript.events.helpers import SubAgentTextDelta, SubAgentToolRequest, SubAgentToolResult
from nous.transcript.events.talk import Reasoning, TextDelta
from nous.transcript.events.tool_use import ToolOutputChunk

OF_SUB_AGENTS = frozenset({SubAgentToolRequest.TYPE, SubAgentToolResult.TYPE})
"""Kept apart, in a transcript of the sub-agent's own."""

_STREAMED = frozenset({TextDelta.TYPE, Reasoning.TYPE, ToolOutputChunk.TYPE, SubAgentTextDelta.TYPE})


def should_transcript(event: TranscriptEvent | Mapping[str, Any] | str) -> bool:
    """Whether the transcript of a session keeps *event* (or events of the type so named).

    It does not keep what is streamed, since the whole follows, nor what sub-agents do with tools. Types that are not
    known are kept.
    """
    name = event.type if isinstance(event, TranscriptEvent) else event if isinstance(event, str) else event.get("type")
    return not isinstance(name, str) or name not in _STREAMED | OF_SUB_AGENTS
