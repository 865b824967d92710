"""What can be forgotten: a session, a fact, a scope. Each says what it wants from the streams and the log, and removes
the rest.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from uuid import UUID

from nous.bus.erasure import BusErasure, Wanted
from nous.bus.tombstones import SCOPE_NAME, Tombstones, fact_name, session_name
from nous.domain.events import episode_id
from nous.domain.fact import Row, tellings
from nous.domain.scope import Scope
from nous.facts.candidate_filter import Forgotten, mark_of, wordings
from nous.facts.erase import Erased, without, without_fact, without_session
from nous.pipeline.fact_learner import RULINGS
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


class Met(NamedTuple):
    """What a log tells of an act: facts and episodes of which nothing is to be found any more, and the marks of texts
    that must not be learned again.
    """

    facts: frozenset[UUID] = frozenset()
    marks: frozenset[str] = frozenset()
    episodes: frozenset[UUID] = frozenset()

    def and_(self, more: "Met") -> "Met":
        return Met(self.facts | more.facts, self.marks | more.marks, self.episodes | more.episodes)


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

    def sessions(self, stores: Stores) -> frozenset[str]:
        """The names of the tombstones that keep sessions away."""
        ...

    def met(self, rows: Sequence[Row], erased: Erased) -> Met:
        """What *rows* tell of it, of which *erased* was made."""
        ...

    def wanted(self, met: Met) -> Wanted:
        """What it wants from the streams, by all that was met so far."""
        ...

    def remove(self, stores: Stores, met: Met, *, dry_run: bool) -> Counter[str]:
        """Remove, or only count, all that stands neither in streams nor in the log."""
        ...

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        """The log without it."""
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

    def sessions(self, stores: Stores) -> frozenset[str]:
        del stores
        return frozenset({self.key})

    def met(self, rows: Sequence[Row], erased: Erased) -> Met:
        del rows
        return Met(facts=erased.touched, episodes=frozenset({episode_id(self.scope, self.name)}))

    def wanted(self, met: Met) -> Wanted:
        return Wanted(scope=self.scope, session_id=self.name, facts=met.facts)

    def remove(self, stores: Stores, met: Met, *, dry_run: bool) -> Counter[str]:
        counts = stores.store.session(self.scope, self.name, dry_run=dry_run)
        return counts + _pinned(stores, self.scope, met, dry_run=dry_run)

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        return without_session(rows, self.name)


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

    def sessions(self, stores: Stores) -> frozenset[str]:
        del stores
        return frozenset()

    def met(self, rows: Sequence[Row], erased: Erased) -> Met:
        facts = erased.gone | {self.id}
        marks = frozenset(mark_of(self.scope, form) for form in wordings(rows, facts))
        return Met(facts, marks, frozenset(_episodes(rows, facts)))

    def wanted(self, met: Met) -> Wanted:
        return Wanted(scope=self.scope, facts=met.facts, forms=Forgotten(self.scope, met.marks))

    def remove(self, stores: Stores, met: Met, *, dry_run: bool) -> Counter[str]:
        counts = stores.store.candidates(self.scope, Forgotten(self.scope, met.marks), dry_run=dry_run)
        return counts + _pinned(stores, self.scope, met, dry_run=dry_run)

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        return without_fact(rows, self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """All of a scope. Its sessions are kept away; new ones are welcome, and may say what those have said."""

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

    def met(self, rows: Sequence[Row], erased: Erased) -> Met:
        del rows, erased
        return Met()

    def wanted(self, met: Met) -> Wanted:
        return Wanted(scope=self.scope, everything=True, facts=met.facts)

    def remove(self, stores: Stores, met: Met, *, dry_run: bool) -> Counter[str]:
        del met
        pinned = stores.pins.drop(self.scope, dry_run=dry_run)
        return Counter({"pinned answers": pinned}) + stores.store.everything(self.scope, dry_run=dry_run)

    def rewritten(self, rows: Sequence[Row]) -> Erased:
        """As it is: the log goes with the rest."""
        return without(rows, lambda _fact, _source: True)


def counted(erased: Erased) -> Counter[str]:
    """What a log has lost."""
    return Counter(
        {
            "facts": len(erased.gone),
            RETOLD: len(erased.retold),
            "log rows": erased.lost_rows,
            "vectors": erased.lost_vectors,
        }
    )


def _pinned(stores: Stores, scope: Scope, met: Met, *, dry_run: bool) -> Counter[str]:
    """Drop what a model has answered about what was met; and all rulings, which may quote any fact of the scope."""
    subjects = (*sorted(met.episodes), RULINGS)
    return Counter({"pinned answers": sum(stores.pins.drop(scope, each, dry_run=dry_run) for each in subjects)})


def _episodes(rows: Iterable[Row], facts: Collection[UUID]) -> set[UUID]:
    """The episodes in which any of *facts* was said."""
    return {source.episode_id for fact, source, _ in tellings(rows) if fact in facts}
