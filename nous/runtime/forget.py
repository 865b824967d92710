"""Forgetting: in every store, for good, and with a receipt.

Tombstones come first, so that nobody brings back what is being removed; then the streams, so that nobody can commit any
more what he has in hand; then what was stored. That is repeated until nothing more is found. What broke off half-way is
done to its end by doing it again.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from nous.bus.erasing import Found, Wanted
from nous.bus.tombstones import Tombstone, session_name
from nous.errors import NotFound, Retryable
from nous.runtime.forgetting import REWRITTEN, Act, Stores
from nous.scope import Scope

_PASSES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was forgotten, and how much of it each store has lost; nothing of what it said.

    `first_at` is when it was forgotten before. `unreadable` counts entries of streams of which nobody can say whose
    they are. A rehearsal has removed nothing.
    """

    what: str
    name: str
    scope: Scope
    at: datetime
    removed: Mapping[str, int]
    stays: tuple[str, ...]
    unreadable: int = 0
    first_at: datetime | None = None
    is_rehearsal: bool = False


class _Removed(NamedTuple):
    """What was removed, the tombstones of the sessions that were met on the way, and the last look at the streams."""

    counts: Counter[str]
    names: frozenset[str]
    found: Found


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
        found, counts = self._looked(act, self._wanted(act, known))
        if known is None and not counts:
            where = "" if act.name == str(act.scope) else f" in {act.scope}"
            raise NotFound(f"there is no {act.what} {act.name}{where}, nor anything of it")
        return self._receipt(act, counts, found, known, is_rehearsal=True)

    def forget(self, act: Act) -> Receipt:
        """Forget, and come back when nothing is left.

        Raises:
            NotFound: there is nothing of it, and nothing was forgotten.
            Retryable: others brought more of it all the time, or a store did not answer: do it again.
        """
        self.rehearse(act)
        tombstones, names = self._stores.tombstones, act.tombstones(self._stores)
        known = tombstones.find(act.scope, act.key)
        wanted = self._wanted(act, known)
        grave = Tombstone(at=known.at if known else self._clock(), facts=tuple(sorted(wanted.facts)))
        tombstones.put(act.scope, names, grave)
        removed = self._remove(act, wanted, grave)
        self._stores.bus.purge()
        if wanted.everything or removed.counts.keys() & REWRITTEN or (known and not known.is_done):
            self._follow_up(act.scope, is_empty=wanted.everything)
        tombstones.put(act.scope, names | removed.names, Tombstone(at=grave.at, is_done=True))
        return self._receipt(act, removed.counts, removed.found, known)

    def _follow_up(self, scope: Scope, *, is_empty: bool) -> None:
        """See to what was made of the log."""
        if self._stores.indexes:
            self._stores.indexes.erase(scope)
        if not is_empty:
            self._on_rewritten(scope)

    def _wanted(self, act: Act, known: Tombstone | None) -> Wanted:
        return act.wanted(self._stores, act.facts(self._stores) | frozenset(known.facts if known else ()))

    def _looked(self, act: Act, wanted: Wanted) -> tuple[Found, Counter[str]]:
        found = self._stores.bus.find(wanted)
        counts = Counter({"stream entries": len(found.entries), "dead letters": len(found.letters)})
        counts["jobs"] = self._stores.jobs.erase(
            found.events, session_id=wanted.session_id, but=found.others, dry_run=True
        )
        return found, counts + act.remove(self._stores, dry_run=True)

    def _remove(self, act: Act, wanted: Wanted, grave: Tombstone) -> "_Removed":
        """Remove until nothing more is found."""
        counts, names, events = Counter[str](), frozenset[str](), frozenset[UUID]()
        for _ in range(_PASSES):
            found = self._stores.bus.find(wanted)
            events |= found.events
            if wanted.everything:
                names |= {session_name(act.scope, session) for session in found.sessions}
                self._stores.tombstones.put(act.scope, names, grave)
            gone = self._from_bus(found, events, wanted) + act.remove(self._stores, dry_run=False)
            if not gone:
                return _Removed(counts, names, found)
            counts += gone
        raise Retryable(f"others bring more of {act.what} {act.name} all the time; forget it again")

    def _from_bus(self, found: Found, events: frozenset[UUID], wanted: Wanted) -> Counter[str]:
        # Jobs go before the entries, which tell whose they are, so that they are found again if this breaks off; and
        # after them, since what is pending may be submitted again.
        def without_jobs() -> Counter[str]:
            return Counter(jobs=self._stores.jobs.erase(events, session_id=wanted.session_id, but=found.others))

        return without_jobs() + self._stores.bus.erase(found) + without_jobs()

    def _receipt(
        self, act: Act, counts: Counter[str], found: Found, known: Tombstone | None, *, is_rehearsal: bool = False
    ) -> Receipt:
        return Receipt(
            what=act.what,
            name=act.name,
            scope=act.scope,
            at=self._clock(),
            removed=dict(sorted((+counts).items())),
            stays=act.stays,
            unreadable=found.unreadable,
            first_at=known.at if known else None,
            is_rehearsal=is_rehearsal,
        )
