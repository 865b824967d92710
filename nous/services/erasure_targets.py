"""Steps to erase a session, fact or scope: match rows, pick stream entries, delete records."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from nous.bus.erasure import ErasureTarget
from nous.bus.redis.erasure import RedisBusErasure, RedisTombstones
from nous.bus.tombstones import SCOPE_NAME, fact_name, session_name
from nous.domain.episode import episode_id
from nous.domain.fact import Row, occurrences
from nous.domain.scope import Scope
from nous.jobs.rq.queue import RqErasure
from nous.knowledge.candidate_filter import SuppressedTexts, mark_of, wordings
from nous.knowledge.erase import Erased, without, without_fact, without_session
from nous.llm.state import ResponseStore
from nous.pipeline.fact_learner import RULINGS
from nous.store.redis.erasure import RedisErasure

_FILES = "the files that sessions were read from, backups, and what processes have logged"
_SAID = "what sessions have said: their transcripts, summaries, briefs and decisions may tell the fact"
RETOLD = "facts told by others now"
REWRITTEN = frozenset({RETOLD, "log rows"})  # counters that show that a log was rewritten
_SPENT = "how many tokens the scope has used, for a week"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    tombstones: RedisTombstones
    bus: RedisBusErasure
    jobs: RqErasure
    store: RedisErasure
    responses: ResponseStore


class LogMatches(NamedTuple):
    """Facts and episodes to be found no more, and hashes of texts not to be learned again."""

    facts: frozenset[UUID] = frozenset()
    marks: frozenset[str] = frozenset()
    episodes: frozenset[UUID] = frozenset()

    def and_(self, more: "LogMatches") -> "LogMatches":
        return LogMatches(self.facts | more.facts, self.marks | more.marks, self.episodes | more.episodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseSession:
    """Erase a session and what only it has stated; others keep other facts, in their wording."""

    scope: Scope
    name: str
    what: str = "session"
    stays: tuple[str, ...] = (_FILES,)

    @property
    def key(self) -> str:
        return session_name(self.scope, self.name)

    def sessions(self, _stores: Stores) -> frozenset[str]:
        return frozenset({self.key})

    def met(self, _rows: Sequence[Row], erased: Erased) -> LogMatches:
        return LogMatches(facts=erased.touched, episodes=frozenset({episode_id(self.scope, self.name)}))

    def wanted(self, met: LogMatches) -> ErasureTarget:
        return ErasureTarget(scope=self.scope, session_id=self.name, facts=met.facts)

    def remove(self, stores: Stores, met: LogMatches, *, dry_run: bool) -> Counter[str]:
        counts = stores.store.session(self.scope, self.name, dry_run=dry_run)
        return counts + _invalidated(stores, self.scope, met, dry_run=dry_run)

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        return without_session(rows, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseFact:
    """Erase a fact in all wordings, with all facts of equal meaning; none is learned again."""

    scope: Scope
    id: UUID
    what: str = "fact"
    stays: tuple[str, ...] = (_SAID, _FILES)

    @property
    def name(self) -> str:
        return str(self.id)

    @property
    def key(self) -> str:
        return fact_name(self.id)

    def sessions(self, _stores: Stores) -> frozenset[str]:
        return frozenset()

    def met(self, rows: Sequence[Row], erased: Erased) -> LogMatches:
        facts = erased.gone | {self.id}
        marks = frozenset(mark_of(self.scope, form) for form in wordings(rows, facts))
        stated_in = frozenset(source.episode_id for fact, source, _ in occurrences(rows) if fact in facts)
        return LogMatches(facts, marks, stated_in)

    def wanted(self, met: LogMatches) -> ErasureTarget:
        return ErasureTarget(scope=self.scope, facts=met.facts, forms=SuppressedTexts(self.scope, met.marks))

    def remove(self, stores: Stores, met: LogMatches, *, dry_run: bool) -> Counter[str]:
        counts = stores.store.candidates(self.scope, SuppressedTexts(self.scope, met.marks), dry_run=dry_run)
        return counts + _invalidated(stores, self.scope, met, dry_run=dry_run)

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        return without_fact(rows, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseScope:
    """Erase a whole scope and block its sessions; new ones may state the same facts."""

    scope: Scope
    what: str = "scope"
    stays: tuple[str, ...] = (_FILES, _SPENT)

    @property
    def name(self) -> str:
        return str(self.scope)

    @property
    def key(self) -> str:
        return SCOPE_NAME

    def sessions(self, stores: Stores) -> frozenset[str]:
        return frozenset(map(str, stores.store.episodes(self.scope)))

    def met(self, _rows: Sequence[Row], _erased: Erased) -> LogMatches:
        return LogMatches()

    def wanted(self, met: LogMatches) -> ErasureTarget:
        return ErasureTarget(scope=self.scope, everything=True, facts=met.facts)

    def remove(self, stores: Stores, _met: LogMatches, *, dry_run: bool) -> Counter[str]:
        pinned = stores.responses.invalidate(self.scope, dry_run=dry_run)
        return Counter({"pinned answers": pinned}) + stores.store.everything(self.scope, dry_run=dry_run)

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        """Return the log unchanged: it is removed with everything else."""
        return without(rows, lambda _fact, _source: True)


ErasureRequest = EraseSession | EraseFact | EraseScope
"""A session, fact or scope to erase, in the streams, the fact log and elsewhere.

`key` names the tombstone that records whether, and when, it was erased, `sessions` those that block its sessions.
`stays` lists what is not erased: data outside of nous, or data that was not asked for. `met` are the matches in rows of
the log, of which `Erased` was made. `wanted` is what to erase from the streams, by all matches so far. `remove`
removes, or only counts, everything outside of the streams and the log.
"""


def counted(erased: Erased) -> Counter[str]:
    return Counter(
        {
            "facts": len(erased.gone),
            RETOLD: len(erased.retold),
            "log rows": erased.lost_rows,
            "vectors": erased.lost_vectors,
        }
    )


def _invalidated(stores: Stores, scope: Scope, met: LogMatches, *, dry_run: bool) -> Counter[str]:
    subjects = (*sorted(met.episodes), RULINGS)
    return Counter(
        {"pinned answers": sum(stores.responses.invalidate(scope, each, dry_run=dry_run) for each in subjects)}
    )
