"""Shorten turns and tool results by leaving sentences out.

Code fences and short texts stay as they are, and so do line breaks. Sentences with errors, addresses and the like
always stay, those with numbers unless they are most of the text. Others compete by their place and by the words that
they share with the beginning. All counts are estimates as specified: a quarter of the bytes, and one.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from nous.text.language import tables
from nous.text.sentences import fences

SHORT = 80
"""Tokens below which a text is not compressed."""


class CompressionMode(StrEnum):
    OFF = "off"
    BALANCED = "balanced"
    AGGRESSIVE = "aggressive"


# The share of a text's tokens that a mode aims at, and the share that is left at least.
_RETAINED = {CompressionMode.OFF: 1.0, CompressionMode.BALANCED: 0.55, CompressionMode.AGGRESSIVE: 0.35}
_FLOOR = 0.25


@dataclass(frozen=True, slots=True)
class Compressed:
    """A text after compression, and its tokens before and after."""

    text: str
    original_tokens: int
    compressed_tokens: int


def count_tokens(text: str, /) -> int:
    """Return the token estimate of the specification: a quarter of the UTF-8 bytes, and one."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def compress(text: str, mode: CompressionMode | str = CompressionMode.BALANCED) -> Compressed:
    """Return *text* with about 55 % (balanced) or 35 % (aggressive) of its tokens; never longer.

    More stays where more has to: code, errors, addresses. Of JSON on one line, the beginning and the end of long lists
    and strings stay, and it stays JSON. Raises ValueError for an unknown *mode*.
    """
    mode, tokens = CompressionMode(mode), count_tokens(text)
    if mode is CompressionMode.OFF or tokens < SHORT:
        return Compressed(text, tokens, tokens)
    room = int(tokens * _RETAINED[mode])
    shorter = _smaller_json(text, room) or _without_sentences(text, 4 * room, mode)
    after = count_tokens(shorter)
    return (
        Compressed(shorter, tokens, after) if shorter.strip() and after < tokens else Compressed(text, tokens, tokens)
    )


_LEFT_OUT = " ... "  # mark between pieces of a sentence that were not neighbors


class _Unit(NamedTuple):
    """A sentence, a piece of one, or a whole code block, and the white space behind it."""

    text: str
    gap: str
    is_code: bool = False
    is_piece: bool = False

    @property
    def bytes(self) -> int:
        mark = len(_LEFT_OUT) if self.is_piece else 0
        return len((self.text + self.gap).encode("utf-8", "surrogatepass")) + mark


_GAP = re.compile(r"((?<=[.!?])[ \t]+(?=\S)|(?<![ \t])[ \t]*\n(?:[ \t]*\n)*|(?<=[\u3002\uff01\uff1f])(?=\S))")
_LONGEST = 200  # characters of a piece of a sentence that is larger than the room for all, unless it is an address
_WHOLE = 400  # bytes of a sentence that has to stay: up to these, it is never taken in pieces


def _without_sentences(text: str, room: int, mode: CompressionMode) -> str:
    """Return *text* with the sentences that fit into *room* bytes beside those that always stay."""
    units = [piece for unit in _units(text) for piece in _pieces(unit, room)]
    code = sum(unit.bytes for unit in units if unit.is_code)
    fewest = int(_FLOOR * sum(unit.bytes for unit in units)) - code
    prose = [at for at, unit in enumerate(units) if not unit.is_code]
    chosen = {prose[at] for at in _chosen([units[at] for at in prose], room - code, fewest, mode)}
    kept = [unit.is_code or at in chosen for at, unit in enumerate(units)]
    return "".join(_joined(units, kept))


def _units(text: str) -> Iterator[_Unit]:
    begun = 0
    for fence in fences(text):
        yield from _sentences(text[begun : fence.start])
        yield _Unit(text[fence.start : fence.end], "", is_code=True)
        begun = fence.end
    yield from _sentences(text[begun:])


def _sentences(prose: str) -> Iterator[_Unit]:
    pieces = [*_GAP.split(prose), ""]
    return (_Unit(*pair) for pair in zip(pieces[::2], pieces[1::2], strict=True))


