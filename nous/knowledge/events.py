"""Events that announce decisions on facts, and facts that wait for vectors."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from nous.domain.event_codec import NO_SESSION
from nous.domain.events import (
    NAMESPACE,
    EpisodeSummarized,
    EpisodesUnembedded,
    Event,
    FactConfirmed,
    FactEvent,
    FactLearned,
    FactLinked,
    FactsUnembedded,
    FactSuperseded,
)
from nous.domain.fact import Fact
from nous.domain.scope import Scope
from nous.knowledge.decision import FactDecision
from nous.knowledge.judge import AlreadyKnown, LinkedTo, NewFact, Verdict
from nous.knowledge.learn import EmbeddedFact


class _Announcement(NamedTuple):
    """Content of an event: the fact it is about, the verdict, and the turns behind it.

    `judged` is the fact that the verdict was reached on.
    """

    kind: type[FactEvent]
    fact: Fact
    judged: Fact
    verdict: Verdict
    episode_id: UUID
    turns: tuple[int, ...]


def announcements(
    cause: EpisodeSummarized, fact_decisions: Iterable[FactDecision], *, by: str, at: datetime
) -> Iterator[FactEvent]:
    """Yield events for the decisions that changed something, in the name of the worker *by*.

    The event of a successor precedes the event of the fact it supersedes.
    """
    effective = (
        fact_decision
        for fact_decision in fact_decisions
        if fact_decision.rows and (fact_decision.has_new_source or fact_decision.correction)
    )
    announced = (each for fact_decision in effective for each in _of_decision(fact_decision, cause.episode_id))
    return _numbered(cause, announced, by=by, at=at)


def repairs(cause: Event, mended: Iterable[EmbeddedFact], *, by: str, at: datetime) -> Iterator[FactEvent]:
    """Yield events for facts that were compared late, in the name of the worker *by*."""
    return _numbered(cause, (announced for each in mended for announced in _of_late_embedding(each)), by=by, at=at)


def unembedded(scope: Scope, *, state: str, at: datetime) -> FactsUnembedded:
    """Return the event that facts of *scope* wait for vectors.

    Idempotent: a log in the same *state* gives the same event id.
    """
    return FactsUnembedded(**_of_scope(scope, f"unembedded\n{scope}\n{state}", at))


def unembedded_episodes(scope: Scope, *, state: str, at: datetime) -> EpisodesUnembedded:
    """Return the event that episodes of *scope* wait for vectors.

    Idempotent: the same *state* gives the same event id.
    """
    return EpisodesUnembedded(**_of_scope(scope, f"unembedded episodes\n{scope}\n{state}", at))


def _of_scope(scope: Scope, name: str, at: datetime) -> dict[str, Any]:
    """Return the envelope of an event without a session; its id derives from *name*."""
    event_id = uuid5(NAMESPACE, name)
    return {
        "id": event_id,
        "time": at,
        "source": "nous",
        "scope": scope,
        "agent_id": "default",
        "session_id": NO_SESSION,
        "trace_id": event_id,
    }


def _of_decision(fact_decision: FactDecision, episode_id: UUID) -> Iterator[_Announcement]:
    fact, verdict, words = fact_decision.fact, fact_decision.verdict, (episode_id, fact_decision.candidate.turns)
    kind = FactConfirmed if isinstance(verdict, AlreadyKnown) else FactLearned
    yield _Announcement(kind, fact, fact, verdict, *words)
    if fact_decision.replaced:
        yield _Announcement(FactSuperseded, fact_decision.replaced, fact, fact_decision.correction or verdict, *words)
    elif isinstance(verdict, LinkedTo):
        yield _Announcement(FactLinked, fact, fact, verdict, *words)


def _of_late_embedding(each: EmbeddedFact) -> Iterator[_Announcement]:
    fact, words = each.fact, (each.fact.source.episode_id, each.fact.source.turns)
    if each.replaced:
        yield _Announcement(FactSuperseded, each.replaced, fact, each.verdict, *words)
    elif isinstance(each.verdict, LinkedTo):
        yield _Announcement(FactLinked, fact, fact, each.verdict, *words)


def _numbered(cause: Event, announced: Iterable[_Announcement], *, by: str, at: datetime) -> Iterator[FactEvent]:
    for index, each in enumerate(announced):
        yield each.kind.after(cause, by=by, index=index, at=at, **_data(each))


def _data(announced: _Announcement) -> dict[str, Any]:
    """Return the payload of an event.

    The other fact is the one that the judged fact was compared with, no matter which of the two was superseded.
    """
    verdict, fact = announced.verdict, announced.fact
    others = {announced.judged.id, None if isinstance(verdict, NewFact) else verdict.fact_id} - {fact.id, None}
    return {
        "fact_id": fact.id,
        "text": fact.text,
        "category": str(fact.category),
        "episode_id": announced.episode_id,
        "turns": announced.turns,
        "verdict": verdict.name,
        "reason": verdict.reason,
        "other_fact_id": next(iter(others), None),
        "similarity": None if isinstance(verdict, NewFact) else verdict.similarity,
    }
