"""Merge the summaries of a session's windows into one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import TypeVar

from nous.domain.summary_input import MOST_CANDIDATES, MOST_POINTS
from nous.summary.heuristic.sentences import distinct
from nous.summary.heuristic.summarize import Extracted
from nous.summary.heuristic.title import MOST_TOPICS

T = TypeVar("T")


def merged(parts: Sequence[Extracted], *, overview: str) -> Extracted:
    """Merge the summaries of a session's windows, in order.

    *overview* is the text of the summary. The title is that of the first window; outcome and open threads are those of
    the last. No point or fact occurs twice. Points, topics and facts are taken round-robin from the windows until the
    caps are reached.
    """
    first, last = parts[0], parts[-1]
    summary = replace(
        last.summary,
        title=first.summary.title,
        summary=overview,
        key_points=tuple(distinct(_by_turns(part.summary.key_points for part in parts), MOST_POINTS)),
        topics=tuple(dict.fromkeys(_by_turns(part.summary.topics for part in parts)))[:MOST_TOPICS],
    )
    facts = distinct(_by_turns(part.candidate_facts for part in parts), MOST_CANDIDATES, lambda fact: fact.text)
    return Extracted(
        summary=summary,
        candidate_facts=tuple(sorted(facts, key=lambda fact: fact.turns)),
        files_touched=tuple(dict.fromkeys(file for part in parts for file in part.files_touched)),
        is_sure=last.is_sure,
        outcome_turns=last.outcome_turns,
    )


def _by_turns(each: Iterable[Sequence[T]]) -> Iterator[T]:
    return (one for one in chain.from_iterable(zip_longest(*each)) if one is not None)
