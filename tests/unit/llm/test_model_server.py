"""The model server that tests are made with."""

import base64
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import orjson
import pytest
from builders.model_server import ModelServer

TESTS = Path(__file__).parents[2]
CHAT = {"model": "m", "messages": [{"role": "user", "content": "tea?"}]}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda request: f'{{"said": "{request.user}"}}') as server:
        yield server


def fetched(url: str, body: Any = None) -> Any:
    data = None if body is None else orjson.dumps(body)
    with urlopen(Request(url, data=data), timeout=10) as response:  # noqa: S310 (an address of ours)
        return orjson.loads(response.read())


def said(url: str) -> Any:
    return orjson.loads(fetched(f"{url}/v1/chat/completions", CHAT)["choices"][0]["message"]["content"])


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (None, {"title": "Tea", "points": ["hot", "wet"], "count": 1}),
        ("wrong types", {"title": 7, "points": [7, 7], "count": "seven"}),
        ("string for list", {"title": "Tea", "points": "hot, wet", "count": 1}),
    ],
)
def test_an_answer_can_be_of_the_wrong_form(fault: str | None, expected: dict[str, Any]) -> None:
    with ModelServer(lambda _: '{"title": "Tea", "points": ["hot", "wet"], "count": 1}', faults=[fault]) as server:
        assert said(server.url) == expected


def test_faults_come_one_a_request_and_are_counted(server: ModelServer) -> None:
    server.set_faults(["no usage", None])
    for _ in range(3):
        said(server.url)
    server.set_faults(lambda request: "no usage" if request.user == "tea?" else None)
    said(server.url)

    assert [request.fault for request in server.requests] == ["no usage", None, None, "no usage"]
    assert server.by_fault == {"no usage": 2, None: 2}
    assert list(server.by_prompt.values()) == [4]


@pytest.mark.parametrize("form", ["float", "base64"])
def test_vectors_come_in_the_form_that_was_asked_for_each_with_its_index(form: str, server: ModelServer) -> None:
    def vectors() -> tuple[list[int], dict[int, list[float]]]:
        body = {"model": "m", "input": ["one", "two"], "encoding_format": form}
        rows = fetched(f"{server.url}/v1/embeddings", body)["data"]
        return [row["index"] for row in rows], {row["index"]: numbers(row["embedding"]) for row in rows}

    order, by_index = vectors()
    server.set_faults(["shuffled"])

    assert order == [0, 1]
    assert vectors() == ([1, 0], by_index)


def numbers(embedding: Any) -> list[float]:
    if isinstance(embedding, list):
        return embedding
    raw = base64.b64decode(embedding)
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))


def test_it_runs_as_a_process_of_its_own_and_is_steered_from_outside() -> None:
    command = [sys.executable, "-m", "builders.model_server", "--answer", '{"said": "hello"}', "no usage"]
    environment = {"PYTHONPATH": str(TESTS)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS.parent, env=environment
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        answers = [said(url), said(url)]
        stats = fetched(f"{url}/control", {"faults": ["fenced"]})
        process.communicate()

    assert answers == [{"said": "hello"}] * 2
    assert stats["by_fault"] == {"no usage": 1, "none": 1}
    assert (stats["requests"], process.returncode) == (2, 0)
