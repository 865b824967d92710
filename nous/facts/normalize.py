"""The form in which equal texts are equal: spaces, quotes, emphasis, a final stop and the case of plain words aside."""

import re
import unicodedata

import regex

from nous.text.sanitize import readable

_RAISED = regex.compile(r"(?=(?!™|℠)\p{Decomposition_Type=Super})")
"""Where NFKC would make `10²` and `102` the same; but `Redis™` is `RedisTM`, in whatever place that stands."""

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
    r"(?<![\w*])(?P<stars>\*{2,3})(?=[^\s*./])(?P<stressed>[^*]*)(?<=[^\s*])(?P=stars)(?![\w*])"
    r"|(?<![\w<])<(?=[^\s<>]*>(?![\w>]))(?P<named>[^\s<>]*\w[^\s<>]*)>"
)
"""`**stressed words**`, `<name>`. A lone star or bracket is a sign, and so are two: `*.py`, `*test*`, `< 5`, `->`."""

_DEEPEST = 9
"""Layers of emphasis that are taken off; nobody means more, and each costs a pass."""

_ADORNED = re.compile(r"[\"'`*<>()\[\]-]|[^\x00-\x7f]")
"""What a text may have that is quoted or stressed in more than one way, or spelled so that NFKC is not yet through."""

_FLAG = re.compile(r"(?<!\S)-(?=[A-Z](?!\w))")
"""`-V` is another flag than `-v`, whatever the case of other words."""

_SPAN = re.compile(r"(?<=\d)\s+-\s+(?=\d)")
_LITERAL = re.compile(r"[^\w\s]+|true|false|null|none", re.IGNORECASE)
"""What is another thing in quotes: the delimiter `;` is no punctuation, and the text `"true"` no truth."""

_CODE = re.compile(r"`([^`]+)`|(?<!\w)([\"'])[^\w\s]+\2(?!\w)")
"""What stands in backticks, or is but signs in quotes: the delimiter `;` is no punctuation."""

_KEPT = "\uff10"
"""Stands for code. No plain text has it, since NFKC makes it a 0, and like a 0 it is no plain word."""

_AROUND = re.compile(
    r"(?:- )+(?P<item>.*)|\((?P<aside>[^()]*)\)[.!]?|(?P<sentence>.*[^\s.!/\\-])(?:[.!]|\.{3})", re.DOTALL
)
"""A text in a list or in brackets, or with a stop; but the last dots of `../..` and `./...` are none."""

_PLAIN_WORD = re.compile(r"(?<!\S)[^\W\d_]+(?=(?:[?!,;:]|\.{3}|\.)?(?!\S))")
_SAYING = regex.compile(r"[^\p{P}\p{Z}\p{C}\p{M}]|[#%&@*?/\\_\[\]{}§†‡‰\"'`]")
"""Whatever is no punctuation, as all signs of mathematics, money and pictures, and what punctuation means more."""


def plain(text: str) -> str:
    """*text* in NFKC, with one kind of apostrophe, quote and hyphen."""
    apart = _SMALL.sub(" ", _RAISED.sub("^", text)).translate(_UNLIKE)
    return _MINUS.sub("-", unicodedata.normalize("NFKC", apart).translate(_PLAIN))


def unadorned(text: str) -> str:
    """*text*, made plain, without quotes and emphasis; `10 - 20` is `10-20`."""
    return _FLAG.sub("-^", _unquoted(plain(text)))


def exact_form(text: str) -> str:
    """*text* without quotes, emphasis, needless spaces and a final stop; empty if nothing is left.

    Plain words are in lower case: `Redis`, but not `API`, unless all of the text is in capitals. Whatever else stands
    between spaces may be code and is kept as it is, since case and signs have a meaning there: `128M`, `getUserID`,
    `/Docs`, `-lA`, `[0, 10)`, `C++`, `€`. So is punctuation, but at the end: `No, users can` is not `No users can`. And
    so is what stands in backticks, and with them, unless it is the same without: `` `save!` ``, but not `` `ruff` ``;
    or in quotes, if it is another thing without: `"true"`. Signs that steer a terminal are blanks and marks
    that nobody sees are none, as in facts.
    """
    form = _once(readable(text))
    for _ in range(_DEEPEST if _ADORNED.search(form) else 0):
        form, before = _once(form), form
        if form == before:
            break
    return form


def _once(text: str) -> str:
    """*text* with one layer of quotes and emphasis less; under some of them there are others."""
    bare = _CODE.sub(_without_ticks, plain(text))
    kept = _CODE.finditer(bare)
    form = re.sub(_KEPT, lambda _: next(kept)[0], _folded(_CODE.sub(_KEPT, bare)))
    return form if _SAYING.search(form) else ""


def subject_form(subject: str) -> str:
    """The form in which equal names of what facts are about are equal, whatever their case."""
    return exact_form(subject).lower()


def _without_ticks(code: re.Match[str]) -> str:
    content = code[1] or ""
    # A sign alone would be a dash in the sentence: `git checkout -`.
    is_whole = all(re.search(r"\w", piece) for piece in content.split())
    return content if content and is_whole and _folded(content) == content.strip() else code[0]


def _unquoted(text: str) -> str:
    bare = text.replace("''", '"')
    for quoted in _QUOTED:
        bare = quoted.sub(_quotation, bare)
    for _ in range(_DEEPEST):
        if (less := _WRAPPED.sub(_content, bare)) == bare:
            break
        bare = less
    return _SPAN.sub("-", bare)


def _folded(text: str) -> str:
    bare = " ".join(_unquoted(text).split())
    while around := _AROUND.fullmatch(bare):
        bare = around[around.lastgroup or 0].strip()
    is_loud = bare.isupper()
    return _PLAIN_WORD.sub(lambda word: _word(word, is_loud=is_loud), bare)


def _word(found: re.Match[str], *, is_loud: bool) -> str:
    """A plain word in lower case; as it is in capitals, as a letter, and after a number, where it is a unit: `5 Mb`."""
    word, end = found[0], found.string[max(found.start() - 2, 0) : found.start()].strip()
    is_article = word in ("A", "I") and (not end or end in ".!?:")
    is_folded = is_article or (not end.isdigit() and len(word) > 1 and (is_loud or word[1:].islower()))
    return word.lower() if is_folded else word


def _quotation(quoted: re.Match[str]) -> str:
    """What stands in quotes; with them, if it is another thing without."""
    content = quoted[1] or ""
    is_code = quoted[0][0] == "`" and content.isalpha()
    return f'"{content}"' if _LITERAL.fullmatch(content) and not is_code else content


def _content(wrapped: re.Match[str]) -> str:
    return wrapped["stressed"] or wrapped["named"]
