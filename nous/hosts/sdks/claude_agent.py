"""Memory for programs of the Claude Agent SDK (`pip install 'nous-bus[claude-agent]'`).

The Python SDK has no event for the start or the end of a session. So the first prompt brings the notes, and workers end
a session that has become idle.
"""

import asyncio
from pathlib import Path

from claude_agent_sdk import HookContext, HookInput, HookMatcher
from claude_agent_sdk.types import HookEvent, SyncHookJSONOutput

from nous.hosts.sdks.memory import HostMemory


def memory_hooks(*, scope: str | None = None) -> dict[HookEvent, list[HookMatcher]]:
    """Return hooks for `ClaudeAgentOptions`; several clients may share them."""
    hooks = _SessionHooks(HostMemory(scope))
    return {
        "UserPromptSubmit": [HookMatcher(hooks=[hooks.prompted])],
        "Stop": [HookMatcher(hooks=[hooks.stopped])],
        "PreCompact": [HookMatcher(hooks=[hooks.compacting])],
    }


class _SessionHooks:
    """Callbacks of the hooks; `informed` are the sessions whose context has the notes."""

    def __init__(self, memory: HostMemory) -> None:
        self._memory = memory
        self._informed: set[str] = set()

    async def prompted(self, given: HookInput, _tool_use_id: str | None, _context: HookContext) -> SyncHookJSONOutput:
        session = given["session_id"]
        if session in self._informed:
            return {}
        notes = await asyncio.to_thread(self._memory.notes, str(given.get("prompt", "")))
        if not notes:
            return {}
        self._informed.add(session)
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": notes}}

    async def stopped(self, given: HookInput, _tool_use_id: str | None, _context: HookContext) -> SyncHookJSONOutput:
        await asyncio.to_thread(self._memory.touch, Path(given["transcript_path"]), given["session_id"])
        return {}

    async def compacting(self, given: HookInput, _tool_use_id: str | None, _context: HookContext) -> SyncHookJSONOutput:
        session = given["session_id"]
        self._informed.discard(session)  # the notes are among what is compacted
        path = Path(given["transcript_path"])
        await asyncio.to_thread(self._memory.publish, path, session, compacting=True)
        return {}