def _pieces(unit: _Unit, room: int) -> Iterator[_Unit]:
    """Yield *unit*; in pieces, by words if it has any, if it exceeds *room* and may be cut."""
    is_whole = unit.bytes <= _WHOLE and _has_to_stay(unit.text)
    if unit.is_code or not unit.text or unit.bytes <= room or is_whole:
        yield unit
        return
    most = max(min(_LONGEST, room // 5), 1)
    found = list(re.finditer(rf"(\s?\S{{0,80}}://\S*|.{{1,{most}}}(?!\S)|.{{1,{most}}})(\s*)", unit.text, re.DOTALL))
    yield from (_Unit(piece[1], piece[2], is_piece=True) for piece in found[:-1])
    yield _Unit(found[-1][1], unit.gap, is_piece=True)


def _joined(units: Sequence[_Unit], kept: Sequence[bool]) -> Iterator[str]:
    """Yield the kept units; of the gaps around dropped ones, the one of most weight stays."""
    gap: str | None = None  # nothing was kept yet
    for unit, is_kept in zip(units, kept, strict=True):
        if is_kept:
            yield (gap or "") + (unit.text if unit.is_code else _without_fillers(unit.text))
            gap = unit.gap
        elif gap is not None:
            gap = max(gap, _LEFT_OUT if unit.is_piece else unit.gap, key=_weight)


def _weight(gap: str) -> tuple[int, int, int]:
    return gap.count("\n"), len(gap.strip()), len(gap)


_TABLES = tables("nous.context", "compression")
_NUMBER = re.compile(r"(?<![^\W\d])\d")
_INTENT_SENTENCES, _INTENT_LETTERS = 2, 4


def _chosen(units: Sequence[_Unit], room: int, fewest: int, mode: CompressionMode) -> set[int]:
    """Return the indexes of sentences to keep: those that have to stay, then the best that fit.

    They fit into *room* bytes. Below *fewest* bytes, the next best is kept though it does not fit.
    """
    always = [*_TABLES["kept"], *(_TABLES["preferred"] if mode is CompressionMode.BALANCED else ())]
    texts = [unit.text.casefold() for unit in units]
    kept = {at for at, text in enumerate(texts) if any(word in text for word in always)}
    numbered = {at for at, text in enumerate(texts) if _NUMBER.search(text)}
    if sum(units[at].bytes for at in numbered) <= room:  # a log has nothing but lines with numbers
        kept |= numbered
    said = [unit.text for unit in units if unit.text.strip()]
    intent = {word for text in said[:_INTENT_SENTENCES] for word in text.split() if len(word) >= _INTENT_LETTERS}
    scores = [_score(at, len(units), unit.text, intent, mode) for at, unit in enumerate(units)]
    left = room - sum(units[at].bytes for at in kept)
    for at in sorted(range(len(units)), key=lambda at: -scores[at]):
        if at not in kept and (units[at].bytes <= left or room - left < fewest):
            kept.add(at)
            left -= units[at].bytes
    return kept


def _score(at: int, total: int, text: str, intent: set[str], mode: CompressionMode) -> float:
    """Score a sentence by its place, numbers, and the words that it shares with the beginning."""
    said = text.split()
    place = 2.5 if at == 0 else 1.5 if at < total / 4 else 1.2 if at > total * 4 / 5 else 1.0
    factor = place * (1.4 if _NUMBER.search(text) else 1.0)
    if mode is CompressionMode.AGGRESSIVE:
        lower = text.casefold()
        factor *= 1.3 if any(word in lower for word in _TABLES["preferred"]) else 1.0
        factor *= 0.65 if text.startswith(tuple(_TABLES["trailing"])) else 1.0
    return (sum(word in intent for word in said) / max(len(said), 1) + 0.2) * factor


def _either(phrases: Sequence[str]) -> str:
    return "|".join(map(re.escape, phrases))


_OPENS = re.compile(rf"(?:(?:{_either(_TABLES['fillers_first'])})\s+)+(.)", re.IGNORECASE)
_WITHIN = re.compile(rf"(?<!\bnot)(?<!n't)\s(?:{_either(_TABLES['fillers_within'])})(?=\s)", re.IGNORECASE)


def _without_fillers(text: str) -> str:
    indent = len(text) - len(text.lstrip())
    said = _WITHIN.sub("", text[indent:])
    if opening := _OPENS.match(said):
        said = opening[1].upper()[:1] + said[opening.end() :]
    return text[:indent] + said


_LETTERS = 40  # characters of a string for each element of a list


def _smaller_json(text: str, room: int) -> str:
    """Shorten the lists and strings of JSON to about *room* tokens; "" for other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return ""
    indent, separators = (2, None) if "\n" in text.strip() else (None, (",", ":"))
    form: Any = {"ensure_ascii": text.isascii() or "\\ud" in text, "allow_nan": False, "separators": separators}

    def cut(most: int) -> str:
        return json.dumps(_cut(value, most), indent=indent, **form)

    try:
        value = json.loads(text)
        most = bisect_right(range(1, len(text)), room, key=lambda most: count_tokens(cut(most)))
        return cut(max(most, 1))
    except (ValueError, RecursionError):  # no JSON, a number beyond a float, or nested too deeply
        return ""


def _cut(value: Any, most: int) -> Any:
    """Cut lists of a JSON value to *most* elements, beside the last and those with errors."""
    if isinstance(value, str) and len(value) > most * _LETTERS:
        tail = most * _LETTERS // 3
        return value if _has_to_stay(value) else f"{value[: most * _LETTERS - tail]} ... {value[-tail:]}"
    if isinstance(value, list):
        kept = [at for at, one in enumerate(value) if at < most or at == len(value) - 1 or _has_to_stay(str(one))]
        left_out = [f"... {len(value) - len(kept)} more"] if len(kept) < len(value) else []
        return [*(_cut(value[at], most) for at in kept), *left_out]
    if isinstance(value, dict):
        return {name: _cut(one, most) for name, one in value.items()}
    return value


def _has_to_stay(text: str) -> bool:
    lower = text.casefold()
    return any(word in lower for word in _TABLES["kept"])
