"""Summarize a transcript by rules, without a model."""

from dataclasses import dataclass

from nous.domain.episode import CandidateFact, Summary
from nous.summary.heuristic.lessons import lessons
from nous.summary.heuristic.narrative import summary_of, title_of, topics_of
from nous.summary.heuristic.outcome import judge, open_threads
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.statements import candidate_facts
from nous.transcript.model import Transcript


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
        key_points=(),
        outcome=judgement.outcome,
        outcome_rationale=judgement.rationale,
        topics=topics,
        open_threads=tuple(open_threads(record, judgement)),
    )
    return Extracted(
        summary=summary.teaching(lessons(record)),
        candidate_facts=candidate_facts(record),
        files_touched=tuple(record.files),
        is_sure=judgement.is_sure,
        outcome_turns=judgement.turns,
    )
