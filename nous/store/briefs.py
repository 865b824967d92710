"""Briefs as bytes: compressed JSON, a passage as [text, role, turn]."""

import zlib
from functools import cache
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from nous.brief import Brief
from nous.errors import Misconfigured


def packed(brief: Brief) -> bytes:
    """Write a brief; half of a surrogate pair, which no store holds, becomes a question mark."""
    windows = [[[_whole(text), role, turn] for text, role, turn in passages] for passages in brief.windows]
    content: dict[str, Any] = {"windows": windows, "decisions": brief.decisions}
    return zlib.compress(orjson.dumps(content, option=orjson.OPT_UTC_Z))


def unpacked(raw: bytes) -> Brief:
    """Read what `packed` wrote.

    Raises:
        Misconfigured: it is something else.
    """
    try:
        return _adapter().validate_json(zlib.decompress(raw))
    except (zlib.error, ValidationError):
        raise Misconfigured("the store holds a brief that this release cannot read") from None


def _whole(text: str) -> str:
    return text.encode(errors="replace").decode()


@cache
def _adapter() -> TypeAdapter[Brief]:
    return TypeAdapter(Brief)
