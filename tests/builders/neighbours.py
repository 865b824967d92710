"""Scopes beside each other on one server, each taught in the same words but for a marker of its own; and every way in
which something is read of one of them.

Whatever `READS` gives for a scope may hold nothing of another one: neither its marker, nor an id of its.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid5

from builders.events import event_of
from nous.app.container import Container
from nous.app.services import eraser, producer_of
from nous.bus.base import Priority
from nous.bus.erasure import Tombstone, session_name, text_name
from nous.cli.facts import candidate, teach
from nous.domain.episode import NAMESPACE, Decision, Tokens, episode_id
from nous.domain.errors import BadInput
from nous.domain.events import SessionCompacting, SessionEnded
from nous.domain.fact import occurrences
from nous.domain.scope import CacheSubject, Scope
from nous.llm.base import Question, Reply
from nous.runtime.attempt import execute
from nous.services.erasure import EraseScope, ErasureReceipt
from nous.services.session_intake import SessionMetadata

SESSION = "s"
SHARED = "Service billing always runs on port 9017."
FORGOTTEN = "The old lighthouse is painted green."
MODEL = "openai:some"


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A scope that was taught: its marker, its ids, and the dataref of an upload of its that waits."""

    scope: Scope
    marker: str
    ids: frozenset[UUID] = frozenset()
    dataref: str = ""

    def told_by(self, read: object) -> set[str]:
        """What *read* tells of this scope."""
        text = repr(read)
        return {each for each in (self.marker, *map(str, self.ids)) if each in text}


def taught(container: Container, called: Mapping[Scope, str]) -> list[Neighbour]:
    """Teach each scope of its marker; in the end, each has an upload that waits."""
    for scope, marker in called.items():
        _teach(container, scope, marker)
    return [_complete(container, scope, marker) for scope, marker in called.items()]


def _teach(container: Container, scope: Scope, marker: str) -> None:
    """Teach *scope* in every way there is: sessions, one of them going on, decisions, facts, answers, tombstones."""
    producer = producer_of(container)
    producer.record(Decision(description=f"We take the {marker}."), session_id=SESSION, scope=scope, agent_id="default")
    for is_compacting in (True, False):
        about = SessionMetadata(scope=scope, session_id=SESSION, compacting=is_compacting)
        list(producer.publish(_session(marker), about))
    while sum(_worked(container, name, priority) for name in container.workers for priority in Priority):
        pass
    teach(
        container, scope, "by hand", [candidate({"text": SHARED}), candidate({"text": f"The {marker} is fed at noon."})]
    )
    container.tombstones.put(scope, [text_name(scope, FORGOTTEN)], _stone())
    container.llm_stores.responses.save(_question(scope), MODEL, Reply(text=marker, tokens=Tokens(1, 1), model=MODEL))


def _complete(container: Container, scope: Scope, marker: str) -> Neighbour:
    [waiting] = producer_of(container).publish(_session(marker), SessionMetadata(scope=scope, session_id=f"{SESSION}2"))
    rows = container.context.facts.read(scope, embedder=container.context.embedder.id)
    told = [source for _, source, _ in occurrences(rows.rows)]
    ids = {each.episode_id for each in told} | {each.event_id for each in told} | {waiting.event.id}
    ids |= {each.id for each in container.context.episodes.recent(scope)} | set(rows.vectors)
    ids |= {
        each
        for kind in (SessionEnded, SessionCompacting)
        for each in container.delivery_stats.events_of(SESSION, scope, kind)
    }
    dataref = waiting.event.dataref or ""
    return Neighbour(scope=scope, marker=marker, ids=frozenset(ids), dataref=dataref)


def forget_all(container: Container, scope: Scope, *, dry_run: bool) -> ErasureReceipt:
    act = EraseScope(scope=scope)
    return eraser(container).rehearse(act) if dry_run else eraser(container).erase(act)


def _worked(container: Container, name: str, priority: Priority) -> bool:
    """Whether there was something to do for that worker."""
    worker, subscription = container.workers[name], container.subscription(name)
    deliveries = container.bus.receive(subscription, priority=priority, limit=100, lease=60)
    for each in deliveries:
        execute(worker, each, context=container.context, bus=container.bus, retry_policy=container.retry_policy)
    return bool(deliveries)


def _session(marker: str) -> str:
    return (
        f"User: Please always run service billing on port 9017. The {marker} lives in the attic.\n\n"
        f"Assistant: Done: service billing now listens on port 9017, and the {marker} has moved.\n\n"
        f"User: Thanks. I prefer the {marker} over all others."
    )


def _stone() -> Tombstone:
    return Tombstone(at=datetime(2026, 1, 1, tzinfo=UTC), is_done=True)


def _question(scope: Scope) -> Question:
    matter = CacheSubject(scope=scope, subject=uuid5(NAMESPACE, "one subject"))
    return Question(matter=matter, system="s", user="the same", name="answer", schema={}, most_tokens=9)


def _naming(own: Scope, their: Neighbour) -> SessionEnded:
    """An event of *own* that names an upload of another scope."""
    return event_of(SessionEnded, "naming", scope=own, session_id=f"{SESSION}2", dataref=their.dataref)


def _transcripts(container: Container, own: Neighbour, their: Neighbour) -> object:
    assert container.context.transcripts.read(_naming(own.scope, own))
    try:
        return container.context.transcripts.read(_naming(own.scope, their))
    except BadInput:
        return None


def _episodes(own: Neighbour, their: Neighbour) -> Iterator[UUID]:
    yield from (*own.ids, *their.ids)
    yield from (episode_id(each.scope, SESSION) for each in (own, their))


Read = Callable[[Container, Neighbour, Neighbour], object]

READS: Mapping[str, Read] = {
    "Episodes.get": lambda w, own, their: [w.context.episodes.get(own.scope, each) for each in _episodes(own, their)],
    "Episodes.recent": lambda w, own, _: w.context.episodes.recent(own.scope),
    "Episodes.scopes": lambda w, _, __: w.context.episodes.scopes(),
    "Episodes.summary_input": lambda w, own, their: [
        w.context.episodes.summary_input(own.scope, each) for each in _episodes(own, their)
    ],
    "DecisionSource.get_episode_decisions": lambda w, own, their: [
        w.context.decisions.get_episode_decisions(each, scope=own.scope) for each in _episodes(own, their)
    ],
    "AnchoredSummaries.anchored_summary": lambda w, own, _: w.context.anchored_summaries.anchored_summary(
        own.scope, agent_id="default", session_id=SESSION
    ),
    "AnchoredSummaries.of_scope": lambda w, own, _: w.context.anchored_summaries.of_scope(own.scope),
    "SessionStates.session_state": lambda w, own, _: w.context.session_states.session_state(own.scope, SESSION),
    "FactLog.read": lambda w, own, their: [
        w.context.facts.read(own.scope, after=after) for after in (None, w.context.facts.read(their.scope).version)
    ],
    "Transcripts.read": _transcripts,
    "Tombstones.find": lambda w, own, their: [
        w.tombstones.find(own.scope, name)
        for name in (session_name(their.scope, SESSION), text_name(their.scope, FORGOTTEN))
    ],
    "Tombstones.forms": lambda w, own, _: FORGOTTEN in w.tombstones.forms(own.scope),
    "ResponseStore.find": lambda w, own, _: w.llm_stores.responses.find(_question(own.scope), MODEL),
    "ResponseStore.invalidation_count": lambda w, own, _: w.llm_stores.responses.invalidation_count(
        own.scope, _question(own.scope).matter.subject
    ),
}
