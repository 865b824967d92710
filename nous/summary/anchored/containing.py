"""Whether a text holds what a line says: its numbers, names and negations all, and most of its words.

It is meant to err on one side: what is said twice costs a line, what is lost is lost.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil

from nous.language import words
from nous.summary.anchored.lines import is_code, lines_of, parts_of, sentences_of

MOST = 0.6
"""The share of a line's words that have to be there, if it has more than `FEW`; of so few, all have to be."""

FEW = 3

_QUOTED = re.compile(r"(?<!`)`++([^`\n]+)`+|\"([^\"\n]+)\"|“([^“”\n]+)”|«([^«»\n]+)»")
_MARK = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,9}[.)]\s+|>\s+|\[[ xX]\]\s+)+")
_SPACE = re.compile(r"\s+")
_EDGE = "\"'`“”\u2018\u2019«»()[]{}<>,;:!?…*|"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_INSIDE = re.compile(r"[^\W_][_./\\:@#=~]+[^\W_]|[a-z][A-Z]|^[~$/\\@#.]|^--?\w|^_|_$|[+#]$|[/\\]")
_NEGATION = re.compile(
    r"^(?:not|no|never|none|nor|neither|without|cannot|nobody|nothing|nowhere|\w+n't|[cdw]\w{1,5}nt)$"
)
_CONTRACTED = frozenset({"dont", "cant", "wont", "didnt", "doesnt", "isnt", "arent", "wasnt", "couldnt", "wouldnt"})


@dataclass(frozen=True, slots=True)
class Reading:
    """One statement, taken apart. `left_of` is the word before each number, which tells what it is a number of."""

    form: str
    hard: frozenset[str]
    quoted: frozenset[str]
    words: frozenset[str]
    tokens: frozenset[str]
    negations: int
    left_of: Mapping[str, str]


class Text:
    """What a summary says, in all its sections, as something that can be asked what it holds."""

    def __init__(self, contents: Iterable[str]) -> None:
        said = [line for content in contents for line in _with_code_by_line(content)]
        self._forms = {form_of(line) for line in said}
        parts = dict.fromkeys(part for line in said for part in parts_of(line))
        self._parts = [reading_of(part) for part in parts if part.strip()]

    def says_exactly(self, line: str) -> bool:
        """Whether *line* stands there as it is, but for case, space and the marks before it."""
        return form_of(line) in self._forms

    def holds(self, line: str) -> bool:
        """Whether *line*, or else each of its sentences, is held by a part. Code has to be there as it is."""
        if self.says_exactly(line):
            return True
        return not is_code(line) and all(self._holds(sentence) for sentence in sentences_of(line))

    def _holds(self, sentence: str) -> bool:
        if self.says_exactly(sentence):
            return True
        wanted = reading_of(sentence)
        return any(holds(part, wanted) for part in self._parts)


def holds(part: Reading, wanted: Reading) -> bool:
    """Whether *part* says what *wanted* says."""
    if not (wanted.hard <= part.tokens and part.negations == wanted.negations):
        return False
    if not all(quote in part.form for quote in wanted.quoted) or _are_swapped(part, wanted):
        return False
    if not (wanted.words or wanted.hard):
        return wanted.form == part.form
    needed = len(wanted.words) if len(wanted.words) <= FEW else ceil(MOST * len(wanted.words))
    return len(wanted.words & part.tokens) >= needed


def reading_of(text: str) -> Reading:
    """*text* taken apart."""
    told = list(_tokens(text))
    tokens = [token for token, _ in told]
    hard = frozenset(token for token, is_hard in told if is_hard)
    common = words().sets["stopwords"]
    content = frozenset(token for token in tokens if token not in common and not _negates(token)) - hard
    return Reading(
        form=form_of(text),
        hard=hard,
        quoted=frozenset(form_of(next(filter(None, found.groups()))) for found in _QUOTED.finditer(text)),
        words=content,
        tokens=frozenset(tokens),
        negations=sum(map(_negates, tokens)),
        left_of=_left_of(tokens, content),
    )


def form_of(text: str) -> str:
    """*text* in one case, without the mark of a list before it, and with single spaces and plain quotes."""
    plain = unicodedata.normalize("NFKC", _MARK.sub("", text)).casefold().replace("**", "")
    return _SPACE.sub(" ", plain.replace("\u2019", "'").replace("“", '"').replace("”", '"')).strip(" .;")


def _with_code_by_line(content: str) -> Iterator[str]:
    """The lines of *content*, and those within its blocks of code: in a block never closed stands what is no code."""
    for line in lines_of(content):
        yield line
        if is_code(line):
            yield from line.splitlines()


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Each word of *text*, and whether it is hard: a number, a path, an identifier, or a name within a sentence."""
    is_first = True
    for raw in unicodedata.normalize("NFKC", _MARK.sub("", text)).replace("\u2019", "'").split():
        word = raw.strip(_EDGE).rstrip(".").strip(_EDGE).removesuffix("'s")
        if any(character.isalnum() for character in word):
            is_name = not is_first and word[0].isupper() and word.lower() not in words().sets["stopwords"]
            is_hard = is_name or any(map(str.isdigit, word)) or _INSIDE.search(word) is not None
            yield _THOUSANDS.sub("", word).casefold(), is_hard
            is_first = raw.endswith((".", "!", "?", ":"))


def _negates(token: str) -> bool:
    return token in _CONTRACTED or _NEGATION.match(token) is not None


def _left_of(tokens: list[str], content: frozenset[str]) -> Mapping[str, str]:
    left, found = "", dict[str, str]()
    for token in tokens:
        if any(map(str.isdigit, token)):
            found.setdefault(token, left)
        elif token in content:
            left = token
    return found


def _are_swapped(part: Reading, wanted: Reading) -> bool:
    """Whether *part* gives one thing the number that *wanted* gives another."""
    numbered = set(wanted.left_of.values()) - {""}
    return any(
        number in wanted.left_of and left in numbered and wanted.left_of[number] != left
        for number, left in part.left_of.items()
    )
