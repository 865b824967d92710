"""Erase a session, fact or scope from every store, permanently, with a receipt.

First come tombstones, so that no producer or worker brings back what is being removed. Then the streams, so that no
delivery in progress can commit any more. Then the stored data. This repeats until nothing more is found. An erasure
that broke off is completed by running it again.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from uuid import UUID

from nous.bus.erasure import (
    SCOPE_NAME,
    ErasureMatches,
    ErasureTarget,
    Tombstone,
    alias_name,
    fact_name,
    form_name,
    session_name,
)
from nous.bus.redis.erasure import RedisBusErasure, RedisTombstones
from nous.domain.episode import episode_id
from nous.domain.errors import NotFound, Retryable
from nous.domain.fact import Row, occurrences
from nous.domain.scope import Scope
from nous.jobs.rq.queue import RqErasure
from nous.knowledge.candidate_filter import mark_of, wordings
from nous.knowledge.erase import Erased, without, without_fact, without_session
from nous.llm.state import ResponseStore
from nous.pipeline.fact_learner import RULINGS
from nous.store.redis.erasure import RedisErasure

_FILES = "the files that sessions were read from, backups, and what processes have logged"
_SAID = "what sessions have said: their transcripts, summaries, briefs and decisions may tell the fact"
_SPENT = "how many tokens the scope has used, for a week"
_IN_FILES = (
    "what the server's files still hold of it: they were not rewritten; have the operator run BGREWRITEAOF and BGSAVE, "
    "or erase it again"
)
_RETOLD = "facts told by others now"
_REWRITTEN = frozenset({_RETOLD, "log rows"})  # counters that show that a log was rewritten
_PASSES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    tombstones: RedisTombstones
    bus: RedisBusErasure
    jobs: RqErasure
    store: RedisErasure
    responses: ResponseStore


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

    def target(self, _rows: Sequence[Row], erased: Erased) -> ErasureTarget:
        episodes = frozenset({episode_id(self.scope, self.name)})
        return ErasureTarget(scope=self.scope, session_id=self.name, facts=erased.touched, episodes=episodes)

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

    def target(self, rows: Sequence[Row], erased: Erased) -> ErasureTarget:
        facts = erased.gone | {self.id}
        marks = frozenset(mark_of(self.scope, form) for form in wordings(rows, facts))
        stated_in = frozenset(source.episode_id for fact, source, _ in occurrences(rows) if fact in facts)
        return ErasureTarget(scope=self.scope, facts=facts, marks=marks, episodes=stated_in)

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        return without_fact(rows, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseScope:
    """Erase a whole scope and block its sessions; new ones may state the same facts."""

    scope: Scope
    what: str = "scope"
    stays: tuple[str, ...] = (_FILES, _SPENT)
    key: str = SCOPE_NAME

    @property
    def name(self) -> str:
        return str(self.scope)

    def target(self, _rows: Sequence[Row], _erased: Erased) -> ErasureTarget:
        return ErasureTarget(scope=self.scope, everything=True)

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        """Return the log unchanged: it is removed with everything else."""
        return without(rows, lambda _fact, _source: True)


ErasureRequest = EraseSession | EraseFact | EraseScope
"""A session, fact or scope to erase, in the streams, the fact log and elsewhere.

