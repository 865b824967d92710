"""episode_summarized → fact_learned | fact_confirmed | fact_superseded."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Self

import structlog

from nous.effects import Effects
from nous.events import EpisodeSummarized, Event, FactConfirmed, FactEvent, FactLearned, FactSuperseded
from nous.fact import Fact, Source
from nous.kit import Kit, Worker
from nous.learner import Learner
from nous.learning.judge import Known, New
from nous.learning.learn import Finding, usable

NAME = "fact-extractor"

_log = structlog.stdlib.get_logger(__name__)


class FactExtractor:
    """Learns what an episode may have taught, each fact once, and says what became of it."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner

    @classmethod
    def from_kit(cls, kit: Kit) -> Self:
        return cls(Learner(log=kit.facts, memory=kit.memory, embedder=kit.embedder, policy=kit.policy, clock=kit.clock))

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, EpisodeSummarized):
            raise TypeError(f"{NAME} consumes {EpisodeSummarized.type}, not {event.type}")
        cap = self._learner.policy.cap
        candidates, cut = usable(event.candidate_facts, cap=cap)
        if cut:
            _log.warning("candidate facts cut", cut=cut, cap=cap, episode_id=str(event.episode_id))
        if not candidates:
            return Effects(skipped="no candidate facts")
        lesson = self._learner.teach(candidates, scope=event.scope, source=_source(event))
        if lesson.append is None:
            return Effects(skipped="already learned")
        return Effects(
            writes=(lesson.append,), events=tuple(announcements(event, lesson.findings, self._learner.clock()))
        )


def _source(event: EpisodeSummarized) -> Source:
    return Source(episode_id=event.episode_id, event_id=event.id, session_id=event.session_id, turns=())


def announcements(cause: EpisodeSummarized, findings: Sequence[Finding], at: datetime) -> Iterator[FactEvent]:
    """What to announce of each finding that changed something; a fact's successor comes before its end."""
    announced = (
        event for finding in findings if finding.rows and finding.has_new_source for event in _announced(finding)
    )
    for index, (kind, fact, finding) in enumerate(announced):
        said = {"episode_id": cause.episode_id, "turns": finding.candidate.turns}
        yield kind.after(cause, by=NAME, index=index, at=at, **said, **_verdict(fact, finding))


def _announced(finding: Finding) -> Iterator[tuple[type[FactEvent], Fact, Finding]]:
    yield (FactConfirmed if isinstance(finding.verdict, Known) else FactLearned), finding.fact, finding
    if finding.replaced:
        yield FactSuperseded, finding.replaced, finding


def _verdict(fact: Fact, finding: Finding) -> dict[str, Any]:
    """What *finding* means for *fact*: the other fact is the one that it was compared with."""
    verdict = finding.verdict
    others = {finding.fact.id, finding.other_id} - {fact.id, None}
    return {
        "fact_id": fact.id,
        "text": fact.text,
        "category": str(fact.category),
        "verdict": verdict.name,
        "reason": verdict.reason,
        "other_fact_id": next(iter(others), None),
        "similarity": None if isinstance(verdict, New) else verdict.similarity,
    }


WORKER = Worker(NAME, EpisodeSummarized, FactExtractor.from_kit, emits=(FactLearned, FactConfirmed, FactSuperseded))
