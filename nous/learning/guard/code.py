"""What a text holds of code, where case and signs have a meaning."""

import re
from collections.abc import Iterable
from itertools import chain

from nous.learning.normalise import plain

_CODE = re.compile(
    r"`([^`]+)`"  # what is marked as code
    r"|([\[(][^\[\]()]*,[^\[\]()]*[\])])"  # an interval
    r"|\b([KMGTP]i?[bB](?:ps|/s|it)?)\b"  # a unit, of bits or bytes
    r"|(?<=\d)\s?([mMpP](?:Hz|Wh|[AFJVWgms]))\b"  # a unit, of thousandths or of millions
    r"|(?<!\S)([,;:.!/]+)(?!\S)"  # a sign alone
    r"|([^\s`()\[\],;:]+)"  # any other
)
_MEANS_ITS_CASE = re.compile(r"(?=.*[^\W\d_])(?:-\w|.*(?:[\d_/\\]|\w\.\w|[a-z][A-Z]))")
_SKELETON = re.compile(r"[\W_]+")


def code_in(text: str) -> frozenset[str]:
    """What *text* has of code: what is in backticks, whole and in parts, and what looks so: `getUserID`, `[0, 10)`."""
    return frozenset(chain.from_iterable(map(_pieces, _CODE.finditer(plain(text)))))


def _pieces(found: re.Match[str]) -> Iterable[str]:
    piece = found[found.lastindex or 0].strip()
    if found.lastindex != _CODE.groups:
        return (piece, *piece.split()) if found[1] else (piece,)
    bare = piece.strip(".!?\"'*")
    bare = bare[1:-1] if bare[:1] + bare[-1:] == "<>" else bare
    return (bare,) if _MEANS_ITS_CASE.match(bare) else ()


def code_apart(left: frozenset[str], right: frozenset[str]) -> str | None:
    """Why two pieces of the same letters are not the same, if there are such."""
    there = {_bare(piece): piece for piece in right - left}
    apart = (
        f"code differs: {piece} / {there[_bare(piece)]}" for piece in sorted(left - right) if _bare(piece) in there
    )
    return next(apart, None)


def _bare(piece: str) -> str:
    return _SKELETON.sub("", piece).casefold()