`key` names the tombstone that records whether, and when, it was erased. `stays` lists what is not erased: data outside
of nous, or data that was not asked for. `target` is what to erase by rows of the log, of which `Erased` was made.
"""


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


@dataclass(eq=False)
class Eraser:
    """Eraser of every store; *on_rewritten* gets each scope whose facts may lack vectors."""

    stores: Stores
    _: KW_ONLY
    clock: Callable[[], datetime]
    on_rewritten: Callable[[Scope], object]

    def rehearse(self, act: ErasureRequest) -> ErasureReceipt:
        """Return what `erase` would remove. Raises as `erase` does."""
        return self._run(act, dry_run=True)

    def erase(self, act: ErasureRequest) -> ErasureReceipt:
        """Erase until nothing is left. Raises `NotFound`, and `Retryable` if others kept adding."""
        return self._run(act, dry_run=False)

    def _run(self, act: ErasureRequest, *, dry_run: bool) -> ErasureReceipt:
        known, stays = self.stores.tombstones.find(act.scope, act.key), act.stays
        stone = Tombstone(at=known.at, aliases=known.aliases) if known else Tombstone(at=self.clock())
        run = _Erasure(act, self.stores, stone=stone, target=ErasureTarget(scope=act.scope))
        removed = run.preview(known)
        if not dry_run:
            removed = run.remove()
            self.stores.bus.purge()
            is_rewritten = removed.keys() & _REWRITTEN or (known and not known.is_done)
            if is_rewritten and not run.target.everything:
                self.on_rewritten(act.scope)
            stays += () if self.stores.bus.purge_files() else (_IN_FILES,)
            run.close()
        return ErasureReceipt(
            what=act.what,
            name=act.name,
            scope=act.scope,
            at=self.clock(),
            removed=dict(sorted((+removed).items())),
            stays=stays,
            revived=tuple(sorted(run.revived)),
            unreadable=run.unreadable,
            first_at=known.at if known else None,
            is_rehearsal=dry_run,
        )


@dataclass
class _Erasure:
    """One erasure: the tombstones written so far, and what was found to remove."""

    act: ErasureRequest
    stores: Stores
    stone: Tombstone
    target: ErasureTarget
    names: frozenset[str] = frozenset()
    revived: frozenset[UUID] = frozenset()
    unreadable: int = 0

    def preview(self, known: Tombstone | None) -> Counter[str]:
        """Count what there is to remove; *known* is the tombstone of an earlier erasure."""
        act, stores = self.act, self.stores
        rows = stores.store.rows(act.scope)
        erased = act.rewritten(rows)
        self.target, self.revived = act.target(rows, erased), erased.revived
        if known:  # matches of one that broke off, without texts re-admitted meanwhile
            marks = stores.tombstones.forms(act.scope).marks & frozenset(known.marks)
            self.target = self.target.and_(replace(self.target, facts=frozenset(known.facts), marks=marks))
        found = self._found()
        counts = Counter({"stream entries": len(found.entries), "dead letters": len(found.letters)})
        counts["jobs"] = stores.jobs.erase(
            found.events, session_id=self.target.session_id, but=found.others, dry_run=True
        )
        counts = counts + self._from_stores(dry_run=True) + _counted(erased)
        # Each erasure drops the cached rulings of its scope; they alone do not show that there was anything to erase.
        if known is None and counts.total() <= stores.responses.invalidate(act.scope, RULINGS, dry_run=True):
            where = "" if act.name == str(act.scope) else f" in {act.scope}"
            raise NotFound(f"there is no {act.what} {act.name}{where}, nor anything of it")
        return counts

    def remove(self) -> Counter[str]:
        """Write tombstones, and remove until nothing is left; return what was removed, by store."""
        scope, counts, events = self.act.scope, Counter[str](), frozenset[UUID]()
        self.revived = frozenset()
        everything = self.target.everything
        self._cover(self.target, [str(each) for each in self.stores.store.episodes(scope)] if everything else ())
        for _ in range(_PASSES):
            found = self._found()
            events |= found.events
            if everything:
                aliases = self.target.aliases | {alias for _, alias in found.aliases}
                self.target = replace(self.target, aliases=aliases)
            self._cover(self.target, [session_name(scope, each) for each in found.sessions] if everything else ())
            # Jobs are removed before the entries, which say whose jobs they are: if this breaks off, they are found
            # again. And once more after the entries, since a pending delivery may have been submitted again.
            gone = self._jobs(events, found.others) + self.stores.bus.erase(found) + self._jobs(events, found.others)
            gone += self._from_stores(dry_run=False)
            erased = self.stores.store.rewrite(scope, self._rewritten)
            gone += _counted(erased)
            if not gone:
                return counts
            counts += gone
            self.revived |= erased.revived
        raise Retryable(f"others keep adding to {self.act.what} {self.act.name}; erase it again")

    def close(self) -> None:
        """Mark the tombstone as done, except if it was lifted meanwhile."""
        done = replace(self.stone, is_done=True, facts=())
        self.stores.tombstones.replace(self.act.scope, self.act.key, self.stone, done)

    def _found(self) -> ErasureMatches:
        """Search the streams, also for decisions under ids that the session's end gave its episode."""
        stores, target = self.stores, self.target
        found = stores.bus.find(target)
        if target.session_id is not None:
            claims = [(target.session_id, each) for each in self.stone.aliases]
            claims += [each for each in found.aliases if each[0] == target.session_id or not self._is_erased(each[0])]
            aliases = stores.store.aliases(target.scope, target.session_id, claims) - found.named
            self.target = replace(target, aliases=target.aliases | aliases)
            found = found if self.target == target else stores.bus.find(self.target)
        self.unreadable = found.unreadable
        return found

    def _is_erased(self, session: str) -> bool:
        scope = self.target.scope
        return self.stores.tombstones.find(scope, session_name(scope, session)) is not None

    def _jobs(self, events: Collection[UUID], others: Collection[UUID]) -> Counter[str]:
        return Counter(jobs=self.stores.jobs.erase(events, session_id=self.target.session_id, but=others))

    def _from_stores(self, *, dry_run: bool) -> Counter[str]:
        """Remove, or only count, everything outside of the streams and the log."""
        target, store = self.target, self.stores.store
        if target.everything:  # the answers first: they are keys of the scope, too
            return self._pinned(None, dry_run=dry_run) + store.everything(target.scope, dry_run=dry_run)
        if target.session_id is not None:
            counts = store.session(target.scope, target.session_id, aliases=target.aliases, dry_run=dry_run)
        else:
            counts = store.candidates(target.scope, target.forms, dry_run=dry_run)
        return counts + self._pinned(*sorted(target.episodes), RULINGS, dry_run=dry_run)

    def _pinned(self, *subjects: UUID | None, dry_run: bool) -> Counter[str]:
        answers, scope = self.stores.responses, self.target.scope
        return Counter({"pinned answers": sum(answers.invalidate(scope, each, dry_run=dry_run) for each in subjects)})

    def _rewritten(self, rows: Sequence[Row]) -> Erased:
        # These rows will be gone, and others may just have added some: this is the last chance to match them.
        erased = self.act.rewritten(rows)
        self._cover(self.act.target(rows, erased))
        return erased

    def _cover(self, target: ErasureTarget, sessions: Collection[str] = ()) -> None:
        """Add *target*, and write tombstones of it and of *sessions*, before anything is removed.

        A decision may name a session as if its id were that of an episode, so it is blocked as one, too.
        """
        self.target = self.target.and_(target)
        own = [self.act.key] if self.target.session_id is not None else []
        aliases = (session_name(self.target.scope, alias) for alias in self.target.aliases)
        blocked = map(alias_name, (*own, *sessions, *aliases))
        fresh = {*sessions, *blocked, *map(form_name, target.marks)} - self.names
        self.names |= fresh
        facts, marks = tuple(sorted(self.target.facts)), tuple(sorted(self.target.marks))
        self.stone = Tombstone(at=self.stone.at, facts=facts, marks=marks, aliases=tuple(sorted(self.target.aliases)))
        self.stores.tombstones.put(self.act.scope, fresh, Tombstone(at=self.stone.at, is_done=True))
        self.stores.tombstones.put(self.act.scope, (self.act.key,), self.stone)


def _counted(erased: Erased) -> Counter[str]:
    return Counter(
        {
            "facts": len(erased.gone),
            _RETOLD: len(erased.retold),
            "log rows": erased.lost_rows,
            "vectors": erased.lost_vectors,
        }
    )
