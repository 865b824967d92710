"""Rows from elsewhere, appended to the log of a scope that others teach and forget meanwhile."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from nous.bus.base import Refused
from nous.bus.tombstones import session_name
from nous.effects import AppendFacts, Effects
from nous.errors import Retryable
from nous.fact import Learned, LogVersion, Row, tellings
from nous.learning.announcing import unembedded
from nous.learning.joining import Joined, Present, is_tie, joined
from nous.learning.normalise import exact_form
from nous.scope import Scope
from nous.store.base import NO_VECTORS, LogSlice
from nous.wiring import World

_ROWS_AT_ONCE = 500
_REFUSALS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """How many rows were *added*, by kind; those left out are counted as in `Joined`."""

    added: Counter[type]
    unknown: int
    forgotten: int


class Importer:
    """Adds to the log of one scope what it lacks of *rows*; what was forgotten there stays forgotten."""

    def __init__(self, world: World, scope: Scope, rows: Sequence[Row]) -> None:
        self._world = world
        self._scope = scope
        self._rows = rows
        self._added = Counter[type]()

    def run(self) -> Imported:
        """Add, and come back when nothing is missing.

        Raises:
            Retryable: others teach or forget the same all the time.
        """
        found = self._added_all()
        # Also where nothing was new: an import that was cut off had published nothing yet.
        if any(isinstance(row, Learned) for row in self._rows):
            state = str(self._log(None).version)
            self._world.bus.publish(unembedded(self._scope, state=state, at=self._world.kit.clock()))
        return Imported(added=self._added, unknown=found.unknown, forgotten=found.forgotten)

    def _added_all(self) -> Joined:
        """What was added at last, as it was joined to the log: anew each time that others had a say in it."""
        for _ in range(_REFUSALS):
            log, forgotten = self._log(None), self._world.kit.forgotten(self._scope)
            found = joined(self._rows, log.rows, forgotten=forgotten, gone=self._gone(self._rows))
            reader = _Reader(log, self._log, found.rows)
            if all(self._has_added(batch, reader, forgotten) for batch in _batches(found.rows)):
                return found
        raise Retryable(
            f"the same is taught to {self._scope}, or forgotten, all the time; "
            "import again, what is there is not doubled"
        )

    def _has_added(self, rows: Sequence[Row], reader: "_Reader", forgotten: Collection[str]) -> bool:
        for _ in range(_REFUSALS):
            if not reader.reads_on():
                return False
            fresh = tuple(reader.present.missing(rows))
            write = AppendFacts(scope=self._scope, expected=reader.version, rows=fresh)
            if not fresh or not isinstance(self._world.bus.apply(Effects(writes=(write,))), Refused):
                self._added.update(map(type, fresh))
                return True
            if self._gone(rows) or self._world.kit.forgotten(self._scope) != forgotten:
                return False
        raise Retryable(
            f"{self._scope} is being taught by others without a pause; import again, what is there is not doubled"
        )

    def _log(self, after: LogVersion | None) -> LogSlice:
        return self._world.kit.facts.read(self._scope, after=after, embedder=NO_VECTORS)

    def _gone(self, rows: Sequence[Row]) -> set[str]:
        """The forgotten sessions that *rows* quote, whether they were published or told by hand."""
        sessions = {each.source.session_id for each in tellings(rows)}
        find, scope = self._world.tombstones.find, self._scope
        return {each for each in sessions if find(scope, session_name(scope, each))}


def _batches(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """*rows* in parts, of which none parts a fact from what ties it to those before it.

    An import may break off between two, and what the fact's reason quotes may be forgotten.
    """
    batch: list[Row] = []
    for row in rows:
        if len(batch) >= _ROWS_AT_ONCE and not is_tie(row):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


class _Reader:
    """A log that was read once, and then on from there, while *rows* are added to it."""

    def __init__(self, log: LogSlice, read: Callable[[LogVersion], LogSlice], rows: Iterable[Row]) -> None:
        self._read = read
        self._ours = {row.fact.id: exact_form(row.fact.text) for row in rows if isinstance(row, Learned)}
        self._forms = set(self._ours.values())
        self.version = log.version
        self.present = Present(log.rows)

    def reads_on(self) -> bool:
        """False if the log was made anew, or others have taught one of our texts as a fact of theirs."""
        log = self._read(self.version)
        if log.complete and self.version.n:
            return False
        self.version = log.version
        self.present.extend(log.rows)
        theirs = (row.fact for row in log.rows if isinstance(row, Learned) and row.fact.id not in self._ours)
        return self._forms.isdisjoint(exact_form(fact.text) for fact in theirs)
