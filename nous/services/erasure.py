"""Erase a session, fact or scope from every store, permanently, with a receipt.

First come tombstones, so that no producer or worker brings back what is being removed. Then the streams, so that no
delivery in progress can commit any more. Then the stored data. This repeats until nothing more is found. An erasure
that broke off is completed by running it again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from nous.bus.erasure import SCOPE_NAME, ErasureMatches, ErasureTarget, Tombstone, fact_name, form_name, session_name
from nous.bus.redis.erasure import RedisBusErasure, RedisTombstones
from nous.domain.episode import episode_id
from nous.domain.errors import NotFound, Retryable
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


_PASSES = 20
_IN_FILES = (
    "what the server's files still hold of it: they were not rewritten; have the operator run BGREWRITEAOF and BGSAVE, "
    "or erase it again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """Receipt of an erasure: the number of removed items by store, without any content.

    `revived` are facts that are current again. `first_at` is the time of an earlier erasure. `unreadable` counts stream
    entries whose session cannot be determined. A rehearsal (dry run) has removed nothing.
    """

    what: str
    name: str
    scope: Scope
    at: datetime
    removed: Mapping[str, int]
    stays: tuple[str, ...]
    revived: tuple[UUID, ...] = ()
    unreadable: int = 0
    first_at: datetime | None = None
    is_rehearsal: bool = False


class _Removed(NamedTuple):
    counts: Counter[str]
    revived: frozenset[UUID]
    found: ErasureMatches


@dataclass
class _TombstoneWriter:
    """Writer of the tombstones of one erasure, before anything is removed."""

    act: ErasureRequest
    tombstones: RedisTombstones
    at: datetime
    met: LogMatches = field(default_factory=LogMatches)
    names: frozenset[str] = frozenset()

    def cover(self, met: LogMatches, sessions: Iterable[str] = ()) -> None:
        self.met = self.met.and_(met)
        fresh = frozenset((*sessions, *map(form_name, met.marks))) - self.names
        self.names |= fresh
        stone = Tombstone(at=self.at, facts=tuple(sorted(self.met.facts)))
        self._put(fresh, stone, self.tombstones.put)

    def close(self) -> None:
        """Mark all tombstones as done, except those lifted meanwhile."""
        self._put(self.names, Tombstone(at=self.at, is_done=True), self.tombstones.renew)

    def _put(
        self, names: Iterable[str], stone: Tombstone, put: Callable[[Scope, Iterable[str], Tombstone], None]
    ) -> None:
        key, marks = self.act.key, tuple(sorted(self.met.marks))
        put(self.act.scope, set(names) - {key}, replace(stone, facts=()))
        # Last, since a reader that finds this one done looks no further.
        put(self.act.scope, (key,), replace(stone, marks=marks))


@dataclass(eq=False)
class Eraser:
    """Eraser of every store; *on_rewritten* gets each scope whose facts may lack vectors."""

    stores: Stores
    _: KW_ONLY
    clock: Callable[[], datetime]
    on_rewritten: Callable[[Scope], object]

    def rehearse(self, act: ErasureRequest) -> ErasureReceipt:
        """Return what `erase` would remove. Raises as `erase` does."""
        return self._with_decisions(act, self._rehearse)

    def erase(self, act: ErasureRequest) -> ErasureReceipt:
        """Erase until nothing is left. Raises `NotFound`, and `Retryable` if others kept adding."""
        return self._with_decisions(act, self._erase)

    def _with_decisions(self, act: ErasureRequest, run: Callable[[ErasureRequest], ErasureReceipt]) -> ErasureReceipt:
        """Run an erasure; of a session, also for decisions under its episode's external id."""
        external = self.stores.store.external_id(act.scope, act.name) if isinstance(act, EraseSession) else None
        receipt = run(act)
        if external is None:
            return receipt
        with suppress(NotFound):
            removed = Counter(receipt.removed) + Counter(run(replace(act, name=external)).removed)
            return replace(receipt, removed=dict(sorted(removed.items())))
        return receipt

    def _rehearse(self, act: ErasureRequest) -> ErasureReceipt:
        known = self.stores.tombstones.find(act.scope, act.key)
        _, preview = self._preview(act, known)
        return self._receipt(act, preview, known, is_rehearsal=True)

    def _erase(self, act: ErasureRequest) -> ErasureReceipt:
        known = self.stores.tombstones.find(act.scope, act.key)
        met, _ = self._preview(act, known)
        tombstones = _TombstoneWriter(act, self.stores.tombstones, at=known.at if known else self.clock())
        tombstones.cover(met, act.sessions(self.stores))
        removed = self._remove(act, tombstones)
        self.stores.bus.purge()
        is_all = act.wanted(met).everything
        is_rewritten = removed.counts.keys() & REWRITTEN or (known and not known.is_done)
        if is_rewritten and not is_all:
            self.on_rewritten(act.scope)
        is_off_disk = self.stores.bus.purge_files()
        tombstones.close()
        receipt = self._receipt(act, removed, known)
        return receipt if is_off_disk else replace(receipt, stays=(*receipt.stays, _IN_FILES))

    def _preview(self, act: ErasureRequest, known: Tombstone | None) -> tuple[LogMatches, _Removed]:
        rows = self.stores.store.rows(act.scope)
        erased = act.rewritten(rows)
        met = act.met(rows, erased).and_(self._matched_before(act, known))
        wanted = act.wanted(met)
        found = self.stores.bus.find(wanted)
        counts = Counter({"stream entries": len(found.entries), "dead letters": len(found.letters)})
        counts["jobs"] = self.stores.jobs.erase(
            found.events, session_id=wanted.session_id, but=found.others, dry_run=True
        )
        counts = counts + act.remove(self.stores, met, dry_run=True) + counted(erased)
        # Each erasure drops the cached rulings of its scope; they alone do not show that there was anything to erase.
        if known is None and counts.total() <= self.stores.responses.invalidate(act.scope, RULINGS, dry_run=True):
            where = "" if act.name == str(act.scope) else f" in {act.scope}"
            raise NotFound(f"there is no {act.what} {act.name}{where}, nor anything of it")
        return met, _Removed(counts, erased.revived, found)

    def _matched_before(self, act: ErasureRequest, known: Tombstone | None) -> LogMatches:
        """Return the matches of an erasure that broke off, without texts re-admitted meanwhile."""
        if known is None:
            return LogMatches()
        kept_away = self.stores.tombstones.forms(act.scope).marks
        return LogMatches(frozenset(known.facts), kept_away & frozenset(known.marks))

    def _remove(self, act: ErasureRequest, tombstones: _TombstoneWriter) -> _Removed:
        counts, current, events = Counter[str](), frozenset[UUID](), frozenset[UUID]()
        for _ in range(_PASSES):
            wanted = act.wanted(tombstones.met)
            found = self.stores.bus.find(wanted)
            events |= found.events
            if wanted.everything:
                tombstones.cover(LogMatches(), (session_name(act.scope, session) for session in found.sessions))
            gone = self._from_bus(found, events, wanted) + act.remove(self.stores, tombstones.met, dry_run=False)
            erased = self._rewrite(act, tombstones)
            gone += counted(erased)
            if not gone:
                return _Removed(counts, current, found)
            counts += gone
            current |= erased.revived
        raise Retryable(f"others keep adding to {act.what} {act.name}; erase it again")

    def _rewrite(self, act: ErasureRequest, tombstones: _TombstoneWriter) -> Erased:
        def rewritten(rows: Sequence[Row]) -> Erased:
            # These rows will be gone, and others may just have added some: this is the last chance to match them.
            erased = act.rewritten(rows)
            tombstones.cover(act.met(rows, erased))
            return erased

        return self.stores.store.rewrite(act.scope, rewritten)

    def _from_bus(self, found: ErasureMatches, events: frozenset[UUID], wanted: ErasureTarget) -> Counter[str]:
        # Jobs are removed before the entries, which say whose jobs they are: if this breaks off, they are found again.
        # And once more after the entries, since a pending delivery may have been submitted again.
        def without_jobs() -> Counter[str]:
            return Counter(jobs=self.stores.jobs.erase(events, session_id=wanted.session_id, but=found.others))

        return without_jobs() + self.stores.bus.erase(found) + without_jobs()

    def _receipt(
        self, act: ErasureRequest, removed: _Removed, known: Tombstone | None, *, is_rehearsal: bool = False
    ) -> ErasureReceipt:
        return ErasureReceipt(
            what=act.what,
            name=act.name,
            scope=act.scope,
            at=self.clock(),
            removed=dict(sorted((+removed.counts).items())),
            stays=act.stays,
            revived=tuple(sorted(removed.revived)),
            unreadable=removed.found.unreadable,
            first_at=known.at if known else None,
            is_rehearsal=is_rehearsal,
        )
