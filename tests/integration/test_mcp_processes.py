"""`nous mcp` as a process: over standard input and output."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from builders.command_line import Nous
from builders.mcp_client import called, notes_of, refusal
from mcp.client.stdio import StdioServerParameters, stdio_client

from nous.cli.framework import MISCONFIGURED

PORT = "The staging API listens on port 8080"


def arguments(*more: str) -> list[str]:
    return [sys.executable, "-m", "nous", "mcp", *more]


def test_over_standard_input_and_output_it_answers_the_official_client(nous: Nous, tmp_path: Path) -> None:
    nous("facts", "learn", "--scope", "home", stdin=json.dumps(PORT))
    program, *rest = arguments("--scope", "home")
    environment = {name: value for name, value in os.environ.items() if name.startswith(("NOUS_", "PYTHON"))}
    parameters = StdioServerParameters(command=program, args=rest, env=environment)

    with (tmp_path / "log").open("w") as log:
        found, wrong, after = called(
            stdio_client(parameters, errlog=log),
            ("search_memory", {"query": "staging port"}),
            ("search_memory", {"query": ""}),
            ("search_memory", {"query": "staging port"}),
        )

    assert [note["text"] for note in notes_of(found)] == [note["text"] for note in notes_of(after)] == [PORT]
    assert "the query is empty" in refusal(wrong)
    assert "Traceback" not in (tmp_path / "log").read_text()


@contextmanager
def started(*more: str) -> Generator["subprocess.Popen[str]"]:
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments(*more), stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.usefixtures("nous")
def test_nothing_but_the_protocol_is_written_to_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOUS_LOG_LEVEL", "debug")
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    requests = [
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "search_memory", "arguments": {"query": "port"}}},
        {"id": 4, "method": "tools/call", "params": {"name": "why", "arguments": {"id": 7}}},
    ]

    with started("--writable") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        told: list[dict[str, Any]] = []
        for request in requests:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
            process.stdin.flush()
            if "id" in request:
                told.append(json.loads(process.stdout.readline()))
        process.stdin.write("this is no message\n")
        process.stdin.close()
        rest = [json.loads(line) for line in process.stdout]

        assert process.wait(30) == 0
        assert [answer["id"] for answer in told] == [1, 2, 3, 4]
        assert {answer["jsonrpc"] for answer in (*told, *rest)} == {"2.0"}
        assert process.stderr.read()


@pytest.mark.usefixtures("nous")
def test_an_interrupt_ends_it_though_it_waits_for_a_message() -> None:
    with started() as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1

        process.send_signal(signal.SIGINT)

        assert process.wait(30) == -signal.SIGINT


def test_without_the_extra_it_says_how_to_install_it() -> None:
    script = "import sys; sys.modules['mcp'] = None; from nous.cli import main; main(['mcp'])"

    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout) == (MISCONFIGURED, "")
    assert "pip install 'nous-bus[mcp]'" in ended.stderr
