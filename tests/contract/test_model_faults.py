"""Models over HTTP when the other side goes wrong: how often they ask, what they raise, and what they do not tell.

The server is a real one, on the loopback interface.
"""

import traceback
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from builders.model_server import ModelServer
from builders.questions import KEY, NOW, PROMPT, question, remote

from nous.domain.errors import Misconfigured, NousError
from nous.llm import http_model
from nous.llm.base import ModelMisconfigured, ModelQuota, ModelRefused, ModelTimeout, ModelUnreachable
from nous.llm.http_model import PROVIDERS, HttpModel, split
from nous.llm.provider import Endpoint

Build = Callable[..., HttpModel]
SHORT = 0.3
UNUSABLE = (
    {"prompt_tokens": "11", "input_tokens": -3, "output_tokens": 10**30},
    {"prompt_tokens": True, "completion_tokens": False, "input_tokens": True, "output_tokens": True},
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(params=["openai", "anthropic"])
def build(request: pytest.FixtureRequest, server: ModelServer) -> Build:
    """Builds a remote model of each provider in turn."""
    return partial(remote, server, request.param)


def failing(model: HttpModel, kind: type[NousError]) -> NousError:
    """Ask, and return the error of that very kind; nothing of it may tell the prompt or the key."""
    with pytest.raises(kind) as caught:
        model.ask(question())
    told = "".join(traceback.format_exception(caught.value))
    assert PROMPT not in told
    assert KEY not in told
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("fault", "kind", "requests"),
    [
        *[(status, ModelRefused, 2) for status in ("400", "422")],
        *[(status, ModelRefused, 1) for status in ("413", "418")],
        *[(status, ModelMisconfigured, 1) for status in ("401", "402", "403", "404", "redirect")],
        *[(status, ModelUnreachable, 1) for status in ("408", "409", "425", "429", "500", "502", "503", "529")],
        *[(fault, ModelUnreachable, 1) for fault in ("cut", "closed", "packed", "not json", "no body", "list", "huge")],
        ("error in 200", ModelUnreachable, 1),
        ("echo", ModelRefused, 2),
    ],
)
def test_each_fault_is_one_error_after_so_many_requests(
    fault: str, kind: type[NousError], requests: int, build: Build, server: ModelServer
) -> None:
    server.outage = fault

    error = failing(build(), kind)

    assert len(server.requests) == requests
    assert "test-model at 127.0.0.1:" in str(error)


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [("429 retry-after 30", 30), ("503 retry-after 2.5", 2.5), ("429 retry-after Thu, 01 Jan 2026 00:02:00 GMT", 120)],
)
def test_a_quota_says_when_to_come_back(fault: str, seconds: float, build: Build, server: ModelServer) -> None:
    server.outage = fault
    error = failing(build(), ModelQuota)

    assert isinstance(error, ModelQuota)
    assert error.until == NOW + timedelta(seconds=seconds)
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_a_call_ends_with_its_deadline_even_if_something_still_comes_in(
    fault: str, build: Build, server: ModelServer
) -> None:
    server.outage = fault
    error = failing(build(deadline=SHORT), ModelTimeout)

    assert "did not answer within 0.3 s" in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", ["empty", "no choices"])
def test_an_answer_without_text_is_a_reply_that_is_not_whole(fault: str, build: Build, server: ModelServer) -> None:
    server.set_faults([fault])
    reply = build(structured="text").ask(question())

    assert (reply.text, reply.is_whole) == ("", False)
    assert reply.tokens.input > 0


def test_an_answer_that_was_cut_at_its_limit_is_not_whole(build: Build, server: ModelServer) -> None:
    server.set_faults(["truncated"])

    assert not build().ask(question()).is_whole


def test_tokens_that_nobody_counted_are_estimated(build: Build, server: ModelServer) -> None:
    model = build()
    counted = model.ask(question()).tokens
    server.set_faults(["no usage"])
    estimated = model.ask(question()).tokens

    assert (counted.input, counted.output) == (11, 7)
    assert estimated.input > 20
    assert estimated.output > 7


