"""Bad input, as a user would give it: one clear line, an exit code, and the good input beside it is not lost."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from nous.app.container import build
from nous.domain.effects import AppendFacts, Effects
from nous.domain.episode import Category
from nous.domain.fact import Fact, Learned, LogVersion, Source
from nous.domain.scope import Scope
from nous.redis_server import binary, embedded
from nous.settings.model import Settings

BAD_INPUT, MISCONFIGURED, UNAVAILABLE = 3, 4, 5
GOOD = "User: Hello, please remember that I live in Berlin.\n\nAssistant: I will remember that you live in Berlin.\n"
MEGABYTE = 1 << 20

Nous = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory for files, with the data directory `data` in it."""
    with TemporaryDirectory(prefix="nous-") as name:
        try:
            yield Path(name)
        finally:
            embedded.stop(Path(name) / "data")


@pytest.fixture
def nous(place: Path) -> Nous:
    """Runs a command in *place*, with more variables if named."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NOUS_")}
    environment = inherited | {"NOUS_DATA_DIR": str(place / "data"), "NOUS_EMBEDDER": "hashed"}

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "nous", *arguments]
        return subprocess.run(
            command, cwd=place, env=environment | variables, capture_output=True, text=True, check=False
        )

    return run


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("missing.txt", None, "there is no file missing.txt"),
        ("empty.txt", b"", "empty.txt holds nothing that anybody said"),
        ("binary.bin", bytes(range(256)) * 99, "no transcript that nous can read"),
        ("empty", None, "there is no file empty"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_the_others_are_published(
    nous: Nous, place: Path, name: str, content: bytes | None, complaint: str
) -> None:
    (place / "good.txt").write_text(GOOD)
    if content is not None:
        (place / name).write_bytes(content)

    result = nous("publish", name, "good.txt")

    assert result.returncode == BAD_INPUT
    assert complaint.casefold() in result.stderr.casefold()
    assert "Traceback" not in result.stderr
    assert "good" in result.stdout


def test_a_line_of_200_megabytes_is_refused_without_filling_the_memory(nous: Nous, place: Path) -> None:
    with (place / "huge.jsonl").open("wb") as huge:
        huge.write(b'{"type":"user","message":"')
        for _ in range(200):
            huge.write(b"a" * MEGABYTE)
        huge.write(b'"}\n')

    result = nous("publish", "huge.jsonl")

    assert result.returncode == BAD_INPUT
    assert "a line longer than" in result.stderr


def test_an_absent_server_is_named(nous: Nous) -> None:
    result = nous("status", NOUS_REDIS_URL="redis://:secret@127.0.0.1:1/0")

    assert result.returncode == UNAVAILABLE
    assert "no server answers at redis://:***@127.0.0.1:1/0" in result.stderr


def test_a_server_that_may_evict_sessions_is_refused_by_name(nous: Nous, place: Path, wait_until: Any) -> None:
    socket = place / "s"
    options = ["--port", "0", "--unixsocket", str(socket), "--dir", str(place), "--maxmemory-policy", "allkeys-lru"]
    with subprocess.Popen([str(binary.find()), *options], stdout=subprocess.DEVNULL) as server:
        try:
            wait_until(socket.exists, "the server to listen")
            result = nous("publish", "good.txt", NOUS_REDIS_URL=f"unix://{socket}")
        finally:
            server.terminate()

    assert result.returncode == MISCONFIGURED
    assert "maxmemory-policy is allkeys-lru" in result.stderr


def test_vectors_of_another_dimension_in_the_store_are_refused(nous: Nous, place: Path) -> None:
    container = build(Settings(data_dir=place / "data", embedder="hashed"))
    fact = Fact(
        id=uuid4(),
        scope=Scope(),
        text="The API listens on port 8080",
        category=Category.TECHNICAL,
        subject="",
        confidence=0.8,
        source=Source(episode_id=uuid4(), event_id=uuid4(), session_id="s1", turns=(1,)),
        learned_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    row = Learned(fact=fact, reason="a test", embedded_by=container.context.embedder.id)
    vector = np.array([1, 0, 0], dtype=np.float32)
    container.bus.apply(
        Effects(writes=(AppendFacts(scope=Scope(), expected=LogVersion(), rows=(row,), vectors={fact.id: vector}),))
    )

    result = nous("search", "port 8080")

    assert result.returncode == MISCONFIGURED
    assert "with 3 numbers, the embedder makes 256" in result.stderr


def test_an_unknown_worker_is_answered_with_those_there_are(nous: Nous) -> None:
    result = nous("worker", "fact-extractr")

    assert result.returncode == BAD_INPUT
    assert "there are decision-keeper, episode-embedder" in result.stderr


def test_a_data_directory_that_cannot_be_written_is_named(nous: Nous, place: Path) -> None:
    (place / "file").touch()

    result = nous("status", NOUS_DATA_DIR=str(place / "file"))

    assert result.returncode == MISCONFIGURED
    assert f"cannot keep data in {place / 'file'}" in result.stderr


def test_a_second_nous_up_says_that_there_is_one(nous: Nous, place: Path, wait_until: Any) -> None:
    environment = os.environ | {"NOUS_DATA_DIR": str(place / "data"), "NOUS_EMBEDDER": "hashed"}
    command = [sys.executable, "-m", "nous", "up"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        try:
            wait_until(lambda: "no worker runs" not in nous("status").stdout, "the first to be up")
            second = nous("up")
        finally:
            first.send_signal(signal.SIGTERM)

    assert second.returncode == MISCONFIGURED
    assert "nous is already up" in second.stderr
    assert first.returncode == 0
