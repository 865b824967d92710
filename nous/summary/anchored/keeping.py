"""The law of an anchored summary: nothing that it said is gone unless the new text says it."""

from collections.abc import Iterator
from typing import NamedTuple

from nous.summary.anchored.containing import Text, form_of
from nous.summary.anchored.lines import lines_of
from nous.summary.anchored.model import AnchoredSummary, AnchoredSummarySection, label_of

EARLIER = "earlier"
"""Where lines go that were true of a time: nothing vanishes, and nothing stale poses as current."""

PASSING = frozenset({"pending_tasks", "current_state"})
"""Sections that go out of date by nature."""


class _Lost(NamedTuple):
    line: str
    home: str


def kept(previous: AnchoredSummary, new: AnchoredSummary) -> tuple[AnchoredSummary, tuple[str, ...]]:
    """*new* with every line of *previous* put back that it does not hold, and those lines.

    They stand before what *new* says in their section, in their old order; those of what passes, in `earlier`, where
    the newest are first. A line is held if one line of *new*, in any section, has all its numbers, paths, identifiers,
    quotes and as many negations, and most of its other words. What was put back once is not put back again.
    """
    lost = tuple(_lost(previous, new))
    if not lost:
        return new, ()
    homes = dict.fromkeys([*(one.id for one in new.sections), *(each.home for each in lost)])
    sections = tuple(_mended(previous, new, home, lost) for home in homes)
    summary = AnchoredSummary(sections, new.schema_version, iteration=new.iteration)
    return summary, tuple(each.line.strip() for each in lost)


def _lost(previous: AnchoredSummary, new: AnchoredSummary) -> Iterator[_Lost]:
    text = Text(section.content for section in new.sections)
    seen: set[str] = set()
    for section in previous.sections:
        for line in lines_of(section.content):
            form = form_of(line)
            if form not in seen and not text.holds(line):
                yield _Lost(line, EARLIER if section.id in PASSING else section.id)
            seen.add(form)


def _mended(
    previous: AnchoredSummary, new: AnchoredSummary, home: str, lost: tuple[_Lost, ...]
) -> AnchoredSummarySection:
    section = new.section(home) or previous.section(home) or AnchoredSummarySection(home, label_of(home))
    back = [each.line for each in lost if each.home == home]
    said = new.content(home)
    return AnchoredSummarySection(home, section.label, "\n".join([*back, *([said] if said.strip() else [])]))
