"""Events that announce decisions on facts, and facts that wait for vectors."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar
from uuid import uuid5

from nous.domain.event_codec import NO_SESSION
from nous.domain.events import (
    NAMESPACE,
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
from nous.knowledge.verdict import AlreadyKnown, LinkedTo, NewFact

Waiting = TypeVar("Waiting", FactsUnembedded, EpisodesUnembedded)


def announcements(cause: Event, decisions: Iterable[FactDecision], *, by: str, at: datetime) -> Iterator[FactEvent]:
    """Yield the events of *decisions* by the worker *by*; a successor's event comes first."""
    for index, (kind, data) in enumerate(chain.from_iterable(map(_announced, decisions))):
        yield kind.after(cause, by=by, index=index, at=at, **data)


def _announced(decision: FactDecision) -> Iterator[tuple[type[FactEvent], dict[str, Any]]]:
    """Yield the type and the payload of each event on *decision*."""
    verdict = decision.verdict
    if decision.has_new_source:
        kind = FactConfirmed if isinstance(verdict, AlreadyKnown) else FactLearned
        yield kind, _payload(decision, decision.fact)
    if decision.replaced:
        yield FactSuperseded, _payload(decision, decision.replaced)
    elif isinstance(verdict, LinkedTo):
        yield FactLinked, _payload(decision, decision.fact)


def _payload(decision: FactDecision, fact: Fact) -> dict[str, Any]:
    """Return the payload; its other fact is the one compared, also if that gave way."""
    verdict = decision.verdict
    others = {decision.fact.id, decision.other_id} - {fact.id, None}
    return {
        "fact_id": fact.id,
        "text": fact.text,
        "category": str(fact.category),
        "episode_id": decision.source.episode_id,
        "turns": decision.source.turns,
        "verdict": verdict.name,
        "reason": verdict.reason,
        "other_fact_id": next(iter(others), None),
        "similarity": None if isinstance(verdict, NewFact) else verdict.similarity,
    }


def unembedded(scope: Scope, *, state: str, at: datetime) -> FactsUnembedded:
    """Return the event that facts wait for vectors; the same log *state* gives the same id."""
    return _of_scope(FactsUnembedded, f"unembedded\n{scope}\n{state}", scope, at)


def unembedded_episodes(scope: Scope, *, state: str, at: datetime) -> EpisodesUnembedded:
    """Return the event that episodes of *scope* wait for vectors; idempotent like `unembedded`."""
    return _of_scope(EpisodesUnembedded, f"unembedded episodes\n{scope}\n{state}", scope, at)


def _of_scope(kind: type[Waiting], name: str, scope: Scope, at: datetime) -> Waiting:
    event_id = uuid5(NAMESPACE, name)
    return kind(
        id=event_id,
        time=at,
        source="nous",
        scope=scope,
        agent_id="default",
        session_id=NO_SESSION,
        trace_id=event_id,
    )
