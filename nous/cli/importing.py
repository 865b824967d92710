"""Rows from elsewhere, appended to the log of a scope that others teach and forget meanwhile."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from nous.bus.base import Refused
from nous.bus.tombstones import session_name
from nous.effects import AppendFacts, Effects
from nous.errors import Retryable
from nous.fact import Learned, LogVersion, Row, tellings
from nous.learning.announcing import unembedded
from nous.learning.joining import Present, joined
from nous.scope import Scope
from nous.store.base import NO_VECTORS, LogSlice
from nous.wiring import World

_ROWS_AT_ONCE = 500
_REFUSALS = 100


class Importer:
    """Adds to the log of one scope what it lacks of *rows*; what was forgotten there stays forgotten."""

    def __init__(self, world: World, scope: Scope, rows: Sequence[Row]) -> None:
        self._world = world
        self._scope = scope
        self._rows = rows
        self._added = Counter[type]()
        self.unknown = 0

    def run(self) -> Counter[type]:
        """How many rows of each kind it had to add."""
        for _ in range(_REFUSALS):
            if self._has_added_all():
                break
        else:
            raise Retryable(f"{self._scope} forgets without a pause; import again, what is there is not doubled")
        # Also where nothing was new: an import that was cut off had published nothing yet.
        if any(isinstance(row, Learned) for row in self._rows):
            state = str(self._log(None).version)
            self._world.bus.publish(unembedded(self._scope, state=state, at=self._world.kit.clock()))
        return self._added

    def _has_added_all(self) -> bool:
        """False if something was forgotten meanwhile, so that what is left has to be told otherwise."""
        log, forgotten = self._log(None), self._world.kit.forgotten(self._scope)
        found = joined(self._rows, log.rows, forgotten=forgotten, gone=self._gone(self._rows))
        self.unknown = found.unknown
        reader = _Reader(log, self._log)
        batches = (found.rows[start : start + _ROWS_AT_ONCE] for start in range(0, len(found.rows), _ROWS_AT_ONCE))
        return all(self._has_added(batch, reader, forgotten) for batch in batches)

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


class _Reader:
    """A log that was read once, and then on from there."""

    def __init__(self, log: LogSlice, read: Callable[[LogVersion], LogSlice]) -> None:
        self._read = read
        self.version = log.version
        self.present = Present(log.rows)

    def reads_on(self) -> bool:
        """False if the log does not go on from there: it was made anew."""
        log = self._read(self.version)
        if log.complete and self.version.n:
            return False
        self.version = log.version
        self.present.extend(log.rows)
        return True
