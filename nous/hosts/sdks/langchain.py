"""Memory for agents of LangChain (`pip install 'nous-bus[langchain]'`)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AnyMessage, SystemMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime

from nous.hosts.sdks.memory import HostMemory


class MemoryState(AgentState[Any]):
    nous_notes: NotRequired[Annotated[str, PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Publish each thread when its agent ends, and put notes into the system prompt.

    The notes are about the first question of a thread. They are kept beside its messages, so that the prompt can be
    cached and they are never published. A session is named after its thread, else after its first message.
    """

    state_schema = MemoryState

    def __init__(self, *, scope: str | None = None) -> None:
        self._memory = HostMemory(scope)

    def before_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        asked = [message.text for message in state["messages"] if message.type == "human"]
        notes = state.get("nous_notes") or self._memory.notes(asked[-1] if asked else "")
        return {"nous_notes": notes} if notes else None

    async def abefore_agent(self, state: MemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(_informed(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(_informed(request))

    def after_agent(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        messages = state["messages"]
        name = get_config().get("configurable", {}).get("thread_id") or next((each.id for each in messages), None)
        self._memory.publish([_dumped(message) for message in messages], str(name))

    async def aafter_agent(self, state: MemoryState, runtime: Runtime[Any]) -> None:
        await asyncio.to_thread(self.after_agent, state, runtime)


def _informed(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Return *request* with the notes as the last block of the system prompt."""
    notes = request.state.get("nous_notes")
    if not notes:
        return request
    own = request.system_message.content if request.system_message else ""
    if isinstance(own, list):  # blocks may have marks of a provider, such as where its cache ends
        return request.override(system_message=SystemMessage([*own, {"type": "text", "text": notes}]))
    return request.override(system_message=SystemMessage("\n\n".join(filter(None, (own, notes)))))


def _dumped(message: AnyMessage) -> dict[str, Any]:
    """Return *message* as `messages_to_dict` does, in JSON; an artifact is of the program alone."""
    return {"type": message.type, "data": message.model_dump(mode="json", exclude={"artifact"}, fallback=str)}
