"""Restore in a new rolling summary what it lacks of the old: rather twice than never."""

import re
from collections.abc import Iterable, Iterator

from nous.domain.anchored_summary import AnchoredSummary, AnchoredSummarySection, label_of
from nous.summary.llm.source_index import CitedStatement, Literal, SourceTurn, content_of, literals_in, plain
from nous.text.sentences import TICKS, Fence, fences, sentences

_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s")
_SAYS = re.compile(r"[^\W_]")
_CLAUSE = re.compile(r"[;,]\s|\s[\u2013\u2014-]\s|\s(?=\()")


def lines_of(content: str) -> Iterator[str]:
    """Yield the lines with words; a bullet with its indented lines and a code block is one."""
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


_MOST, _FEW = 0.8, 4  # the share of a line's words that must occur if it has more than `_FEW`; of so few, all must
_MARK = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,9}[.)]\s+|>\s+|\[[ xX]\]\s+)+")
_NAME = re.compile(r"(?<=[\w,;] )[A-Z]\w+")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|nobody|nothing|nowhere|\w+n't"
    r"|(?:do|ca|wo|did|does|is|are|was|could|would)nt)\b"
)
_NUMBER = re.compile(r"\d+")


class _Statement:
    """A line or a part of one: what another must contain of it, and what it contains."""

    def __init__(self, text: str) -> None:
        bare = _MARK.sub("", text)
        names = frozenset(Literal("quote", f" {plain(name)} ") for name in _NAME.findall(bare))
        self.claim = CitedStatement(literals_in(bare) | names, content_of(bare))
        self.form = form_of(bare)
        self.source = SourceTurn(bare)
        self.numbers = _NUMBER.findall(plain(bare))
        self.negations = len(_NEGATION.findall(plain(bare)))

    def holds(self, wanted: "_Statement") -> bool:
        """Return whether this contains *wanted*: its literals, as many negations, and most words."""
        claim = wanted.claim
        if not (claim.content or claim.tokens):
            return self.form == wanted.form
        least = _MOST if len(claim.content) > _FEW else 1.0
        if claim.content and claim.share_in(self.source.content) < least:
            return False
        numbers = iter(self.numbers)  # in the same order, or else one thing may have the number of another
        return (
            self.negations == wanted.negations
            and all(number in numbers for number in wanted.numbers)
            and self.source.has_all_of(claim)
        )


class SearchableText:
    """All lines of a summary, parsed for containment checks."""

    def __init__(self, contents: Iterable[str]) -> None:
        said = [line for content in contents for line in _with_code_by_line(content)]
        self._forms = {form_of(line) for line in said}
        self._parts = [_Statement(part) for part in dict.fromkeys(part for line in said for part in parts_of(line))]

    def holds(self, line: str) -> bool:
        """Return whether a part contains *line*, or parts each sentence; code only literally."""
        if form_of(line) in self._forms:
            return True
        if line.startswith(TICKS):
            return False
        said = (_Statement(line[start:end]) for start, end in sentences(line) if _SAYS.search(line[start:end]))
        return all(each.form in self._forms or any(part.holds(each) for part in self._parts) for each in said)


def form_of(text: str) -> str:
    """Return the normal form of *text*: one case, no list mark, single spaces and plain quotes."""
    return plain(_MARK.sub("", text)).strip(" .;")


def _with_code_by_line(content: str) -> Iterator[str]:
    """Yield the lines, also those in code blocks: one never closed may hold more than code."""
    for line in lines_of(content):
        yield line
        if line.startswith(TICKS):
            yield from line.splitlines()


EARLIER = "earlier"
"""Section for lines that were true at a time: nothing is lost, and nothing outdated looks current."""

PASSING = frozenset({"pending_tasks", "current_state"})  # sections that go out of date by nature


def kept(previous: AnchoredSummary, new: AnchoredSummary) -> tuple[AnchoredSummary, tuple[str, ...]]:
    """Restore in *new* the lines of *previous* that it lacks; return the result and those lines.

    Restored lines stand before the section's new text, in their old order. Those of `PASSING` sections go to `earlier`,
    the newest first. A line is contained if one line of *new*, in any section, has all its numbers, paths, identifiers
    and quotes, as many negations, and most of its other words. Idempotent.
    """
    lost = _lost(previous, new)
    if not lost:
        return new, ()
    homes = dict.fromkeys([*(one.id for one in new.sections), *lost])
    sections = tuple(_with_restored(previous, new, home, lost.get(home, [])) for home in homes)
    summary = AnchoredSummary(sections, new.schema_version, iteration=new.iteration)
    return summary, tuple(line.strip() for lines in lost.values() for line in lines)


def _lost(previous: AnchoredSummary, new: AnchoredSummary) -> dict[str, list[str]]:
    text = SearchableText(section.content for section in new.sections)
    seen: set[str] = set()
    lost: dict[str, list[str]] = {}
    for section in previous.sections:
        for line in lines_of(section.content):
            form = form_of(line)
            if form not in seen and not text.holds(line):
                lost.setdefault(EARLIER if section.id in PASSING else section.id, []).append(line)
            seen.add(form)
    return lost


def _with_restored(
    previous: AnchoredSummary, new: AnchoredSummary, home: str, lost: list[str]
) -> AnchoredSummarySection:
    section = new.section(home) or previous.section(home) or AnchoredSummarySection(home, label_of(home))
    said = new.content(home)
    return AnchoredSummarySection(home, section.label, "\n".join([*lost, *([said] if said.strip() else [])]))
