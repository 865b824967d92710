"""What is announced of facts that were judged."""

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
from nous.facts.decision import Finding
from nous.facts.judge import Known, Linked, New, Verdict
from nous.facts.learn import Mended


class _Said(NamedTuple):
    """An event to be: what has happened to a fact, by which verdict on which two, and whose words led to it."""

    kind: type[FactEvent]
    fact: Fact
    judged: Fact
    verdict: Verdict
    episode_id: UUID
    turns: tuple[int, ...]


def announcements(
    cause: EpisodeSummarized, findings: Iterable[Finding], *, by: str, at: datetime
) -> Iterator[FactEvent]:
    """What the worker *by* says of each finding that changed something; a fact's successor comes before its end."""
    told = (finding for finding in findings if finding.rows and (finding.has_new_source or finding.correction))
    said = (said for finding in told for said in _of_finding(finding, cause.episode_id))
    return _numbered(cause, said, by=by, at=at)


def repairs(cause: Event, mended: Iterable[Mended], *, by: str, at: datetime) -> Iterator[FactEvent]:
    """What the worker *by* says of facts that it compared with the others after all."""
    return _numbered(cause, (said for each in mended for said in _of_mended(each)), by=by, at=at)


def unembedded(scope: Scope, *, state: str, at: datetime) -> FactsUnembedded:
    """That facts of *scope* wait for vectors: the same event however often it is said of a log in the same *state*."""
    return FactsUnembedded(**_of_scope(scope, f"unembedded\n{scope}\n{state}", at))


def unembedded_episodes(scope: Scope, *, state: str, at: datetime) -> EpisodesUnembedded:
    """That episodes of *scope* wait for vectors: the same event however often it is said of the same *state*."""
    return EpisodesUnembedded(**_of_scope(scope, f"unembedded episodes\n{scope}\n{state}", at))


def _of_scope(scope: Scope, name: str, at: datetime) -> dict[str, Any]:
    """The envelope of what is said of no session, under an id that derives from *name*."""
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


def _of_finding(finding: Finding, episode_id: UUID) -> Iterator[_Said]:
    fact, verdict, words = finding.fact, finding.verdict, (episode_id, finding.candidate.turns)
    yield _Said(FactConfirmed if isinstance(verdict, Known) else FactLearned, fact, fact, verdict, *words)
    if finding.replaced:
        yield _Said(FactSuperseded, finding.replaced, fact, finding.correction or verdict, *words)
    elif isinstance(verdict, Linked):
        yield _Said(FactLinked, fact, fact, verdict, *words)


def _of_mended(each: Mended) -> Iterator[_Said]:
    fact, words = each.fact, (each.fact.source.episode_id, each.fact.source.turns)
    if each.replaced:
        yield _Said(FactSuperseded, each.replaced, fact, each.verdict, *words)
    elif isinstance(each.verdict, Linked):
        yield _Said(FactLinked, fact, fact, each.verdict, *words)


def _numbered(cause: Event, told: Iterable[_Said], *, by: str, at: datetime) -> Iterator[FactEvent]:
    for index, said in enumerate(told):
        yield said.kind.after(cause, by=by, index=index, at=at, **_data(said))


def _data(said: _Said) -> dict[str, Any]:
    """The other fact is the one that it was compared with, whichever of the two has given way."""
    verdict, fact = said.verdict, said.fact
    others = {said.judged.id, None if isinstance(verdict, New) else verdict.fact_id} - {fact.id, None}
    return {
        "fact_id": fact.id,
        "text": fact.text,
        "category": str(fact.category),
        "episode_id": said.episode_id,
        "turns": said.turns,
        "verdict": verdict.name,
        "reason": verdict.reason,
        "other_fact_id": next(iter(others), None),
        "similarity": None if isinstance(verdict, New) else verdict.similarity,
    }
