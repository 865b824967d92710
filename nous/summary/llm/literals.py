"""Literals of a statement: numbers, paths, identifiers and quotes.

No paraphrase changes them. They are compared in one normal form: NFKC, casefolded, with one kind of quote, apostrophe,
hyphen and space, and without the marks of code and emphasis. `9,017` is 9017 and `v1.20` is 1.20; a number is separate
from its unit. Of a date in ISO 8601, year and day count: its month may be written as a word.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

_PLAIN = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff`")
)

_ISO = re.compile(r"(?<![\w-])(\d{4})-\d\d-(\d\d)(?=t\d|(?![\w-]))")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:[,_']\d{3})+(?!\d|[,_']\d)")
_NUMBER = re.compile(r"(?<![^\W\d_])(?<!\d)(?<!\d\.)v?(\d+(?:\.\d+)*)(?!\d)(?=[^\W\d_]{0,12}(?!\w))")
_TURNS = re.compile(r"\bturns? #?\d+(?:(?:,? (?:and|to|or|&)|,| ?-) ?#?\d+)*(?!\w|\.\d)", re.IGNORECASE)
_WORD = re.compile(r"\w+")

_QUOTED = re.compile(r"```(.+?)```|`([^`]+)`|\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|\u00ab([^\u00bb]+)\u00bb", re.DOTALL)
_URL = re.compile(r"\b[a-z][a-z+.-]*://[^\s<>\"]+", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/])(?:~|\.{1,2})?/?[\w.@+-]+(?:/[\w.@+*-]+)+/?|(?<![\w/])(?:~|\.{0,2})/[\w.@+-]+")
_HASH = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?<![\w-])--[a-z][\w-]*"
    r"|\b[^\W\d]\w*(?:\.[^\W\d]\w*)+"
    r"|\b\w*[^\W_]_\w+|\b_\w+"
    r"|\b[^\W\d_]*[a-z][A-Z]\w*"
    r"|\b(?=\w*\d)(?!\d+[^\W\d_]{0,12}\b)\w+"
    r"|(?<![\w.)\]])\.[^\W\d]\w+"
)
_VERSION_OF = re.compile(r"v\d+", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_CLOSING = ".,;:!?)]}'"
_ELISION = re.compile(r"\s*(?:\.\.\.|\u2026)\s*")


class Literal(NamedTuple):
    """Literal in its normal form, and its kind, which decides how it is compared."""

    kind: str
    text: str


class LiteralSource:
    """Text in which literals are looked up."""

    def __init__(self, text: str) -> None:
        self.text = plain(text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(_numbers(self.text))

    @cached_property
    def words(self) -> str:
        """Its words alone, with one space around each."""
        return f" {' '.join(_WORD.findall(self.text))} "

    def says(self, token: Literal) -> bool:
        match token.kind:
            case "number":
                return token.text in self.numbers
            case "quote":
                return token.text in self.words
            case _:
                return token.text in self.text and _bounded(token).search(self.text) is not None


def plain(text: str) -> str:
    """Return the normal form of *text* for comparison."""
    form = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return " ".join(_GROUPED.sub(_ungrouped, form.casefold().replace("**", "")).split())


def literals_in(text: str) -> frozenset[Literal]:
    """Return the literals that a source of *text* must contain; turn numbers are not among them."""
    found: set[Literal] = set()
    rest = _TURNS.sub(" ", unicodedata.normalize("NFKC", text))
    rest = _quoted(rest, found)
    for pattern, literal_of in _FORMS:
        rest = _taken(pattern, rest, literal_of, found)
    rest = _ISO.sub(r"\1 \2", plain(rest))
    return frozenset(found | {Literal("number", number) for number in _numbers(rest)})


def _quoted(text: str, found: set[Literal]) -> str:
    def take(quote: re.Match[str]) -> str:
        said = next(part for part in quote.groups() if part is not None)
        is_code = quote[0][0] == "`"
        for part in _ELISION.split(said):
            if is_code and (code := plain(part).strip(" ")):
                found.add(Literal("code", code))
            elif words := _WORD.findall(plain(part)):
                found.add(Literal("quote", f" {' '.join(words)} "))
                found.update(Literal("number", number) for number in _numbers(plain(part)))
        return " "

    return _QUOTED.sub(take, text)


def _link(written: str) -> Literal:
    return Literal("link", plain(written.rstrip(_CLOSING + "/")))


def _path(written: str) -> Literal | None:
    """Return the literal of a path; None for `and/or` and the like, and for fractions."""
    path = written.rstrip(".")
    parts = [part for part in path.split("/") if part]
    is_path = path[0] in "/~." or len(parts) > 2 or "." in parts[-1] or "_" in path
    is_fraction = all(part.replace(".", "").isdigit() for part in parts)
    return Literal("path", plain(path.rstrip("/"))) if is_path and parts and not is_fraction else None


def _name(written: str) -> Literal | None:
    is_none = _VERSION_OF.fullmatch(written) or _INITIALS.fullmatch(written)
    return None if is_none else Literal("name", plain(written))


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], Literal | None]], ...] = (
    (_URL, _link),
    (_PATH, _path),
    (_HASH, lambda written: Literal("hash", plain(written))),
    (_NAME, _name),
)


def _taken(pattern: re.Pattern[str], text: str, token_of: Callable[[str], Literal | None], found: set[Literal]) -> str:
    """Return *text* without the literals that *pattern* finds, and add these to *found*."""

    def take(written: re.Match[str]) -> str:
        token = token_of(written[0])
        if token is None:
            return written[0]
        found.add(token)
        return " "

    return pattern.sub(take, text)


def _bounded(token: Literal) -> re.Pattern[str]:
    """Return a pattern for *token* alone; a hash may begin a longer one, a path end one."""
    first, last = token.text[0], token.text[-1]
    before = r"(?<!\w)(?<!\d\.)" if first.isalnum() or first == "_" else ""
    if token.kind == "path":
        before = r"(?<![\w./~-])" if token.text[0] in "/~." else r"(?<![\w.-])"
    after = r"(?!\w)" if last.isalpha() or last == "_" else r"(?!\w|\.\d)" if last.isdigit() else ""
    if token.kind in {"path", "link"}:
        after = r"(?![\w-]|\.\w)"
    if token.kind == "hash":
        after = ""
    return re.compile(f"{before}{re.escape(token.text)}{after}")


def _numbers(text: str) -> list[str]:
    return [_canonical(number[1]) for number in _NUMBER.finditer(text)]


def _canonical(number: str) -> str:
    """Return *number* without leading zeros, and without those at the end of a decimal."""
    whole, _, rest = number.partition(".")
    rest = rest if "." in rest else rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")


def _ungrouped(number: re.Match[str]) -> str:
    return re.sub(r"\D", "", number[0])
