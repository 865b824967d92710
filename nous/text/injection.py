"""Recognize planted instructions in text, also where Unicode or an encoding disguises them.

The patterns are data (`injection.toml`), in English; commands and options are the same in every language. What a text
in another language says is not judged: `is_english` tells whether it could be.
"""

import re
import unicodedata
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache, lru_cache

from nous.text.language import tables, words


class Aim(StrEnum):
    RUN_DOWNLOAD = "run_download"
    WEAKEN_SECURITY = "weaken_security"
    ADDRESS_AGENT = "address_agent"
    CHANGE_MEMORY = "change_memory"
    SPEAKS_FOR_USER = "speaks_for_user"
    FUTURE_ORDER = "future_order"


def aims(text: str, *, of_agent: bool = False, is_typed: bool = False) -> frozenset[Aim]:
    """Return the aims of the instructions in *text*, by default of a tool or a page.

    *of_agent* leaves out what agents write honestly, and *is_typed* the rules that people type.
    """
    strong, plain = _aims_of(text)
    if not of_agent:
        return strong if is_typed else strong | plain
    if Aim.FUTURE_ORDER in plain:
        return strong | (plain & _TOLD)
    return strong - _TOLD if is_english(text) else strong


@lru_cache(maxsize=4096)
def _aims_of(text: str) -> tuple[frozenset[Aim], frozenset[Aim]]:
    said = unmasked(text)
    if (flat := " ".join(said.split())) != said:
        said = f"{said}\n{flat}"
    if _says("mentions", said):
        said = _QUOTE.sub(" ", said)
    strong = frozenset(aim for aim in Aim if _says(aim, said))
    plain = frozenset(aim for aim in Aim if _says(aim, said, kind="plain"))
    is_report = Aim.FUTURE_ORDER not in plain and _says("reports", said)
    return (strong - _TOLD, plain - _TOLD) if is_report else (strong, plain)


def addresses(text: str) -> bool:
    """Return whether *text* speaks to or about a reader; output of a program seldom does."""
    return _says("addresses", text)


def reports_on_document(text: str) -> bool:
    """Return whether an agent's *text* tells what a page, a file or an output says."""
    return _says("documents", text)


# Aims that an agent also reports on; in its words, they count only in an order.
_TOLD = frozenset({Aim.RUN_DOWNLOAD, Aim.WEAKEN_SECURITY})
_QUOTATION = re.compile(r"\"[^\"\n]*\s[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»")
_QUOTE = re.compile(r"'[^'\n]{8,}'|\"[^\"\n]{8,}\"|“[^”\n]{8,}”|`[^`\n]{8,}`")


def unquoted(text: str) -> str:
    """Return *text* without what it quotes in full: whole sentences, not names."""
    return _QUOTATION.sub(" ", text)


def _says(name: str, text: str, *, kind: str = "strong") -> bool:
    return _patterns()[name][kind].search(text) is not None


@cache
def _patterns() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    return {
        aim: {kind: re.compile("|".join(each) or r"(?!)", re.IGNORECASE) for kind, each in kinds.items()}
        for aim, kinds in tables("nous.text", "injection").items()
    }


_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef]"
)
_REVERSED = re.compile("[\u202e\u2067]([^\u202c\u2069\n]+)")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_TAG = 0xE0000
_BASE64 = re.compile(r"(?<![\w+/=])[A-Za-z0-9+/]{24,}={0,2}(?![\w+/=])")
_SPACED = re.compile(r"(?<!\S)\S(?: {1,3}\S(?!\S)){4,}|(?<!\S)(?:\w[.·_-]){4,}\w(?!\S)")
_LEET = re.compile(r"\b(?=\w*[a-z])(?=\w*[0134578@$])[a-z0134578@$]{3,}\b", re.IGNORECASE)
_LEET_SIGNS = str.maketrans("0134578@$", "oieastbas")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝвкмнтгАВЕКМНОРСТХУІЈЅαοριντυχηκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwbkmhtrABEKMHOPCTXYIJSaopivtuxnkABEZHIKMNOPTYX",
)
_WORD = re.compile(r"\w+")
_MARKS = re.compile("(?<=[a-zA-Z])[\u0300-\u036f\u0489]+")
_DASHES = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "--", "\u2014": "--"})
_LATIN, _LOOKALIKE = re.compile("[a-zA-Z]"), re.compile("[\u0370-\u04ff]")


def is_disguised(text: str) -> bool:
    """Return whether words of *text* are invisible, reversed, spaced or of two scripts."""
    return any(each.search(text) for each in (_TAGS, _REVERSED, _SPACED)) or _mixed(text) > 1


def _mixed(text: str) -> int:
    if text.isascii():
        return 0
    return sum(1 for word in _WORD.findall(text) if _LATIN.search(word) and _LOOKALIKE.search(word))


def unmasked(text: str) -> str:
    """Return *text* as a reader takes it, with what invisible or encoded characters say."""
    hidden = [*("".join(chr(ord(c) - _TAG) for c in found[0]) for found in _TAGS.finditer(text))]
    hidden += [found[1][::-1] for found in _REVERSED.finditer(text)]
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", _TAGS.sub("", text)))
    plain = _MARKS.sub("", plain).translate(_DASHES)
    if _mixed(plain):
        plain = plain.translate(_LOOKALIKES)
    plain = _SPACED.sub(lambda found: re.sub(r"(?<=\S)[ .·_-](?=\S)", "", found[0]), plain)
    hidden += _decoded(plain)
    if not plain.isascii() or _LEET.search(plain):
        hidden.append(_LEET.sub(lambda found: found[0].translate(_LEET_SIGNS), plain))
    return "\n".join((plain, *hidden)) if hidden else plain


def _decoded(text: str) -> Iterator[str]:
    for found in _BASE64.finditer(text):
        with suppress(Error, UnicodeDecodeError):
            said = b64decode(found[0] + "=" * (-len(found[0]) % 4)).decode()
            if said.isprintable():
                yield said


_ASCII_SHARE, _FEWEST_FOREIGN = 0.9, 2
_LETTERS = re.compile(r"[^\W\d_]+")


def is_english(text: str) -> bool:
    """Return whether *text* is in the language of the patterns, with few words of another."""
    found = [word.casefold() for word in _LETTERS.findall(unmasked(text))]
    letters = sum(map(len, found))
    if sum(c.isascii() for word in found for c in word) < _ASCII_SHARE * letters:
        return False
    idle = words().sets["stopwords"]
    known = sum(word in idle for word in found)
    is_foreign = _patterns()["foreign"]["strong"].fullmatch
    foreign = sum(not word.isascii() or is_foreign(word) is not None for word in found)
    return foreign < _FEWEST_FOREIGN or foreign < known
