"""Estimate the token count of a text from its byte patterns, without a tokenizer.

The unit is one token of `o200k_base`, the byte-pair vocabulary of GPT-4o to GPT-5. `estimate` predicts it without the
vocabulary. A caller that knows its model passes the model's own tokenizer instead: any callable of type `Counter`.
"""

from collections.abc import Mapping
from typing import Protocol

from nous.text.language import tables


class Counter(Protocol):
    """Deterministic token counter: 0 for an empty text and at least 1 for any other."""

    def __call__(self, text: str, /) -> int: ...


def estimate(text: str, /) -> int:
    """Estimate the number of `o200k_base` tokens of *text*, with a bias towards too many.

    The mean error on texts of 0.8 to 8 KB is +1 to +5 percent in English, code, JSON and tool output, and +3 to +8 in
    Chinese, Japanese and Korean; nine in ten lie between -6 and +14. Measured on the half of the files that the prices
    were not fitted on; tests/benchmarks/token_estimate.py prints it.

    Other vocabularies cut differently. Claude Opus 4.5 and 4.6 were billed 1.16 times the estimate in the same sessions
    (median; nine times out of ten at most 1.27).

    A longer text never counts less: `estimate(a + b)` is at least `estimate(a) + estimate(b) - 1`, and at most
    `estimate(a) + estimate(b) + 3`, so the place to cut can be found by bisection. Speed: about 20 MB/s.
    """
    return max(-(-_thousandths(text) // 1000), 1) if text else 0


_TABLES = tables("nous.text", "tokens")


def _classes(name: str, default: str) -> bytes:
    """Return a table for `bytes.translate` that maps each byte to the letter of its class."""
    of_byte = {byte: letter for letter, ranges in _TABLES[name].items() for a, b in ranges for byte in range(a, b + 1)}
    return bytes(ord(of_byte.get(byte, default)) for byte in range(256))


def _prices(*names: str) -> Mapping[bytes, int]:
    return {pattern.encode(): price for name in names for pattern, price in _TABLES[name].items()}


_SHAPE, _SCRIPT = _classes("shape", "p"), _classes("script", "S")
_NOT_FIRST = bytes(range(0x80, 0xC0))
_ASCII_OR_NOT_FIRST = bytes(range(0xC0))
_WRITTEN = 141  # each ASCII character but the space
_BORDERS, _WIDE_BORDERS = _prices("borders"), _prices("borders", "wide_borders")
_CHARACTERS = _prices("characters")


def _thousandths(text: str) -> int:
    raw = text.encode("utf-8", "surrogatepass")
    if raw.isascii():
        return _priced(raw.translate(_SHAPE), _BORDERS)
    scripts = raw.translate(_SCRIPT, _ASCII_OR_NOT_FIRST)
    return _priced(raw.translate(_SHAPE, _NOT_FIRST), _WIDE_BORDERS) + _total(scripts, _CHARACTERS)


def _priced(shape: bytes, borders: Mapping[bytes, int]) -> int:
    written = len(shape) - shape.count(b"s") - shape.count(b"w")
    return written * _WRITTEN + _total(shape, borders)


def _total(shape: bytes, prices: Mapping[bytes, int]) -> int:
    # `count` counts non-overlapping occurrences. Two concatenated texts have those of both, and at most one more across
    # the seam. That bounds the estimate of a whole by the estimates of its parts.
    return sum(shape.count(pattern) * price for pattern, price in prices.items())
