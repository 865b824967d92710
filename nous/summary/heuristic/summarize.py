"""Summarize a transcript by rules, without a model; merge the summaries of its windows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TypeVar

from nous.domain.episode import CandidateFact, Summary
from nous.domain.summary_input import MOST_CANDIDATES, MOST_POINTS
from nous.summary.heuristic.facts import candidate_facts
from nous.summary.heuristic.lessons import lessons
from nous.summary.heuristic.narrative import MOST_TOPICS, summary_of, title_of, topics_of
from nous.summary.heuristic.outcome import judge, open_threads
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.sentences import distinct
from nous.transcript.model import Transcript

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A heuristic summary; `is_sure` means that evidence in `outcome_turns` shows the outcome."""

    summary: Summary
    candidate_facts: tuple[CandidateFact, ...]
    files_touched: tuple[str, ...]
    is_sure: bool
    outcome_turns: tuple[int, ...] = ()


def summarize(transcript: Transcript) -> Extracted:
    """Summarize *transcript*. Pure: the same transcript gives the same result."""
    record = SessionRecord(transcript)
    judgement = judge(record)
    topics = topics_of(record)
    summary = Summary(
        title=title_of(record, topics),
        summary=summary_of(record, judgement),
        key_points=tuple(lessons(record)),
        outcome=judgement.outcome,
        outcome_rationale=judgement.rationale,
        topics=topics,
        open_threads=tuple(open_threads(record, judgement)),
    )
    return Extracted(
        summary=summary,
        candidate_facts=candidate_facts(record),
        files_touched=tuple(record.files),
        is_sure=judgement.is_sure,
        outcome_turns=judgement.turns,
    )


def merged(parts: Sequence[Extracted], *, overview: str) -> Extracted:
    """Merge the summaries of a session's windows, in order; *overview* is the summary's text.

    The title is that of the first window; outcome and open threads are those of the last. No point or fact occurs
    twice. Points, topics and facts are taken round-robin from the windows until the caps are reached.
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
