"""Memory for programs of the OpenAI Agents SDK (`pip install 'nous-bus[openai-agents]'`)."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from agents import Agent, ModelResponse, RunContextWrapper, RunHooks

from nous.hosts.sdks.memory import HostMemory
from nous.transcript.parsing.chat import text_of
from nous.transcript.parsing.values import as_object
from nous.transcript.readers.openai_responses import fingerprint

Context = RunContextWrapper[Any]
Instructions = Callable[[Context, Agent[Any]], Awaitable[str] | str]


class MemoryHooks(RunHooks[Any]):
    """Hooks of one conversation, of one run or more: publish it at each final answer.

    Without *session_id*, each object is a session of its own. Items are taken from the calls of the model, since the
    SDK adds the final answer to its `Session` only later. Instructions are no part of the session.
    """

    def __init__(self, session_id: str | None = None, *, scope: str | None = None) -> None:
        self._memory = HostMemory(scope)
        self._session_id = session_id or uuid4().hex
        self._items: list[dict[str, Any]] = []

    async def on_llm_start(
        self, context: Context, agent: Agent[Any], system_prompt: str | None, input_items: Sequence[Any]
    ) -> None:
        # Most input was there before. Where the provider keeps the conversation, though, all of it is new.
        known = Counter(map(fingerprint, self._items))
        for item in map(as_object, input_items):
            mark = fingerprint(item)
            if known[mark]:
                known[mark] -= 1
            elif mark and item:
                self._items.append(item)

    async def on_llm_end(self, context: Context, agent: Agent[Any], response: ModelResponse) -> None:
        self._items += map(as_object, response.to_input_items())

    async def on_agent_end(self, context: Context, agent: Agent[Any], output: object) -> None:
        if self._items and self._items[-1].get("type") == "function_call":  # its result is the answer
            self._items.append({"role": "assistant", "content": str(output)})
        await asyncio.to_thread(self._memory.publish, tuple(self._items), self._session_id)


def with_notes(instructions: str | Instructions = "", *, scope: str | None = None) -> Instructions:
    """Return instructions of an agent that end with notes, the same throughout a run."""
    memory = HostMemory(scope)
    known = WeakKeyDictionary[Context, str]()

    async def instruct(context: Context, agent: Agent[Any]) -> str:
        given = instructions(context, agent) if callable(instructions) else instructions
        own = await given if isawaitable(given) else given
        if context not in known:
            asked = [item.get("content") for item in map(as_object, context.turn_input) if item.get("role") == "user"]
            known[context] = await asyncio.to_thread(memory.notes, text_of(asked[-1]) if asked else "")
        return "\n\n".join(filter(None, (own, known[context])))

    return instruct
