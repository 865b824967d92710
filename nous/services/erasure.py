"""Forgetting: in every store, for good, and with a receipt.

Tombstones come first, so that nobody brings back what is being removed; then the streams, so that nobody can commit any
more what he has in hand; then what was stored. That is repeated until nothing more is found. What broke off half-way is
done to its end by doing it again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from nous.bus.erasure import Found, Wanted
from nous.bus.tombstones import Tombstone, Tombstones, form_name, session_name
from nous.domain.errors import NotFound, Retryable
from nous.domain.fact import Row
from nous.domain.scope import Scope
from nous.facts.erase import Erased
from nous.services.erasure_targets import REWRITTEN, Act, Met, Stores, counted

_PASSES = 20
_IN_FILES = (
    "what the server's files still hold of it: it did not write them anew, which its operator can have done "
    "(BGREWRITEAOF, BGSAVE), or forgetting it again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was forgotten, and how much of it each store has lost; nothing of what it said.

    `revived` are facts that had given way to what is forgotten, and are current again. `first_at` is when it was
    forgotten before. `unreadable` counts entries of streams of which nobody can say whose they are. A rehearsal has
    removed nothing.
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
    """What was removed or would be, the facts that are current again, and the last look at the streams."""

    counts: Counter[str]
    revived: frozenset[UUID]
    found: Found


class _Grave:
    """The tombstones of an act: put before anything goes, and more of them as more of it is met."""

    def __init__(self, act: Act, tombstones: Tombstones, *, at: datetime) -> None:
        self.met = Met()
        self._act = act
        self._tombstones = tombstones
        self._at = at
        self._names: frozenset[str] = frozenset()

    def cover(self, met: Met, sessions: Iterable[str] = ()) -> None:
        self.met = self.met.and_(met)
        fresh = frozenset((*sessions, *map(form_name, met.marks))) - self._names
        self._names |= fresh
        stone = Tombstone(at=self._at, facts=tuple(sorted(self.met.facts)))
        self._put(fresh, stone, self._tombstones.put)

    def close(self) -> None:
        """Say that all of it is done, but of what was let back meanwhile."""
        self._put(self._names, Tombstone(at=self._at, is_done=True), self._tombstones.renew)

    def _put(
        self, names: Iterable[str], stone: Tombstone, put: Callable[[Scope, Iterable[str], Tombstone], None]
    ) -> None:
        key, marks = self._act.key, tuple(sorted(self.met.marks))
        put(self._act.scope, set(names) - {key}, replace(stone, facts=()))
        # Last, since whoever finds that it is done looks no further.
        put(self._act.scope, (key,), replace(stone, marks=marks))


class Forgetter:
    """Forgets, everywhere. *on_rewritten* is told of each scope whose facts may lack vectors now."""

    def __init__(
        self, stores: Stores, *, clock: Callable[[], datetime], on_rewritten: Callable[[Scope], object]
    ) -> None:
        self._stores = stores
        self._clock = clock
        self._on_rewritten = on_rewritten

    def rehearse(self, act: Act) -> Receipt:
        """Say what `forget` would remove. Raises as it does."""
        known = self._stores.tombstones.find(act.scope, act.key)
        _, looked = self._looked(act, known)
        return self._receipt(act, looked, known, is_rehearsal=True)

    def forget(self, act: Act) -> Receipt:
        """Forget, and come back when nothing is left.

        Raises:
            NotFound: there is nothing of it, and nothing was forgotten.
            Retryable: others brought more of it all the time, or a store did not answer: do it again.
        """
        known = self._stores.tombstones.find(act.scope, act.key)
        met, _ = self._looked(act, known)
        grave = _Grave(act, self._stores.tombstones, at=known.at if known else self._clock())
        grave.cover(met, act.sessions(self._stores))
        removed = self._remove(act, grave)
        self._stores.bus.purge()
        is_all = act.wanted(met).everything
        if is_all or removed.counts.keys() & REWRITTEN or (known and not known.is_done):
            self._follow_up(act.scope, is_empty=is_all)
        is_off_disk = self._stores.bus.purge_files()
        grave.close()
        receipt = self._receipt(act, removed, known)
        return receipt if is_off_disk else replace(receipt, stays=(*receipt.stays, _IN_FILES))

    def _follow_up(self, scope: Scope, *, is_empty: bool) -> None:
        """See to what was made of the log."""
        if self._stores.indexes:
            self._stores.indexes.erase(scope)
        if not is_empty:
            self._on_rewritten(scope)

    def _looked(self, act: Act, known: Tombstone | None) -> tuple[Met, _Removed]:
        """What there is of it, and what would be removed. Raises `NotFound`."""
        rows = self._stores.store.rows(act.scope)
        erased = act.rewritten(rows)
        met = act.met(rows, erased).and_(self._met_before(act, known))
        wanted = act.wanted(met)
        found = self._stores.bus.find(wanted)
        counts = Counter({"stream entries": len(found.entries), "dead letters": len(found.letters)})
        counts["jobs"] = self._stores.jobs.erase(
            found.events, session_id=wanted.session_id, but=found.others, dry_run=True
        )
        counts = counts + act.remove(self._stores, met, dry_run=True) + counted(erased)
        if known is None and not counts:
            where = "" if act.name == str(act.scope) else f" in {act.scope}"
            raise NotFound(f"there is no {act.what} {act.name}{where}, nor anything of it")
        return met, _Removed(counts, erased.revived, found)

    def _met_before(self, act: Act, known: Tombstone | None) -> Met:
        """What an act that broke off was looking for, but for texts that were let back meanwhile."""
        if known is None:
            return Met()
        kept_away = self._stores.tombstones.forms(act.scope).marks
        return Met(frozenset(known.facts), kept_away & frozenset(known.marks))

    def _remove(self, act: Act, grave: _Grave) -> _Removed:
        """Remove until nothing more is found."""
        counts, current, events = Counter[str](), frozenset[UUID](), frozenset[UUID]()
        for _ in range(_PASSES):
            wanted = act.wanted(grave.met)
            found = self._stores.bus.find(wanted)
            events |= found.events
            if wanted.everything:
                grave.cover(Met(), (session_name(act.scope, session) for session in found.sessions))
            gone = self._from_bus(found, events, wanted) + act.remove(self._stores, grave.met, dry_run=False)
            erased = self._rewrite(act, grave)
            gone += counted(erased)
            if not gone:
                return _Removed(counts, current, found)
            counts += gone
            current |= erased.revived
        raise Retryable(f"others bring more of {act.what} {act.name} all the time; forget it again")

    def _rewrite(self, act: Act, grave: _Grave) -> Erased:
        """The log as it is left."""

        def rewritten(rows: Sequence[Row]) -> Erased:
            # These very rows will be gone: what they tell, which others may just have added, is met here or never.
            erased = act.rewritten(rows)
            grave.cover(act.met(rows, erased))
            return erased

        return self._stores.store.rewrite(act.scope, rewritten)

    def _from_bus(self, found: Found, events: frozenset[UUID], wanted: Wanted) -> Counter[str]:
        # Jobs go before the entries, which tell whose they are, so that they are found again if this breaks off; and
        # after them, since what is pending may be submitted again.
        def without_jobs() -> Counter[str]:
            return Counter(jobs=self._stores.jobs.erase(events, session_id=wanted.session_id, but=found.others))

        return without_jobs() + self._stores.bus.erase(found) + without_jobs()

    def _receipt(self, act: Act, removed: _Removed, known: Tombstone | None, *, is_rehearsal: bool = False) -> Receipt:
        return Receipt(
            what=act.what,
            name=act.name,
            scope=act.scope,
            at=self._clock(),
            removed=dict(sorted((+removed.counts).items())),
            stays=act.stays,
            revived=tuple(sorted(removed.revived)),
            unreadable=removed.found.unreadable,
            first_at=known.at if known else None,
            is_rehearsal=is_rehearsal,
        )
