"""The tier that needs no model: an episode's summary from the transcript's own words."""

from dataclasses import dataclass

from nous.episode import CandidateFact, Summary
from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts, wishes
from nous.summary.lessons import MOST as MOST_LESSONS
from nous.summary.lessons import alike, lessons, standing_alone
from nous.summary.outcome import judge
from nous.summary.statements import is_proposed
from nous.summary.threads import open_threads
from nous.summary.title import title_of
from nous.summary.told import tell
from nous.summary.topics import topics_of
from nous.transcript.model import Transcript

_MOST_WANTED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A summary, what the session may teach, the files it wrote to, and whether the outcome rests on any evidence.

    `outcome_turns` are the turns that the outcome rests on.
    """

    summary: Summary
    candidate_facts: tuple[CandidateFact, ...]
    files_touched: tuple[str, ...]
    is_sure: bool
    outcome_turns: tuple[int, ...] = ()


def summarize(transcript: Transcript) -> Extracted:
    """Summarise *transcript*. Pure: the same transcript gives the same answer."""
    evidence = Evidence(transcript)
    judgement = judge(evidence)
    topics = topics_of(evidence)
    facts = candidate_facts(evidence)
    points = _key_points(evidence, facts)
    summary = Summary(
        title=title_of(evidence, topics),
        summary=tell(evidence, judgement, facts, topics, points),
        key_points=points,
        outcome=judgement.outcome,
        outcome_rationale=judgement.rationale,
        topics=topics,
        open_threads=open_threads(evidence, judgement),
    )
    return Extracted(
        summary=summary,
        candidate_facts=facts,
        files_touched=tuple(evidence.files),
        is_sure=judgement.is_sure,
        outcome_turns=judgement.turns,
    )


def _key_points(evidence: Evidence, facts: tuple[CandidateFact, ...]) -> tuple[str, ...]:
    """What the user corrected or wants from now on, then lessons; of people who only talked, what they told."""
    if evidence.is_conversation:
        return tuple(fact.text for fact in facts[:MOST_LESSONS])
    wanted = [fact.text for fact in wishes(evidence)][:_MOST_WANTED]
    known = [one for one in evidence.taught if not is_proposed(one)]
    taught = (standing_alone(one.text) for one in lessons(known, MOST_LESSONS - len(wanted)))
    return (*wanted, *(text for text in taught if not any(alike(text, other) for other in wanted)))
