"""What every model promises, whoever answers."""

from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
from builders.model_server import ModelServer, Request
from builders.questions import KEY, SCHEMA, question, remote
from builders.scripted_model import ScriptedModel

from nous.llm.base import Model, Question

PROVIDERS = ("openai", "ollama", "anthropic")
Build = Callable[[Callable[[str], str]], Model]


@pytest.fixture(params=["scripted", *PROVIDERS])
def build(request: pytest.FixtureRequest) -> Iterator[Build]:
    """Builds each model in turn, which answers with what a function makes of the user's words."""
    if request.param == "scripted":
        yield lambda answer: ScriptedModel(lambda asked: answer(asked.user))
        return
    answers: list[Callable[[str], str]] = []
    with ModelServer(lambda asked: answers[0](asked.user)) as server:
        model = remote(server, request.param, concurrency=8)
        yield lambda answer: answers.append(answer) or model


def test_it_answers_with_the_text_that_was_said_its_own_name_and_the_tokens(build: Build) -> None:
    model = build(lambda _: '{"title":"Tea"}')

    reply = model.ask(question())

    assert (reply.text, reply.model, reply.is_whole) == ('{"title":"Tea"}', model.id, True)
    assert min(reply.tokens.input, reply.tokens.output) > 0


def test_half_a_character_in_a_question_is_no_obstacle(build: Build) -> None:
    assert build(lambda _: "{}").ask(question("a lone \ud83d surrogate")).text == "{}"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def asked(server: ModelServer) -> Callable[..., Request]:
    """Puts a question to a provider, and returns the request that came of it."""

    def ask(provider: str, put: Question, **fields: Any) -> Request:
        remote(server, provider, **fields).ask(put)
        return server.requests[-1]

    return ask


Asked = Callable[..., Request]


def test_openai_is_told_the_schema_in_its_strict_form(asked: Asked) -> None:
    form = asked("openai", question()).body["response_format"]["json_schema"]

    assert (form["name"], form["strict"]) == ("episode", True)
    assert form["schema"] == SCHEMA


def test_anthropic_is_told_to_call_the_one_tool_that_takes_an_answer(asked: Asked) -> None:
    body = asked("anthropic", question()).body

    assert [tool["name"] for tool in body["tools"]] == ["episode"]
    assert body["tool_choice"] == {"type": "tool", "name": "episode", "disable_parallel_tool_use": True}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_in_text_mode_the_schema_stands_in_the_systems_words(provider: str, asked: Asked) -> None:
    request = asked(provider, question(), structured="text")

    assert not request.has_schema
    assert '"points":{"type":"array"' in orjson.dumps(request.body).decode().replace("\\", "")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unusable_answer_is_shown_again_cut_with_the_complaint(provider: str, asked: Asked) -> None:
    put = question("tea").again("x" * 9_000, "That is no JSON.").again("", "That is nothing.")
    said = [turn for turn in asked(provider, put).body["messages"] if turn["role"] != "system"]

    assert [turn["role"] for turn in said] == ["user", "assistant", "user", "assistant", "user"]
    assert [turn["content"] for turn in said[1:]] == ["x" * 8_000, "That is no JSON.", "(nothing)", "That is nothing."]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_answers_length_is_bounded_and_its_temperature_left_alone(provider: str, asked: Asked) -> None:
    body = asked(provider, question()).body

    assert body["max_tokens"] == 500
    assert "temperature" not in body


@pytest.mark.parametrize("provider", PROVIDERS)
def test_nothing_of_the_environment_goes_to_a_server(
    provider: str, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = {"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}
    for name in foreign:
        monkeypatch.setenv(name, "from-the-environment")

    assert "from-the-environment" not in str(asked(provider, question()).headers)


def test_openai_itself_bounds_an_answer_by_another_name_and_is_reached_through_a_proxy(
    asked: Asked, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    request = asked("openai", question(), base_url="http://api.openai.com/v1")

    assert request.path == "http://api.openai.com/v1/chat/completions"
    assert request.body["max_completion_tokens"] == 500
    assert "max_tokens" not in request.body


def test_a_server_on_this_machine_needs_neither_an_address_nor_a_key(
    asked: Asked, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url)
    request = asked("ollama", question(), base_url=None, api_key=None)

    assert request.path == "http://localhost:11434/v1/chat/completions"
    assert not request.key


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_key_goes_along(provider: str, asked: Asked) -> None:
    assert asked(provider, question(), api_key=f" {KEY}\n").key == KEY
