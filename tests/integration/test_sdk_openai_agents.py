"""Programs of the OpenAI Agents SDK, with a scripted model: what is published, and what the model is given."""

import asyncio
import logging
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="openai-agents comes with nous-bus[dev]")

from agents import Agent, RunContextWrapper, Runner, SQLiteSession, StopAtTools, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from builders.sdks import FIRST_RUN, QUESTION, RULE, ends, learned_of, said

from nous.hosts.sdks.openai_agents import MemoryHooks, with_notes


@function_tool
def port_of(service: str) -> str:
    """Look up the port of a service."""
    return f"{service} listens on 9017"


def agent_saying(*texts: str, own_id: str = "", **options: Any) -> Agent[Any]:
    """An agent that calls its tool and says *texts*; *own_id* is the id of each of its items, else they differ."""
    ids = (own_id or f"item-{number}" for number in count())
    call = [function_call("port_of", {"service": "billing"}, call_id="c1", item_id=next(ids))]
    answers = [[assistant_message(text, item_id=next(ids))] for text in texts]
    return Agent(name="a", model=ScriptedModel([call, *answers]), tools=[port_of], **options)


def ask(agent: Agent[Any], text: str, hooks: MemoryHooks, **options: Any) -> str:
    return asyncio.run(Runner.run(agent, text, hooks=hooks, **options)).final_output


@pytest.mark.parametrize("own_id", ["", "__fake_id__"], ids=["with ids", "of a provider without ids"])
@pytest.mark.usefixtures("own_process")
def test_a_conversation_is_published_whole_and_again_as_it_grows(own_id: str) -> None:
    agent = agent_saying("It is 9017.", "It is 9017.", own_id=own_id)
    session = SQLiteSession("thread-1")
    hooks = MemoryHooks(session.session_id, scope="shop")

    for _ in range(2):
        ask(agent, QUESTION, hooks, session=session)
    session.close()

    first, second = ends()
    assert [(event.session_id, str(event.scope)) for event in (first, second)] == [
        ("thread-1", "default/default/shop")
    ] * 2
    assert said(first) == FIRST_RUN
    assert said(second) == [*FIRST_RUN, ("user", QUESTION), ("assistant", "It is 9017.")]


@pytest.mark.parametrize("is_repeated", [True, False], ids=["the program", "the provider"])
@pytest.mark.usefixtures("own_process")
def test_runs_of_one_object_are_one_session_if_the_history_is_kept_by(*, is_repeated: bool) -> None:
    agent, hooks = agent_saying("It is 9017.", "Bye."), MemoryHooks()

    result = asyncio.run(Runner.run(agent, QUESTION, hooks=hooks))
    history = result.to_input_list() if is_repeated else []
    asyncio.run(Runner.run(agent, [*history, {"role": "user", "content": "Thanks."}], hooks=hooks))

    first, second = ends()
    assert first.session_id == second.session_id
    assert said(second) == [*FIRST_RUN, ("user", "Thanks."), ("assistant", "Bye.")]


@pytest.mark.usefixtures("own_process")
def test_a_streamed_run_that_a_tool_ends_is_published_with_its_result() -> None:
    async def stream() -> None:
        agent = agent_saying(tool_use_behavior=StopAtTools(stop_at_tool_names=["port_of"]))
        async for _ in Runner.run_streamed(agent, QUESTION, hooks=MemoryHooks("s1")).stream_events():
            pass

    asyncio.run(stream())

    assert said(ends()[0]) == [*FIRST_RUN[:2], ("assistant", "billing listens on 9017")]


@pytest.mark.usefixtures("no_server")
def test_an_agent_runs_without_a_server_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    agent, hooks = agent_saying("It is 9017.", "Bye."), MemoryHooks("s1")

    assert [ask(agent, text, hooks) for text in (QUESTION, "Thanks.")] == ["It is 9017.", "Bye."]

    assert [record.levelno for record in caplog.records if "without its memory" in record.message] == [logging.WARNING]


@pytest.mark.usefixtures("own_process")
def test_notes_follow_the_instructions_and_teach_nothing(directory: Path) -> None:
    def instructions(_context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        return f"You are {agent.name}."

    def run() -> str:
        agent = agent_saying("We do it as usual.", instructions=with_notes(instructions, scope="town"))
        ask(agent, "How do we deploy?", MemoryHooks("s1", scope="town"))
        assert isinstance(agent.model, ScriptedModel)
        assert agent.model.last_call
        given = agent.model.last_call.system_instructions or ""
        assert given.startswith("You are a.\n\n<nous-notes")
        # A program may also put notes into a message itself.
        ask(agent_saying(given), f"{given}\n\nWhat is new?", MemoryHooks("s2", scope="town"))
        return given

    assert learned_of(run, directory) == [(RULE, 1)]
