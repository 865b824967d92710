"""Append imported rows to a scope's fact log, under optimistic concurrency."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import BinaryIO

from nous.app.container import Container
from nous.bus.base import Conflict
from nous.bus.tombstones import session_name
from nous.cli.learn import candidate
from nous.domain.effects import AppendFacts, Effects
from nous.domain.episode import Episode
from nous.domain.errors import BadInput, Retryable
from nous.domain.event_codec import checked_name
from nous.domain.events import episode_id
from nous.domain.fact import Confirmed, Fact, Learned, Linked, LogVersion, Row, Source, Superseded, named, occurrences
from nous.domain.scope import Scope
from nous.domain.session_state import is_ahead, not_ahead
from nous.knowledge.events import unembedded
from nous.knowledge.import_merge import ExistingLog, MergeResult, merge_rows
from nous.store.base import NO_VECTORS, LogSlice
from nous.store.export_format import ExportedRecords, read

_ROWS_AT_ONCE = 500
_REFUSALS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Number of rows *added*, by kind. Rows left out are counted as in `MergeResult`."""

    added: Counter[type]
    unknown: int
    forgotten: int


class Importer:
    """Adds the rows that the log of one scope lacks; forgotten facts stay forgotten."""

    def __init__(self, container: Container, scope: Scope, rows: Sequence[Row]) -> None:
        self._container = container
        self._scope = scope
        self._rows = rows
        self._added = Counter[type]()

    def run(self) -> Imported:
        """Add all missing rows.

        Raises:
            Retryable: other writers keep adding or forgetting the same facts.
        """
        found = self._added_all()
        # Also if nothing was new: an interrupted import may have published nothing yet.
        if any(isinstance(row, Learned) for row in self._rows):
            state = str(self._log(None).version)
            self._container.bus.publish(unembedded(self._scope, state=state, at=self._container.context.clock()))
        return Imported(added=self._added, unknown=found.unknown, forgotten=found.forgotten)

    def _added_all(self) -> MergeResult:
        """Merge the rows into the log and append them; merge again after each conflict."""
        for _ in range(_REFUSALS):
            log, forgotten = self._log(None), self._container.context.suppressed(self._scope)
            found = merge_rows(self._rows, log.rows, forgotten=forgotten, gone=self._gone(self._rows))
            reader = _Reader(log, self._log)
            if all(self._has_added(batch, reader, forgotten) for batch in _batches(found.rows)):
                return found
        raise Retryable(
            f"other writers keep adding or forgetting the same facts in {self._scope}; "
            "import again, nothing is stored twice"
        )

    def _has_added(self, rows: Sequence[Row], reader: "_Reader", forgotten: Collection[str]) -> bool:
        for _ in range(_REFUSALS):
            if not reader.reads_on():
                return False
            fresh = tuple(reader.present.missing(rows))
            write = AppendFacts(scope=self._scope, expected=reader.version, rows=fresh)
            if not fresh or not isinstance(self._container.bus.apply(Effects(writes=(write,))), Conflict):
                self._added.update(map(type, fresh))
                return True
            if self._gone(rows) or self._container.context.suppressed(self._scope) != forgotten:
                return False
        raise Retryable(
            f"other writers keep changing the facts of {self._scope}; import again, nothing is stored twice"
        )

    def _log(self, after: LogVersion | None) -> LogSlice:
        return self._container.memory.facts.read(self._scope, after=after, embedder=NO_VECTORS)

    def _gone(self, rows: Sequence[Row]) -> set[str]:
        """Return the forgotten sessions that *rows* quote, both published and entered by hand."""
        sessions = {each.source.session_id for each in occurrences(rows)}
        find, scope = self._container.tombstones.find, self._scope
        return {each for each in sessions if find(scope, session_name(scope, each))}


