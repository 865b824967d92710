"""Agents of LangChain, with a scripted model: what is published of them, and what the model is given."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain", reason="langchain comes with nous-bus[dev]")

from builders.command_line import Nous
from builders.sdks import FIRST_RUN, QUESTION, RULE, ends, learned_of, said
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolCall
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from nous.hosts.sdks.langchain import MemoryMiddleware

Invoke = Callable[[Any, Any, Any], Any]


def invoked(agent: Any, given: Any, config: Any) -> Any:
    return agent.invoke(given, config)


def invoked_asynchronously(agent: Any, given: Any, config: Any) -> Any:
    return asyncio.run(agent.ainvoke(given, config))


@tool(response_format="content_and_artifact")
def port_of(service: str) -> tuple[str, bytes]:
    """Look up the port of a service."""
    return f"{service} listens on 9017", b"\xff"  # an artifact need not be JSON


class Recorded(GenericFakeChatModel):
    """A model that keeps the messages of its last call."""

    last: list[Any] = []  # noqa: RUF012  a field of pydantic

    def _generate(self, messages: list[Any], *args: Any, **options: Any) -> Any:
        self.last = messages
        return super()._generate(messages, *args, **options)

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


def model_saying(*texts: str) -> Recorded:
    call = AIMessage("", tool_calls=[ToolCall(name="port_of", args={"service": "billing"}, id="c1")])
    return Recorded(messages=iter([call, *map(AIMessage, texts)]))


def agent_of(model: Recorded, scope: str, **options: Any) -> Any:
    return create_agent(model, tools=[port_of], middleware=[MemoryMiddleware(scope=scope)], **options)


def messages(*texts: str) -> dict[str, list[AnyMessage]]:
    return {"messages": [HumanMessage(text) for text in texts]}


@pytest.mark.parametrize("invoke", [invoked, invoked_asynchronously])
@pytest.mark.usefixtures("own_process")
def test_a_thread_is_one_session_that_grows(invoke: Invoke) -> None:
    agent = agent_of(model_saying("It is 9017.", "Bye."), "shop", checkpointer=InMemorySaver())

    for text in (QUESTION, "Thanks."):
        invoke(agent, messages(text), {"configurable": {"thread_id": "thread-1"}})

    first, second = ends()
    assert [(event.session_id, str(event.scope)) for event in (first, second)] == [
        ("thread-1", "default/default/shop")
    ] * 2
    assert said(first) == FIRST_RUN
    assert said(second) == [*FIRST_RUN, ("user", "Thanks."), ("assistant", "Bye.")]


@pytest.mark.usefixtures("own_process")
def test_without_a_thread_a_conversation_that_the_program_keeps_is_one_session() -> None:
    agent = agent_of(model_saying("It is 9017.", "Bye."), "shop")

    asked = HumanMessage(QUESTION, additional_kwargs={"not": object()})  # JSON
    before = agent.invoke({"messages": [asked]})["messages"]
    agent.invoke({"messages": [*before, HumanMessage("Thanks.")]})

    first, second = ends()
    assert first.session_id == second.session_id == before[0].id
    assert len(said(second)) == len(said(first)) + 2


@pytest.mark.parametrize("invoke", [invoked, invoked_asynchronously])
@pytest.mark.usefixtures("no_server")
def test_an_agent_runs_without_a_server_and_says_so_once(invoke: Invoke, caplog: pytest.LogCaptureFixture) -> None:
    agent = agent_of(model_saying("It is 9017.", "Bye."), "shop")

    answers = [invoke(agent, messages(text), None)["messages"][-1].text for text in (QUESTION, "Thanks.")]

    assert answers == ["It is 9017.", "Bye."]
    assert [record.levelno for record in caplog.records if "without its memory" in record.message] == [logging.WARNING]


@pytest.mark.parametrize(
    "prompt",
    [None, "Be brief.", SystemMessage([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}])],
    ids=["no prompt", "a text", "blocks"],
)
def test_notes_end_the_system_prompt_of_a_thread_and_teach_nothing(
    prompt: Any, own_process: Nous, directory: Path
) -> None:
    def run() -> str:
        model = model_saying("We do it as usual.", "Bye.")
        agent = agent_of(model, "town", system_prompt=prompt, checkpointer=InMemorySaver())
        given: list[str] = []
        for text in ("How do we deploy?", "Thanks."):
            state = agent.invoke(messages(text), {"configurable": {"thread_id": "s1"}})
            assert not any("rocket" in message.text for message in state["messages"])
            assert "nous_notes" not in state
            assert [message.type for message in model.last].count("system") == 1
            given.append(model.last[0].text)
            own_process("facts", "learn", "--scope", "town", "--session", "tue", stdin='"The canteen opens at noon"')
            if isinstance(prompt, SystemMessage):
                assert model.last[0].content[0] == prompt.content[0]
        assert given[0] == given[1]
        assert given[0].startswith("Be brief." if prompt else "<nous-notes")
        # A program may also put notes into a message itself.
        agent_of(model_saying(given[0]), "town").invoke(messages(f"{given[0]}\n\nWhat is new?"))
        return given[0]

    assert learned_of(run, directory) == [(RULE, 1)]
