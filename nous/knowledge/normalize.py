"""Normalize texts: spaces, quotes, emphasis, a final stop and case make no difference."""

import re
import unicodedata

import regex

from nous.text.sanitize import readable

# Positions where NFKC would make `10²` and `102` equal. `Redis™` is no such case: it is `RedisTM` anywhere.
_RAISED = regex.compile(r"(?=(?!™|℠)\p{Decomposition_Type=Super})")
_SMALL = regex.compile(r"(?<=\p{Nd})(?=\p{No})")  # positions where NFKC would make `1½` begin with 11

# Marks that NFKC would decompose, or leave as they are.
_UNLIKE = str.maketrans({"\u2032": "'", "\u2033": '"', "\u00b4": "'"})
_APOSTROPHES = "\u2018\u2019\u201a\u201b\u02bc"
_QUOTES = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
_HYPHENS = "\u2010\u2011\u2012\u2013"
_LONG_DASH = "\u2014"
_PLAIN = str.maketrans(
    dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_QUOTES, '"') | dict.fromkeys(_HYPHENS, "-") | {_LONG_DASH: " - "}
)
# A minus that belongs to a value. Alone it is an operator, and a hyphen in its place would be a dash.
_MINUS = re.compile(r"\u2212(?=\S)")
_QUOTED = tuple(
    re.compile(rf"(?<!\w){mark}((?:[^{mark}]|\b{mark}\b)*){mark}(?!\w)|(?<!\w){mark}()|(?<=[^\W\d]){mark}(?!\w)()")
    for mark in "\"'`"
)
"""Quotes in pairs, and those at the edge of a word. After a digit a single one is a unit: `5'`, `5\"`."""

_WRAPPED = re.compile(
    r"(?<![\w*])(?P<stars>\*{2,3})(?=[^\s*./])(?P<stressed>[^*]*)(?<=[^\s*])(?P=stars)(?![\w*])"
    r"|(?<![\w<])<(?=[^\s<>]*>(?![\w>]))(?P<named>[^\s<>]*\w[^\s<>]*)>"
)
"""`**stressed words**` and `<name>`. One or two stars, or a lone bracket, are signs: `*.py`, `*test*`, `< 5`, `->`."""

_DEEPEST = 9  # maximum layers of emphasis that are removed. Real texts have fewer, and each costs a pass

# Characters of texts that may have nested quotes or emphasis, or need NFKC more than once.
_ADORNED = re.compile(r"[\"'`*<>()\[\]-]|[^\x00-\x7f]")
# `-V` is another flag than `-v`, even though case is ignored in other words.
_FLAG = re.compile(r"(?<!\S)-(?=[A-Z](?!\w))")
_SPAN = re.compile(r"(?<=\d)\s+-\s+(?=\d)")
_LITERAL = re.compile(r"[^\w\s]+|true|false|null|none", re.IGNORECASE)
"""Text that means something else in quotes: the delimiter `;` is no punctuation, and the text `"true"` no truth value.
"""

# Text in backticks, or signs alone in quotes: the delimiter `;` is no punctuation.
_CODE = re.compile(r"`([^`]+)`|(?<!\w)([\"'])[^\w\s]+\2(?!\w)")
# Placeholder for code. No plain text contains it, since NFKC makes it a 0, and like a 0 it is no plain word.
_KEPT = "\uff10"
_AROUND = re.compile(
    r"(?:- )+(?P<item>.*)|\((?P<aside>[^()]*)\)[.!]?|(?P<sentence>.*[^\s.!/\\-])(?:[.!]|\.{3})", re.DOTALL
)
"""A list item, a text in brackets, or one with a final stop. The last dots of `../..` and `./...` are no stop."""

_PLAIN_WORD = re.compile(r"(?<!\S)[^\W\d_]+(?=(?:[?!,;:]|\.{3}|\.)?(?!\S))")
_SAYING = regex.compile(r"[^\p{P}\p{Z}\p{C}\p{M}]|[#%&@*?/\\_\[\]{}§†‡‰\"'`]")
"""Characters that carry meaning: everything but punctuation, and the punctuation that has a meaning of its own."""


def plain(text: str) -> str:
    """Return *text* in NFKC, with one kind of apostrophe, quote and hyphen."""
    apart = _SMALL.sub(" ", _RAISED.sub("^", text)).translate(_UNLIKE)
    return _MINUS.sub("-", unicodedata.normalize("NFKC", apart).translate(_PLAIN))


def unadorned(text: str) -> str:
    """Return the plain form of *text* without quotes and emphasis; `10 - 20` becomes `10-20`."""
    return _FLAG.sub("-^", _unquoted(plain(text)))


def exact_form(text: str) -> str:
    """Return *text* without quotes, emphasis, extra spaces and a final stop; may be empty.

    Plain words are lower-cased: `Redis`, but not `API`, unless the whole text is in capitals. Everything else between
    spaces may be code. It is kept as it is, since case and signs have a meaning there: `128M`, `getUserID`, `/Docs`,
    `-lA`, `[0, 10)`, `C++`, `€`. Punctuation is kept, except at the end: `No, users can` is not `No users can`. Text in
    backticks keeps them, unless it is the same without: `` `save!` ``, but not `` `ruff` ``. Text in quotes keeps them
    if it means something else without: `"true"`. Terminal control characters count as spaces and invisible characters
    are removed, as in facts.
    """
    form = _once(readable(text))
    for _ in range(_DEEPEST if _ADORNED.search(form) else 0):
        form, before = _once(form), form
        if form == before:
            break
    return form


def _once(text: str) -> str:
    """Remove one layer of quotes and emphasis from *text*; there may be more below."""
    bare = _CODE.sub(_without_ticks, plain(text))
    kept = _CODE.finditer(bare)
    form = re.sub(_KEPT, lambda _: next(kept)[0], _folded(_CODE.sub(_KEPT, bare)))
    return form if _SAYING.search(form) else ""


def subject_form(subject: str) -> str:
    """Return the form in which equal names of subjects are equal, in any case."""
    return exact_form(subject).lower()


def _without_ticks(code: re.Match[str]) -> str:
    content = code[1] or ""
    # A lone sign would read as a dash in the sentence: `git checkout -`.
    is_whole = all(re.search(r"\w", piece) for piece in content.split())
    return content if content and is_whole and _folded(content) == content.strip() else code[0]


def _unquoted(text: str) -> str:
    bare = text.replace("''", '"')
    for quoted in _QUOTED:
        bare = quoted.sub(_quotation, bare)
    for _ in range(_DEEPEST):
        if (less := _WRAPPED.sub(lambda found: found["stressed"] or found["named"], bare)) == bare:
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
    """Return a plain word in lower case, unless it is in capitals, one letter, or a unit."""
    word, end = found[0], found.string[max(found.start() - 2, 0) : found.start()].strip()
    is_article = word in ("A", "I") and (not end or end in ".!?:")
    is_folded = is_article or (not end.isdigit() and len(word) > 1 and (is_loud or word[1:].islower()))
    return word.lower() if is_folded else word


def _quotation(quoted: re.Match[str]) -> str:
    """Return the quoted text; keep the quotes if it means something else without."""
    content = quoted[1] or ""
    is_code = quoted[0][0] == "`" and content.isalpha()
    return f'"{content}"' if _LITERAL.fullmatch(content) and not is_code else content
