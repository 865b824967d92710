"""Embedders over HTTP when the other side goes wrong: how often they ask, what they raise, and what they do not tell.

The server is a real one, on the loopback interface.
"""

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from builders.model_server import ModelServer
from builders.model_speech import DIMENSIONS
from builders.questions import KEY, NOW, PROMPT, endpoint_at

from nous.domain.errors import BadInput, Misconfigured, NousError, Unavailable
from nous.llm.http_embeddings import LONGEST_TEXT, MOST_CHARACTERS, MOST_TEXTS, RemoteEmbedder
from nous.llm.provider import Endpoint

Build = Callable[..., RemoteEmbedder]
TEXTS = (PROMPT, "Tim likes tea", "x")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def build(server: ModelServer) -> Build:
    """Builds embedders at the server."""

    def build(*, dimensions: int | None = None, **fields: Any) -> RemoteEmbedder:
        endpoint = endpoint_at(server, table="embed", **fields)
        return RemoteEmbedder(endpoint, clock=lambda: NOW, dimensions=dimensions)

    return build


def failing(embedder: RemoteEmbedder, kind: type[NousError]) -> NousError:
    """Embed, and return the error of that very kind; nothing of it may tell a text or the key."""
    with pytest.raises(kind) as caught:
        embedder.embed(TEXTS)
    told = "".join(traceback.format_exception(caught.value))
    assert not any(text in told for text in TEXTS[:2])
    assert KEY not in told
    assert len(str(caught.value)) < 600
    assert "\n" not in str(caught.value)
    assert "test-model at 127.0.0.1:" in str(caught.value)
    return caught.value


def sizes(server: ModelServer) -> list[int]:
    """How many texts each request held."""
    return [len(request.body["input"]) for request in server.requests]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        *[(status, BadInput) for status in ("400", "413", "422", "echo")],
        *[(status, Misconfigured) for status in ("401", "402", "403", "404", "redirect")],
        *[(status, Unavailable) for status in ("408", "429", "500", "502", "503", "529")],
        *[(fault, Unavailable) for fault in ("cut", "closed", "packed", "huge")],
    ],
)
def test_each_fault_is_one_error_after_one_request(
    fault: str, kind: type[NousError], build: Build, server: ModelServer
) -> None:
    server.outage = fault
    failing(build(), kind)

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("missing", "2 vectors for 3 texts"),
        ("twice", "not one for each"),
        ("ragged", "of one length"),
        ("zeros", "zero"),
        ("nan", "not finite|no list"),
        ("no numbers", "no list of numbered vectors"),
        ("not json", "no list of numbered vectors"),
        ("error in 200", "no list of numbered vectors"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused_with_the_reason_and_may_be_asked_for_again(
    fault: str, reason: str, build: Build, server: ModelServer
) -> None:
    embedder = build()
    expected = embedder.embed(TEXTS)
    server.set_faults([fault])
    error = failing(embedder, Unavailable)

    assert error.__class__ is Unavailable
    assert any(words in str(error) for words in reason.split("|"))
    assert np.array_equal(embedder.embed(TEXTS), expected)


def test_vectors_of_another_length_than_before_are_of_another_model(build: Build, server: ModelServer) -> None:
    embedder = build()
    assert embedder.id == f"openai:test-model@{DIMENSIONS}"
    server.set_faults(["longer"])

    assert f"{DIMENSIONS + 1} numbers, not {DIMENSIONS}" in str(failing(embedder, Misconfigured))
    assert embedder.dim == DIMENSIONS


def test_a_dimension_that_is_set_is_sent_and_insisted_on(build: Build, server: ModelServer) -> None:
    embedder = build(dimensions=DIMENSIONS)
    other = build(dimensions=DIMENSIONS + 1)

    assert embedder.id == f"openai:test-model@{DIMENSIONS}"
    assert server.requests == []
    assert embedder.embed(TEXTS).shape == (3, DIMENSIONS)
    assert f"{DIMENSIONS} numbers, not {DIMENSIONS + 1}" in str(failing(other, Misconfigured))
    assert [request.body["dimensions"] for request in server.requests] == [DIMENSIONS, DIMENSIONS + 1]


def test_the_dimension_is_asked_for_once_if_nothing_has_told_it(build: Build, server: ModelServer) -> None:
    embedder = build()

    assert embedder.embed([]).shape == (0, DIMENSIONS)
    assert embedder.dim == DIMENSIONS
    assert sizes(server) == [1]
    assert "dimensions" not in server.requests[0].body


def test_many_texts_go_in_requests_of_no_more_than_can_be_taken(build: Build, server: ModelServer) -> None:
    embedder = build()
    few = [f"fact {number}" for number in range(MOST_TEXTS + 1)]
    long = [f"{number} {'word ' * LONGEST_TEXT}" for number in range(MOST_CHARACTERS // LONGEST_TEXT + 1)]

    assert np.array_equal(embedder.embed(few)[-1:], embedder.embed(few[-1:]))
    embedder.embed(long)
    assert sizes(server) == [MOST_TEXTS, 1, 1, len(long) - 1, 1]


def test_what_follows_the_beginning_of_a_text_does_not_count_and_no_text_is_sent_empty(
    build: Build, server: ModelServer
) -> None:
    first, second, blank, empty = build().embed(["x" * LONGEST_TEXT, "x" * LONGEST_TEXT + "y", " \n", ""])

    assert np.array_equal(first, second)
    assert np.array_equal(blank, empty)
    assert all(text.strip() for text in server.requests[0].body["input"])


def test_the_key_comes_with_the_request_and_neither_it_nor_a_text_is_logged(
    build: Build, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.set_faults(["401"])
    embedder = build()
    with caplog.at_level("DEBUG"):
        failing(embedder, Misconfigured)
        embedder.embed(TEXTS)

    assert {request.key for request in server.requests} == {KEY}
    assert PROMPT not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("provider", "reason"), [("anthropic", "does not speak OpenAI's protocol"), ("openai", "set NOUS_EMBED__API_KEY")]
)
def test_an_endpoint_that_cannot_embed_is_refused_before_anything_is_sent(provider: str, reason: str) -> None:
    endpoint = Endpoint(provider=provider, model="m", deadline=1, concurrency=1, table="embed")

    with pytest.raises(Misconfigured, match=reason):
        RemoteEmbedder(endpoint, clock=lambda: NOW)
