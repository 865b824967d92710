"""The form in which equal texts are equal: case, spaces, quotes, emphasis and ordinary punctuation aside."""

import re
import unicodedata

import regex

_RAISED = str.maketrans({digit: f"^{number}" for number, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
"""NFKC would make `10²` and `102` the same."""

_SMALL = regex.compile(r"(?<=\p{Nd})(?=\p{No})")
"""Where it would make `1½` begin with 11."""

_UNLIKE = str.maketrans({"\u2032": "'", "\u2033": '"', "\u00b4": "'"})
"""Marks that NFKC would take apart, or leave as they are."""

_APOSTROPHES = "\u2018\u2019\u201a\u201b\u02bc"
_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
_HYPHENS = "\u2010\u2011\u2012\u2013"
_LONG_DASH = "\u2014"
_PLAIN = str.maketrans(
    dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_QUOTES, '"') | dict.fromkeys(_HYPHENS, "-") | {_LONG_DASH: " - "}
)
_MINUS = re.compile(r"\u2212(?=\S)")
"""Standing alone it is a sign, and a hyphen there is a dash."""

_QUOTED = tuple(
    re.compile(
        rf"(?<!\w){mark}((?:[^{mark}]|\b{mark}\b)*){mark}(?!\w)|(?<!\w){mark}()|(?<=[^\W\d]){mark}(?!\w)()",
    )
    for mark in "\"'`"
)
"""Quotes in pairs, and those at the edge of a word; but after a figure a single one is a unit: `5'`, `5\"`."""

_WRAPPED = re.compile(
    r"(?<![\w*])(?P<stars>\*{1,3})(?=[^\s*./])(?P<stressed>[^*]*)(?<=[^\s*])(?P=stars)(?![\w*])"
    r"|(?<![\w<])<(?P<named>[^\s<>]*\w[^\s<>]*)>(?![\w>])"
)
"""`**stressed words**`, `<name>`. A lone star or bracket is a sign: `*.py`, `< 5`, `->`."""

_FLAG = re.compile(r"(?<!\S)-(?=[A-Z](?!\w))")
"""`-V` is another flag than `-v`, whatever the case of other words."""

_SPAN = re.compile(r"(?<=\d)\s+-\s+(?=\d)")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
_OPENING = "([{,;"
_CLOSING = ")]}.,;:!"
_ORDINARY = ".,;:!-()"
_SAYING = regex.compile(r"[^\p{P}\p{Z}\p{C}\p{M}]|[#%&@*?/\\_\[\]{}§†‡‰\"'`]")
"""Whatever is no punctuation, as all signs of mathematics, money and pictures, and what punctuation means more."""


def plain(text: str) -> str:
    """*text* in NFKC, with one kind of apostrophe, quote and hyphen."""
    apart = _SMALL.sub(" ", text.translate(_RAISED)).translate(_UNLIKE)
    return _MINUS.sub("-", unicodedata.normalize("NFKC", apart).translate(_PLAIN))


def unadorned(text: str) -> str:
    """*text*, made plain, without quotes and emphasis; `10 - 20` is `10-20`."""
    bare = plain(text).replace("''", '"')
    for quoted in _QUOTED:
        bare = quoted.sub(_quotation, bare)
    while (less := _WRAPPED.sub(_content, bare)) != bare:
        bare = less
    return _FLAG.sub("-^", _SPAN.sub("-", bare))


def exact_form(text: str) -> str:
    """*text* casefolded, without quotes, outer punctuation and needless spaces; empty if nothing is left.

    Punctuation inside a word stays, since `3.5`, `a/b` and `commit[:7]` need it, and so does what has a meaning of its
    own at an edge or alone: `-5`, `C++`, `.env`, `!strict`, `:5`, `5"`, `[]`, a question mark, and every sign that is
    no punctuation: `< 5`, `→`, `€`, `✅`.
    """
    words = (_bare(word) for word in _APOSTROPHE.sub("", unadorned(text).casefold()).split())
    return " ".join(word for word in words if word)


def _quotation(quoted: re.Match[str]) -> str:
    """What stands in quotes; with them, if it is but signs: the delimiter `;` is no punctuation."""
    content = quoted[1] or ""
    return f'"{content}"' if content and not re.search(r"[\w\s]", content) else content


def _content(wrapped: re.Match[str]) -> str:
    return wrapped["stressed"] or wrapped["named"]


def _bare(word: str) -> str:
    if word.isalnum():
        return word  # as most are
    core = word.lstrip(_OPENING).rstrip(_CLOSING) or word.strip(_ORDINARY)
    return core if _SAYING.search(core) else ""
