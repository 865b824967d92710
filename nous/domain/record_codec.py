"""Encode dataclass records as JSON to be stored; decode and validate them. No I/O.

Fields that a newer release added are ignored. Fields that it dropped need a default.
"""

from functools import cache
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from nous.domain.errors import BadInput, Misconfigured

T = TypeVar("T")


def encode(record: object) -> bytes:
    """Encode a dataclass as compact JSON. Raises `BadInput` for half of a surrogate pair."""
    try:
        return orjson.dumps(record, option=orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError as error:
        raise BadInput(f"{type(record).__name__} cannot be stored: {error}") from error


def decode(kind: type[T], raw: bytes) -> T:
    """Decode a dataclass. Raises `Misconfigured`, which names fields and quotes no content."""
    try:
        return adapter(kind).validate_json(raw)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False, include_context=False)
        fields = ", ".join(".".join(map(str, problem["loc"])) or "all of it" for problem in problems[:5])
        raise Misconfigured(f"the store holds no {kind.__name__} that this release can read ({fields})") from None


@cache
def adapter(kind: type[Any]) -> TypeAdapter[Any]:
    """Return the validator of a dataclass, which is slow to build."""
    return TypeAdapter(kind)
