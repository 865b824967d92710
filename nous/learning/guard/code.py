"""What a text holds of code, where case and signs have a meaning."""

import re
from collections.abc import Iterable
from itertools import chain

from nous.learning.guard.tokens import ABBREVIATED
from nous.learning.normalise import plain, unadorned

_CODE = re.compile(
    r"`([^`]+)`"  # what is marked as code
    r"|([\[(][^\[\](),]*+,[^\[\]()]*+[\])])"  # an interval
    r"|\b([KMGTP]i?[bB](?:ps|/s|it)?)\b"  # a unit, of bits or bytes
    r"|(?<=\d)\s?([mMpP](?:Hz|Wh|[AFJVWgms]))\b"  # a unit, of thousandths or of millions
    r"|(?<!\S)([,;:.!?/]+)(?!\S)"  # a sign alone
    r"|([^\s`()\[\],;:]+)"  # any other
)
_MEANS_ITS_CASE = re.compile(r"(?=.*[^\W\d_])(?:-\w|.*(?:[\d_/\\]|\w\.\w|[a-z][A-Z]))")
_SKELETON = re.compile(r"[\W_]+")
_BESIDE = re.compile(r"(?<!\w)(\w++)([,;:.!?]?(?: [,;:.!?&+=*-]+(?!\S))*)(?: (?=(\w+))|$)")
"""A word, the signs behind it, glued to it or alone, and the next word: `save! on`, `price - tax`, `build .`."""

_LAST = re.compile(r"(?<=\w)([.!?])\1*$|(?<=\w[!?])\.$| \.{3}$")
"""What ends a text and says no more than that it ends; but in `build .` and `:wq!` it says more."""

_LETTERS = re.compile(r"\w+")
_ALIKE = ({",", "."}, {",", ""})
"""One pause or another, and a comma or none, are the same; but for a comma that is elsewhere."""


def code_in(text: str) -> frozenset[str]:
    """What *text* has of code: what is in backticks, whole and in parts, and what looks so: `getUserID`, `[0, 10)`.

    A sign between two words may be so, too, and is told with them, `build . in`; as is a pause, and that there is none.
    """
    pieces = chain.from_iterable(map(_pieces, _CODE.finditer(plain(text))))
    bare = _LAST.sub("", " ".join(unadorned(text).replace('"', "").split()))
    return frozenset(chain(pieces, map(_between, _BESIDE.finditer(bare))))


def _between(found: re.Match[str]) -> str:
    word, signs, following = found.groups("")
    if signs in (".", ";", " -") or (signs in ("!", "?") and following[:1].isupper()):
        is_short = len(word) == 1 or f"{word.casefold()}." in ABBREVIATED
        signs = "" if is_short and signs == "." else "."
    is_value = signs == " =" and (following.isdigit() or not found.start())  # limit = 5, debug = true
    signs = "," if is_value or signs == ":" else signs
    return f"{word}{signs} {following} ".casefold()  # a blank at its end, as no piece of code has


def _pieces(found: re.Match[str]) -> Iterable[str]:
    piece = found[found.lastindex or 0].strip()
    if found.lastindex != _CODE.groups:
        return (piece, *piece.split()) if found[1] else (piece,)
    bare = piece.strip(".!?\"'*")
    bare = bare[1:-1] if bare[:1] + bare[-1:] == "<>" else bare
    return (bare,) if _MEANS_ITS_CASE.match(bare) else ()


def code_apart(left: frozenset[str], right: frozenset[str]) -> str | None:
    """Why two pieces of the same letters are not the same, if there are such."""
    there: dict[str, list[str]] = {}
    for piece in sorted(right - left):
        there.setdefault(_bare(piece), []).append(piece)
    turned = next((piece for piece in sorted(left - right) if _turned(piece) in right - left), None)
    if turned:
        return f"code differs: {turned.strip()} / {_turned(turned).strip()}"
    pairs = [(piece, other) for piece in sorted(left - right) for other in there.get(_bare(piece), ())]
    signs = [(_signs(piece), _signs(other)) for piece, other in pairs]
    is_moved = {(",", ""), ("", ",")} <= {*signs}
    apart = (pair for pair, each in zip(pairs, signs, strict=True) if is_moved or {*each} not in _ALIKE)
    return next((f"code differs: {piece.strip()} / {other.strip()}" for piece, other in apart), None)


def _turned(piece: str) -> str:
    """`price - tax ` for `tax - price `, which is told as a pause."""
    first, _, second = piece.strip().partition(". ")
    return f"{second}. {first} "


def _bare(piece: str) -> str:
    return _SKELETON.sub(" " if piece.endswith(" ") else "", piece).casefold()


def _signs(piece: str) -> str | None:
    """What stands between the words of *piece*, if it tells that."""
    return _LETTERS.sub("", piece).rstrip() if piece.endswith(" ") else None
