"""What a statement is about, by name, so that whoever speaks of the same thing in another session calls it the same.

Numbers are no names: of "listens on port 8080" and "listens on port 8081" the one may take the other's place.
"""

import re
from collections.abc import Iterator

from nous.language import words
from nous.summary.statements import terms

_NAME = re.compile(
    r"`[^`]+`"
    r"|(?<![\w/.])(?:(?:[\w.@~-]*/){2,}[\w.-]*\w|[\w@~-]+/[\w-]*\.\w+|\.[\w-]+/[\w.-]*\w)"
    r"|(?<![\w-])--[a-z][\w-]+"
    r"|\b[A-Z]{2,}-\d+\b|#?\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{5,}\b"
    r"|\b[\w-]{2,}(?:\.[\w-]{2,})*\.[a-z]{1,5}\b(?!\.\w)"
    r"|\b\w+_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b\w+(?=\(\))"
)
_ASIDE = re.compile(r" \([^()]{2,}\)")
_FEW_WORDS = re.compile(r"[\w./@#-]+(?: [\w./-]+){0,2}\Z")
_WORD_OF_CODE = re.compile(r"[A-Za-z@./#-][\w./@#-]+")
_NO_CODE = re.compile(r"`[\s\"'\\]")
"""What begins a text in quotes, or a sequence of characters, in code."""

_PLACE = re.compile(r":\d[\d:-]*\Z")
_LETTER = re.compile(r"[^\W\d_]")
_BEGINNING = re.compile(r"[\w'\u2019./-]+(?: [\w'\u2019./-]+){1,7}")
_ARTICLES = frozenset({"the", "a", "an", "our", "each", "every", "any"})
_JOINS = frozenset({"of", "for", "in", "on", "to"})


def subject_of(text: str, otherwise: str = "") -> str:
    """What *text* is about: what its sentence speaks of, if that has a proper name, or else the first name of code.

    What stands in brackets is an aside; it counts where nothing else does.
    """
    bare = _ASIDE.sub("", text)
    spoken_of = _spoken_of(bare)
    is_called = any(word[0].isupper() for word in spoken_of.split()[1:])
    return (spoken_of if is_called else "") or _first(bare) or spoken_of or _first(text) or otherwise


def code_of(text: str, otherwise: str = "") -> str:
    """The first name in code, file, option or number of an order in *text*."""
    return _first(text) or otherwise


def _first(text: str) -> str:
    return next(filter(None, names_in(text)), "")


def is_named(text: str) -> bool:
    """Whether the code in *text*, if there is any, has a name that is not called so anywhere."""
    names = set(names_in(text))
    sets = words().sets
    return "`" not in text or not names <= sets["of_any_code"] | sets["general"]


def names_in(text: str) -> Iterator[str]:
    """The names in *text*, without the marks of code, the arguments of calls and the lines of files."""
    for found in _NAME.finditer(text):
        if _NO_CODE.match(found[0]):
            continue
        bare = _PLACE.sub("", found[0].strip("`").partition("(")[0]).strip(" *").rstrip(".")
        if not _FEW_WORDS.match(bare):
            bare = _inner(bare)
        if _LETTER.search(bare):
            yield bare


def _inner(code: str) -> str:
    """What stands for a line of code or a long command: the first name in it, or else its first word."""
    parts = _WORD_OF_CODE.findall(code)
    return next((part for part in parts if _NAME.search(part)), parts[0] if parts else "")


def _spoken_of(text: str) -> str:
    """The few words that *text* begins with, up to its verb, if they name something."""
    known = words()
    begun = _BEGINNING.match(text)
    told = begun[0].split() if begun else []
    verb = next((at for at, word in enumerate(told) if word.lower() in known.sets["stating"]), 0)
    phrase = told[told[:1] != [] and told[0].lower() in _ARTICLES : verb]
    linked = {word.lower() for word in phrase} & (known.sets["stopwords"] | known.sets["joining"])
    return " ".join(phrase) if linked <= _JOINS and terms(" ".join(phrase)) else ""