def _batches(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    return (rows[start : start + _ROWS_AT_ONCE] for start in range(0, len(rows), _ROWS_AT_ONCE))


class _Reader:
    """Incremental reader of a log while *rows* are added to it."""

    def __init__(self, log: LogSlice, read: Callable[[LogVersion], LogSlice]) -> None:
        self._read = read
        self.version = log.version
        self.present = ExistingLog(log.rows)

    def reads_on(self) -> bool:
        """Read the new rows; return False if the merge has to start again: the log was rewritten."""
        log = self._read(self.version)
        if log.complete and self.version.n:
            return False
        self.version = log.version
        self.present.extend(log.rows)
        return True


_LONGEST_LINE = 10_000_000

_LONGEST_REASON = 10_000
"""Characters of a reason, which may quote two facts."""


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of *stream*; a line too long for a record is cut just above the limit."""
    while line := stream.readline(_LONGEST_LINE + 1):
        yield line
        while line and not line.endswith(b"\n"):
            line = stream.readline(_LONGEST_LINE)


def usable(lines: Iterable[bytes], complain: Callable[[str], None]) -> Iterator[ExportedRecords]:
    """Yield the records of *lines*; report unusable lines by number to *complain*."""
    for number, raw in enumerate(lines, start=1):
        try:
            if said := _short(raw).removeprefix(BOM_UTF8).strip():
                yield _checked(read(said))
        except BadInput as error:
            complain(f"line {number}: {error}")


def in_time(carried: ExportedRecords, now: datetime) -> tuple[ExportedRecords, int]:
    """Replace far-future times by *now*; return the record and the number of times replaced.

    An episode's start is replaced as well, but not counted: it makes nothing newer than others.
    """
    ahead = 0

    def timely(moment: datetime) -> datetime:
        nonlocal ahead
        ahead += is_ahead(moment, now)
        return not_ahead(moment, now)

    def timely_source(source: Source) -> Source:
        return replace(source, said_at=timely(source.said_at)) if source.said_at else source

    match carried.record:
        case Episode() as record:
            began = not_ahead(record.started_at, now) if record.started_at else None
            found: Episode | Row = replace(record, started_at=began, ended_at=timely(record.ended_at))
        case Learned(fact=fact) as record:
            learned_at, source = timely(fact.learned_at), timely_source(fact.source)
            found = replace(record, fact=replace(fact, source=source, learned_at=learned_at))
        case Confirmed() as record:
            found = replace(record, source=timely_source(record.source), at=timely(record.at))
        case Superseded() | Linked() as record:
            found = replace(record, at=timely(record.at))
        case record:
            found = record
    return replace(carried, record=found), ahead


def _short(raw: bytes) -> bytes:
    """Return *raw* if it is short enough for a record: parsing takes several times its size.

    Raises:
        BadInput: it is too long.
    """
    if len(raw) > _LONGEST_LINE:
        raise BadInput(f"has more than {_LONGEST_LINE:,} bytes, and no record has that many")
    return raw


def _checked(carried: ExportedRecords) -> ExportedRecords:
    """Return *carried* in the form in which it is stored.

    Raises:
        BadInput: it cannot be stored.
    """
    owner = _scope_of(carried.record)
    if owner and owner != carried.scope:
        raise BadInput(f"the line is of scope {carried.scope}, its record of {owner}")
    if isinstance(carried.record, Episode):
        checked_name(carried.record.session_id, "session_id")
        checked_name(carried.record.agent_id, "agent_id")
        if carried.record.id != episode_id(carried.scope, carried.record.session_id):
            raise BadInput("its id is not that of its session in this scope, by which it would be forgotten")
        return carried
    _check(carried.record)
    match carried.record:
        case Learned(fact=fact) as row:
            found = candidate(
                {
                    "text": fact.text,
                    "category": fact.category,
                    "subject": fact.subject,
                    "confidence": fact.confidence,
                    "turns": fact.source.turns,
                    "event_date": fact.event_date,
                    "trust": fact.source.trust,
                }
            )
            learnable = replace(fact, text=found.text, category=found.category)
            return replace(carried, record=replace(row, fact=learnable))
        case Confirmed() as row:
            found = candidate({"text": row.text, "turns": row.source.turns})
            return replace(carried, record=replace(row, text=found.text))
        case _:
            return carried


def _check(row: Row) -> None:
    """Check that a log may hold *row*.

    Raises:
        BadInput: it may not.
    """
    for _, source, _ in occurrences([row]):
        checked_name(source.session_id, "session_id")
    if isinstance(row, Superseded | Linked) and len(named(row)) == 1:
        raise BadInput("it ties a fact to itself")
    reason = getattr(row, "reason", "")
    if len(reason) > _LONGEST_REASON or not reason.isprintable():
        raise BadInput(f"reason: has at most {_LONGEST_REASON:,} characters, which can be printed")


def _scope_of(record: Episode | Row) -> Scope | None:
    match record:
        case Episode(scope=scope) | Learned(fact=Fact(scope=scope)):
            return scope
        case _:
            return None
