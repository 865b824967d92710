"""Merge a model's answers about the windows of a session, each about the session so far."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise, zip_longest
from typing import NamedTuple, TypeVar

from nous.domain.episode import CandidateFact, Summary
from nous.domain.summary_input import MOST_CANDIDATES, MOST_POINTS, Segment
from nous.summary.heuristic.narrative import MOST_TOPICS
from nous.summary.heuristic.sentences import distinct
from nous.summary.llm.source_index import CitedStatement, SourceTurn
from nous.summary.llm.vetting import UNTITLED
from nous.text.sentences import sentences

# Shares of a statement's words from which one text says it, and from which a whole summary does.
_SAID, _COVERED = 0.5, 0.7
_MOST_WORDS, _LETTERS, _LONG = 250, 8, 4
"""Words up to which sentences of earlier windows are put back into a summary, with so many letters at most where there
are no spaces; sentences of a long summary.
"""

T = TypeVar("T")


class WindowSummary(NamedTuple):
    """A model's answer about the session up to the end of a window, and that window's segments."""

    summary: Summary
    facts: tuple[CandidateFact, ...]
    segments: Sequence[Segment]


def merged(windows: Sequence[WindowSummary]) -> tuple[Summary, tuple[CandidateFact, ...]]:
    """Return the summary and the facts of the whole session.

    The title is that of the first window; outcome and summary are those of the last. An open thread stays if a later
    answer leaves it out and its window does not speak of it, and so do sentences of earlier summaries that the last one
    does not say. No point, topic or fact occurs twice; all are taken round-robin until the caps are reached.
    """
    last = windows[-1].summary
    points = distinct(_by_turns(each.summary.lessons for each in windows), MOST_POINTS, lambda lesson: lesson.text)
    summary = replace(
        last.teaching(points),
        title=next((each.summary.title for each in windows if each.summary.title != UNTITLED), UNTITLED),
        topics=tuple(dict.fromkeys(_by_turns(each.summary.topics for each in windows)))[:MOST_TOPICS],
        open_threads=_still_open(windows),
    )
    facts = distinct(_by_turns(each.facts for each in windows), MOST_CANDIDATES, lambda fact: fact.text)
    whole = replace(summary, summary=_completed(summary, [each.summary.summary for each in windows[:-1]]))
    return whole, tuple(sorted(facts, key=lambda fact: fact.turns))


def _still_open(windows: Sequence[WindowSummary]) -> tuple[str, ...]:
    threads = windows[0].summary.open_threads
    for _, later in pairwise(windows):
        named = map(SourceTurn, later.summary.open_threads)
        shown = (SourceTurn(segment.text) for segment in later.segments)
        said = (*named, *shown)
        forgotten = (thread for thread in threads if not _is_said(thread, said))
        threads = (*forgotten, *later.summary.open_threads)
    return threads


def _completed(summary: Summary, earlier: Sequence[str]) -> str:
    """Return the text of *summary*, after sentences of *earlier* ones that it leaves out."""
    told = SourceTurn("\n".join((summary.summary, *summary.key_points, *summary.open_threads)))
    left, kept = _MOST_WORDS - _words_in(summary.summary), list[tuple[int, str]]()
    by_window = [[(at, said) for said in _lasting(text)] for at, text in enumerate(earlier)]
    for at, sentence in _by_turns(by_window):
        size = _words_in(sentence)
        if size <= left and not _is_covered(sentence, told):
            left, told = left - size, SourceTurn(f"{told.text}\n{sentence}")
            kept.append((at, sentence))
    put_back = (sentence for _, sentence in sorted(kept, key=lambda each: each[0]))
    return " ".join(filter(None, (*put_back, summary.summary)))


def _words_in(text: str) -> int:
    return max(len(text.split()), len(text) // _LETTERS)


def _lasting(text: str) -> list[str]:
    """Return the sentences of a summary; of a long one not the last, which tells how it ended."""
    said = [text[start:end].strip() for start, end in sentences(text)]
    return said[:-1] if len(said) >= _LONG else said


def _is_covered(sentence: str, told: SourceTurn) -> bool:
    claim = CitedStatement.of(sentence)
    is_named = not claim.tokens or any(map(told.has, claim.tokens))
    return is_named and claim.share_in(told.content) >= _COVERED


def _is_said(statement: str, texts: Iterable[SourceTurn]) -> bool:
    claim = CitedStatement.of(statement)
    return any(claim.share_in(text.content) >= _SAID and text.has_all_of(claim) for text in texts)


def _by_turns(each: Iterable[Sequence[T]]) -> Iterator[T]:
    return (one for one in chain.from_iterable(zip_longest(*each)) if one is not None)
