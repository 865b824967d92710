"""No-loss merge of anchored summaries: restore every line that the new one lacks.

It is biased to one side: a repeated line costs a line, a lost line is lost.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from nous.domain.anchored_summary import AnchoredSummary, AnchoredSummarySection, label_of
from nous.text.language import words
from nous.text.sentences import TICKS, Fence, fences, sentences

_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")
_SAYS = re.compile(r"[^\W_]")
_CLAUSE = re.compile(r"[;,]\s|\s[\u2013\u2014-]\s|\s(?=\()")


def lines_of(content: str) -> Iterator[str]:
    """Yield the lines of *content* that have words.

    A bullet with its indented lines is one line, and so is a code block. A block that is never closed is closed, so
    that it can be moved to another place.
    """
    position = 0
    for block in fences(content):
        yield from _lines_of_prose(content[position : block.start])
        yield _closed(content, block)
        position = block.end
    yield from _lines_of_prose(content[position:])


def parts_of(line: str) -> Iterator[str]:
    """Yield the units that may contain another line: the whole line, its sentences and clauses."""
    yield line
    for start, end in sentences(line):
        sentence = line[start:end]
        yield sentence
        yield from _CLAUSE.split(sentence)


def sentences_of(line: str) -> list[str]:
    """Return the sentences of *line*; a code block is one."""
    return [line[start:end] for start, end in sentences(line) if _SAYS.search(line[start:end])]


def is_code(line: str) -> bool:
    return line.startswith(TICKS)


def _lines_of_prose(text: str) -> Iterator[str]:
    held: list[str] = []
    for line in text.splitlines():
        goes_on = bool(held) and _BULLET.match(held[0]) and line[:1].isspace() and not _BULLET.match(line)
        if not (goes_on and line.strip()):
            yield from _said(held)
            held = []
        held.append(line.rstrip())
    yield from _said(held)


def _said(held: list[str]) -> Iterator[str]:
    text = "\n".join(held)
    if _SAYS.search(text):
        yield text.lstrip("\n")


def _closed(content: str, block: Fence) -> str:
    text = content[block.start : block.end].rstrip()
    return text if block.is_closed else f"{text}\n{block.ticks}"


MOST = 0.6
"""The share of a line's words that must occur if it has more than `FEW`; of so few, all must."""

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
class LineContent:
    """Parsed statement. `left_of` is the word before each number, which says what it counts."""

    form: str
    hard: frozenset[str]
    quoted: frozenset[str]
    words: frozenset[str]
    tokens: frozenset[str]
    negations: int
    left_of: Mapping[str, str]


class SearchableText:
    """All lines of a summary, parsed for containment checks."""

    def __init__(self, contents: Iterable[str]) -> None:
        said = [line for content in contents for line in _with_code_by_line(content)]
        self._forms = {form_of(line) for line in said}
        parts = dict.fromkeys(part for line in said for part in parts_of(line))
        self._parts = [reading_of(part) for part in parts if part.strip()]

    def says_exactly(self, line: str) -> bool:
        """Return whether *line* occurs literally, but for case, space and list marks."""
        return form_of(line) in self._forms

    def holds(self, line: str) -> bool:
        """Return whether a part contains *line*, or parts contain each of its sentences.

        Code must occur literally.
        """
        if self.says_exactly(line):
            return True
        return not is_code(line) and all(self._holds(sentence) for sentence in sentences_of(line))

    def _holds(self, sentence: str) -> bool:
        if self.says_exactly(sentence):
            return True
        wanted = reading_of(sentence)
        return any(holds(part, wanted) for part in self._parts)


def holds(part: LineContent, wanted: LineContent) -> bool:
    """Return whether *part* contains the statement *wanted*."""
    if not (wanted.hard <= part.tokens and part.negations == wanted.negations):
        return False
    if not all(quote in part.form for quote in wanted.quoted) or _are_swapped(part, wanted):
        return False
    if not (wanted.words or wanted.hard):
        return wanted.form == part.form
    needed = len(wanted.words) if len(wanted.words) <= FEW else ceil(MOST * len(wanted.words))
    return len(wanted.words & part.tokens) >= needed


