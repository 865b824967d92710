"""Vectors, read from what a server that speaks OpenAI's protocol answers."""

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Unusable(ValueError):
    """An answer that does not hold the vectors that were asked for; the text says why."""


def vectors(body: bytes, *, count: int) -> "NDArray[np.float32]":
    """The vectors of *count* texts, one at least, in the order of their indices, each scaled to length 1.

    Raises:
        Unusable: they are not all there, not each once, not of one length, or one of them has no direction.
    """
    rows = _in_order(_items(body), count)
    if len({len(row) for row in rows}) > 1:
        raise Unusable("its vectors are not of one length")
    return _scaled(np.array(rows, dtype=np.float64))


def _items(body: bytes) -> Sequence[Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unusable("what it sent is not JSON") from error
    match found:
        case {"data": list() as items}:
            return items
        case {"error": error} if error:
            raise Unusable("it sent an error as if it were an answer")
        case _:
            raise Unusable("what it sent has no list of vectors")


def _in_order(items: Sequence[Any], count: int) -> "list[NDArray[Any]]":
    """The vectors of *items*, which may come in any order."""
    if len(items) != count:
        raise Unusable(f"it sent {len(items)} vectors for {count} texts")
    by_index = {index: row for index, row in map(_numbered, items) if 0 <= index < count}
    if len(by_index) != count:
        raise Unusable(f"it did not number its vectors from 0 to {count - 1}, each once")
    return [by_index[index] for index in range(count)]


def _numbered(item: Any) -> "tuple[int, NDArray[Any]]":
    match item:
        case {"index": int() as index, "embedding": str() as packed}:
            return index, _unpacked(packed)
        case {"index": int() as index, "embedding": list() as numbers}:
            return index, _listed(numbers)
        case _:
            raise Unusable("what it sent for a vector has no index or no numbers")


def _unpacked(packed: str) -> "NDArray[Any]":
    """The numbers of a vector in base64: each four bytes, the lowest first."""
    try:
        return np.frombuffer(base64.b64decode(packed, validate=True), dtype="<f4")
    except (binascii.Error, ValueError) as error:
        raise Unusable("a vector of it is not 32-bit numbers in base64") from error


def _listed(numbers: list[Any]) -> "NDArray[Any]":
    try:
        row = np.array(numbers)
    except (ValueError, OverflowError) as error:
        raise Unusable("a vector of it holds what is no number") from error
    if row.ndim != 1 or row.dtype.kind not in "fiu":
        raise Unusable("a vector of it holds what is no number")
    return row


def _scaled(rows: "NDArray[np.float64]") -> "NDArray[np.float32]":
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise Unusable("a vector of it is zero, or has numbers that are not finite")
    return (rows / lengths).astype(np.float32)
