"""What can be forgotten: a session, a fact, a scope. Each says what it wants from the streams, and removes the rest."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from nous.bus.erasing import BusErasure, Wanted
from nous.bus.tombstones import SCOPE_NAME, Tombstones, fact_name, form_name, session_name
from nous.events import episode_id
from nous.fact import Confirmed, Learned, Row
from nous.learning.erasing import Erased, without_fact, without_session
from nous.learning.forgotten import Forgotten, alike, mark_of, wordings
from nous.scope import Scope
from nous.store.erasure import Erasure

_FILES = "the files that sessions were read from, backups, and what processes have logged"
_SAID = "what sessions have said: their transcripts, summaries, briefs and decisions may tell the fact"
RETOLD = "facts told by others now"
REWRITTEN = frozenset({RETOLD, "log rows"})
"""What counts show that a log was rewritten."""
_SPENT = "how many tokens the scope has used, for a week"


class JobErasure(Protocol):
    """Removes the jobs of events, and those that name a session, *but* not for some; with *dry_run* it only counts."""

    def erase(
        self, events: Collection[UUID], *, session_id: str | None, but: Collection[UUID], dry_run: bool = False
    ) -> int: ...


class PinErasure(Protocol):
    """Removes pinned answers about a subject, or all of a scope; with *dry_run* it only counts them."""

    def drop(self, scope: Scope, subject: UUID | None = None, *, dry_run: bool = False) -> int: ...


class IndexErasure(Protocol):
    """Removes what was made of a scope's log to search it; whoever needs it makes it anew."""

    def erase(self, scope: Scope) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """All places in which something may have to be forgotten; *indexes* is None where each process keeps its own."""

    tombstones: Tombstones
    bus: BusErasure
    jobs: JobErasure
    store: Erasure
    pins: PinErasure
    indexes: IndexErasure | None = None


class Act(Protocol):
    """Something to forget. *key* names the tombstone that tells whether, and when, it was forgotten.

    *stays* tells what is not in nous's hands, or was not asked for.
    """

    @property
    def what(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def scope(self) -> Scope: ...

    @property
    def stays(self) -> tuple[str, ...]: ...

    @property
    def key(self) -> str: ...

    def tombstones(self, stores: Stores) -> frozenset[str]:
        """The names of all the tombstones to put."""
        ...

    def facts(self, stores: Stores) -> frozenset[UUID]:
        """The facts whose words must not be found any more."""
        ...

    def wanted(self, stores: Stores, facts: frozenset[UUID]) -> Wanted:
        """What it wants from the streams; *facts* may be more than those that are there still."""
        ...

    def remove(self, stores: Stores, *, dry_run: bool) -> Counter[str]:
        """Remove, or only count, all that does not stand in streams."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session, and what it alone has said. What others have said too is told in their words."""

    scope: Scope
    name: str
    what: str = "session"
    stays: tuple[str, ...] = (_FILES,)

    @property
    def key(self) -> str:
        return session_name(self.scope, self.name)

    def tombstones(self, stores: Stores) -> frozenset[str]:
        del stores
        return frozenset({self.key})

    def facts(self, stores: Stores) -> frozenset[UUID]:
        return self._rewritten(stores.store.rows(self.scope)).touched

    def wanted(self, stores: Stores, facts: frozenset[UUID]) -> Wanted:
        del stores
        return Wanted(scope=self.scope, session_id=self.name, facts=facts)

    def remove(self, stores: Stores, *, dry_run: bool) -> Counter[str]:
        counts = stores.store.session(self.scope, self.name, dry_run=dry_run)
        counts += _counted(stores.store.rewrite(self.scope, self._rewritten, dry_run=dry_run))
        pinned = stores.pins.drop(self.scope, episode_id(self.scope, self.name), dry_run=dry_run)
        return counts + Counter({"pinned answers": pinned})

    def _rewritten(self, rows: Iterable[Row]) -> Erased:
        return without_session(tuple(rows), self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A fact, in all its wordings, with all that say the same; none of them is learned again."""

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

    def tombstones(self, stores: Stores) -> frozenset[str]:
        return frozenset({self.key, *map(form_name, self._marks(stores, self.facts(stores)))})

    def facts(self, stores: Stores) -> frozenset[UUID]:
        return alike(stores.store.rows(self.scope), self.id)

    def wanted(self, stores: Stores, facts: frozenset[UUID]) -> Wanted:
        return Wanted(scope=self.scope, facts=facts, forms=self._forms(stores, facts))

    def remove(self, stores: Stores, *, dry_run: bool) -> Counter[str]:
        # The log comes last: it knows the wordings.
        facts = self.facts(stores)
        counts = stores.store.candidates(self.scope, self._forms(stores, facts), dry_run=dry_run)
        said_in = sorted(_episodes(stores.store.rows(self.scope), facts))
        counts["pinned answers"] = sum(stores.pins.drop(self.scope, each, dry_run=dry_run) for each in said_in)
        return counts + _counted(stores.store.rewrite(self.scope, self._rewritten, dry_run=dry_run))

    def _rewritten(self, rows: Iterable[Row]) -> Erased:
        return without_fact(tuple(rows), self.id)

    def _marks(self, stores: Stores, facts: frozenset[UUID]) -> frozenset[str]:
        forms = wordings(stores.store.rows(self.scope), facts)
        return frozenset(mark_of(self.scope, form) for form in forms)

    def _forms(self, stores: Stores, facts: frozenset[UUID]) -> Forgotten:
        """The wordings of *facts*, and all that were forgotten before: this may be the end of an act that broke off."""
        return Forgotten(self.scope, stores.tombstones.forms(self.scope).marks | self._marks(stores, facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """All of a scope. Its sessions are kept away; new ones are welcome."""

    scope: Scope
    what: str = "scope"
    stays: tuple[str, ...] = (_FILES, _SPENT)

    @property
    def name(self) -> str:
        return str(self.scope)

    @property
    def key(self) -> str:
        return SCOPE_NAME

    def tombstones(self, stores: Stores) -> frozenset[str]:
        return frozenset({self.key, *map(str, stores.store.episodes(self.scope))})

    def facts(self, stores: Stores) -> frozenset[UUID]:
        del stores
        return frozenset()

    def wanted(self, stores: Stores, facts: frozenset[UUID]) -> Wanted:
        del stores
        return Wanted(scope=self.scope, everything=True, facts=facts)

    def remove(self, stores: Stores, *, dry_run: bool) -> Counter[str]:
        pinned = stores.pins.drop(self.scope, dry_run=dry_run)
        return Counter({"pinned answers": pinned}) + stores.store.everything(self.scope, dry_run=dry_run)


def _counted(erased: Erased) -> Counter[str]:
    return Counter(
        {
            "facts": len(erased.gone),
            RETOLD: len(erased.retold),
            "log rows": erased.lost_rows,
            "vectors": erased.lost_vectors,
        }
    )


def _episodes(rows: Iterable[Row], facts: Collection[UUID]) -> set[UUID]:
    """The episodes in which any of *facts* was said."""
    told: set[UUID] = set()
    for row in rows:
        match row:
            case Learned() if row.fact.id in facts:
                told.add(row.fact.source.episode_id)
            case Confirmed() if row.fact_id in facts:
                told.add(row.source.episode_id)
            case _:
                pass
    return told
