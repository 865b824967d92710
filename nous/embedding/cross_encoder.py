"""Score text pairs with a local ONNX cross-encoder: probability that both say the same."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nous.domain.errors import Misconfigured
from nous.embedding.minilm import INSTALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

LONGEST_PAIR = 512  # maximum word pieces of both texts together


class CrossEncoder:
    """`PairScorer` from `model.onnx` (one or two logits) and `tokenizer.json`; loads lazily."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Return how probably the texts of each pair say the same. Raises `Misconfigured`."""
        return [self._score(one, other) for one, other in pairs]

    def _score(self, one: str, other: str) -> float:
        tokenizer, session = self._model
        encoded = tokenizer.encode(one, other)
        given = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "token_type_ids": encoded.type_ids}
        wanted = {each.name for each in session.get_inputs()}
        inputs = {name: np.array([values], dtype=np.int64) for name, values in given.items() if name in wanted}
        logits = np.asarray(session.run(None, inputs)[0], dtype=np.float64).reshape(-1)
        if logits.size not in {1, 2}:
            raise Misconfigured(f"the scorer {self._folder} has {logits.size} outputs; one or two are read")
        margin = logits[-1] - (logits[0] if logits.size == 2 else 0.0)
        return float(1 / (1 + np.exp(-np.clip(margin, -30, 30))))

    @cached_property
    def _model(self) -> tuple[Tokenizer, InferenceSession]:
        try:
            import onnxruntime  # noqa: PLC0415  (an extra, and slow to import)
            from tokenizers import Tokenizer  # noqa: PLC0415  (an extra)

            tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            session = onnxruntime.InferenceSession(str(self._folder / "model.onnx"), providers=["CPUExecutionProvider"])
        except ImportError as error:
            raise Misconfigured(f"dedup.scorer needs onnxruntime and tokenizers; {INSTALL}") from error
        except Exception as error:  # both libraries raise classes of their own
            raise Misconfigured(f"dedup.scorer: {self._folder} cannot be loaded: {error}") from error
        tokenizer.enable_truncation(LONGEST_PAIR)
        return tokenizer, session