@pytest.mark.parametrize("usage", [[], "many", *UNUSABLE])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_usage_that_is_none_is_estimated(provider: str, usage: Any) -> None:
    endpoint = Endpoint(provider=provider, model="m", deadline=1, concurrency=1)
    text = {"choices": [{"message": {"content": "Tea"}}], "content": [{"type": "text", "text": "Tea"}]}

    reply = PROVIDERS.load(provider).read({**text, "usage": usage}, question(), endpoint)

    assert reply.text == "Tea"
    assert reply.tokens.input > 20
    assert 0 < reply.tokens.output < 10


@pytest.mark.parametrize(
    ("name", "value"),
    [("ALL_PROXY", "socks://me:word@there:1080"), ("HTTP_PROXY", "ldap://there"), ("SSL_CERT_FILE", "/nowhere/ca.pem")],
)
def test_an_environment_that_no_call_can_be_made_in_says_what_to_set(
    name: str, value: str, build: Build, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    http_model.trusted_certificates.cache_clear()
    monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    error = failing(build(), ModelMisconfigured)

    assert name in str(error)
    assert "word" not in str(error)
    assert server.requests == []


def test_a_server_without_schemas_is_asked_once_more_and_then_never_with_one(build: Build, server: ModelServer) -> None:
    model = build()
    server.outage = "no schema"
    texts = [model.ask(question()).text for _ in range(3)]

    assert [request.has_schema for request in server.requests] == [True, False, False, False]
    assert all("Tea" in text for text in texts)


def test_a_schema_that_was_not_to_blame_is_sent_again(build: Build, server: ModelServer) -> None:
    model = build()
    server.set_faults(["400", "400"])
    failing(model, ModelRefused)
    model.ask(question())

    assert [request.has_schema for request in server.requests] == [True, False, True]


def test_a_model_that_must_have_its_schema_is_asked_only_with_it(build: Build, server: ModelServer) -> None:
    server.outage = "no schema"
    failing(build(structured="schema"), ModelRefused)

    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_unreachable(build: Build) -> None:
    assert "127.0.0.1:1 " in str(failing(build(base_url="http://127.0.0.1:1"), ModelUnreachable))


def test_no_log_line_of_any_level_tells_the_prompt_or_the_key(
    build: Build, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    model = build(structured="text")
    server.set_faults(["echo", "401"])
    with caplog.at_level("DEBUG"):
        failing(model, ModelRefused)
        failing(model, ModelMisconfigured)
        model.ask(question())

    assert PROMPT not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_provider_that_needs_a_key_says_what_to_set(provider: str) -> None:
    endpoint = Endpoint(provider=provider, model="m", deadline=1, concurrency=1)

    with pytest.raises(Misconfigured, match="set NOUS_LLM__API_KEY"):
        HttpModel(endpoint, clock=lambda: NOW)


@pytest.mark.parametrize(
    "base_url",
    [
        *(
            "localhost:8000",
            "ftp://there",
            "http://",
            "http://there:port",
            "http://there:0",
            "http://there:65536",
            "http://[1.2.3]",
            "http://[there",
        ),
        *("http://me:word@there", "http://there/v1?key=word", "http://there/#word"),
    ],
)
def test_an_address_that_is_none_is_said_to_be_so(base_url: str) -> None:
    endpoint = Endpoint(provider="ollama", model="m", base_url=base_url, deadline=1, concurrency=1)

    with pytest.raises(Misconfigured, match="NOUS_LLM__BASE_URL") as caught:
        HttpModel(endpoint, clock=lambda: NOW)
    assert "word" not in str(caught.value)


@pytest.mark.parametrize("key", ["clé", "two\nlines"])
def test_a_key_that_could_not_be_sent_is_refused_without_being_told(key: str) -> None:
    endpoint = Endpoint(provider="ollama", model="m", api_key=key, deadline=1, concurrency=1)

    with pytest.raises(Misconfigured, match="NOUS_LLM__API_KEY") as caught:
        HttpModel(endpoint, clock=lambda: NOW)
    assert key not in str(caught.value)


def test_the_name_of_a_model_may_hold_colons_and_one_without_a_provider_is_refused() -> None:
    assert split("ollama:qwen3:8b") == ("ollama", "qwen3:8b")
    for name in ("gpt-5-mini", "qwen3:8b", "openai:", ""):
        with pytest.raises(Misconfigured, match="anthropic, ollama, openai"):
            split(name)