def reading_of(text: str) -> LineContent:
    """Parse *text* into a `LineContent`."""
    classified = list(_tokens(text))
    tokens = [token for token, _ in classified]
    hard = frozenset(token for token, is_hard in classified if is_hard)
    common = words().sets["stopwords"]
    content = frozenset(token for token in tokens if token not in common and not _negates(token)) - hard
    return LineContent(
        form=form_of(text),
        hard=hard,
        quoted=frozenset(form_of(next(filter(None, found.groups()))) for found in _QUOTED.finditer(text)),
        words=content,
        tokens=frozenset(tokens),
        negations=sum(map(_negates, tokens)),
        left_of=_left_of(tokens, content),
    )


def form_of(text: str) -> str:
    """Return the normal form of *text*: one case, no list mark, single spaces and plain quotes."""
    plain = unicodedata.normalize("NFKC", _MARK.sub("", text)).casefold().replace("**", "")
    return _SPACE.sub(" ", plain.replace("\u2019", "'").replace("“", '"').replace("”", '"')).strip(" .;")


def _with_code_by_line(content: str) -> Iterator[str]:
    """Yield the lines of *content*, and the lines within its code blocks.

    A block that was never closed may hold lines that are no code.
    """
    for line in lines_of(content):
        yield line
        if is_code(line):
            yield from line.splitlines()


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each word of *text*, and whether it is a literal.

    Literals are numbers, paths, identifiers, and names within a sentence.
    """
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


def _are_swapped(part: LineContent, wanted: LineContent) -> bool:
    """Return whether *part* gives one thing the number that *wanted* gives another."""
    numbered = set(wanted.left_of.values()) - {""}
    return any(
        number in wanted.left_of and left in numbered and wanted.left_of[number] != left
        for number, left in part.left_of.items()
    )


EARLIER = "earlier"
"""Section for lines that were true at a time: nothing is lost, and nothing outdated looks current."""

PASSING = frozenset({"pending_tasks", "current_state"})
"""Sections that go out of date by nature."""


class _Lost(NamedTuple):
    line: str
    home: str


def kept(previous: AnchoredSummary, new: AnchoredSummary) -> tuple[AnchoredSummary, tuple[str, ...]]:
    """Restore in *new* the lines of *previous* that it lacks; return the result and those lines.

    Restored lines stand before the section's new text, in their old order. Those of `PASSING` sections go to `earlier`,
    the newest first. A line is contained if one line of *new*, in any section, has all its numbers, paths, identifiers
    and quotes, as many negations, and most of its other words. The merge is idempotent: a restored line is not restored
    again.
    """
    lost = tuple(_lost(previous, new))
    if not lost:
        return new, ()
    homes = dict.fromkeys([*(one.id for one in new.sections), *(each.home for each in lost)])
    sections = tuple(_with_restored(previous, new, home, lost) for home in homes)
    summary = AnchoredSummary(sections, new.schema_version, iteration=new.iteration)
    return summary, tuple(each.line.strip() for each in lost)


def _lost(previous: AnchoredSummary, new: AnchoredSummary) -> Iterator[_Lost]:
    text = SearchableText(section.content for section in new.sections)
    seen: set[str] = set()
    for section in previous.sections:
        for line in lines_of(section.content):
            form = form_of(line)
            if form not in seen and not text.holds(line):
                yield _Lost(line, EARLIER if section.id in PASSING else section.id)
            seen.add(form)


def _with_restored(
    previous: AnchoredSummary, new: AnchoredSummary, home: str, lost: tuple[_Lost, ...]
) -> AnchoredSummarySection:
    section = new.section(home) or previous.section(home) or AnchoredSummarySection(home, label_of(home))
    back = [each.line for each in lost if each.home == home]
    said = new.content(home)
    return AnchoredSummarySection(home, section.label, "\n".join([*back, *([said] if said.strip() else [])]))
