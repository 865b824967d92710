"""Compute the rows that an imported fact log adds to a log, without erased texts. No I/O."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from nous.domain.fact import Confirmed, Embedded, Learned, Linked, Row, Source, Superseded, bare, named, occurrences
from nous.knowledge.erase import FORGOTTEN, Stays, without
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import NOT_COMPARED
from nous.knowledge.normalize import exact_form
from nous.knowledge.verdict import NewFact

LEFT_BEHIND = "the reason may quote another fact; the rows about both have it"
"""Replacement for the reasons of imported facts.

Erasure finds what quotes a fact by the rows about both, and some of them may be missing here.
"""

AT_ONCE = 500  # rows that are appended in one step. An import of more may stop halfway
_QUOTELESS = {NewFact().reason, NOT_COMPARED, FORGOTTEN}  # reasons that quote no other fact


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """Rows to append, and counts of what was left out.

    *unknown* counts rows about facts that are in neither log. *forgotten* counts statements that the receiving log
    erased.
    """

    rows: tuple[Row, ...]
    unknown: int
    forgotten: int


class ExistingLog:
    """Index of a log that tells which of other rows it lacks."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._keys = {*map(_key, rows)}
        self._known = FactIndex(embedder_id="", dim=0)
        self._known.extend(rows, {})

    def missing(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield each row that the log lacks, once; skip rows about facts that are in neither log.

        Of two supersessions of a fact, the one that this log has holds. Decisions of people in this log hold, too.
        """
        fresh: set[tuple[object, ...]] = set()
        known = self._known.fork()
        for row in rows:
            key = _key(row)
            if key not in self._keys and key not in fresh and _is_possible(row, known):
                known.extend([row], {})
                fresh.add(key)
                yield row


def _is_possible(row: Row, known: FactIndex) -> bool:
    if not all(map(known.get, named(row))):
        return False
    match row:
        case Superseded(fact_id=old, by=new, is_undone=True):
            gone = known[old].superseded
            return gone is not None and gone.by == new
        case Superseded(fact_id=old, by=new):
            is_apart = new in known.apart_from(old) or old in known.apart_from(new)
            return known[old].is_current and not is_apart and not known.leads_to(new, old)
        case Linked(fact_id=one, other=other):
            return not known.leads_to(one, other) and not known.leads_to(other, one)
        case _:
            return True


def merge_rows(
    rows: Sequence[Row], log: Sequence[Row], *, forgotten: Collection[str], gone: Collection[str]
) -> MergeResult:
    """Return what *rows* add to *log*, without *forgotten* texts and *gone* sessions.

    Erased statements are re-attributed to other sources that said the same. A text that is known already comes as a
    second fact; the two are merged when they are compared by meaning.
    """
    present = ExistingLog(log)
    facts_first = sorted(rows, key=lambda row: not isinstance(row, Learned))
    new = [_unquoting(bare(row)) for row in present.missing(facts_first)]
    stays = _staying(new, forgotten, gone)
    erased = without((*log, *new), stays)
    facts = {row.fact.id for row in (*log, *rows) if isinstance(row, Learned)}
    return MergeResult(
        rows=tuple(present.missing(bare(each.row) for each in erased.rows)),
        unknown=sum(not named(row) <= facts for row in rows),
        forgotten=sum(not stays(fact, source) for fact, source, _ in occurrences(new)),
    )


def _unquoting(row: Row) -> Row:
    is_kept = not isinstance(row, Learned) or row.reason in _QUOTELESS
    return row if is_kept else replace(row, reason=LEFT_BEHIND)


def _staying(rows: Sequence[Row], forgotten: Collection[str], gone: Collection[str]) -> Stays:
    """Return the predicate for statements that may come; an erased fact comes in no words."""
    facts = {row.fact.id for row in rows if isinstance(row, Learned) and exact_form(row.fact.text) in forgotten}
    again = {(fact, source) for fact, source, text in occurrences(rows) if exact_form(text) in forgotten}

    def stays(fact: UUID, source: Source) -> bool:
        return not (fact in facts or (fact, source) in again or source.session_id in gone)

    return stays


def _key(row: Row) -> tuple[object, ...]:
    match row:
        case Learned():
            return "learned", row.fact.id
        case Confirmed():
            return "confirmed", row.fact_id, row.source.event_id, row.text
        case Superseded():
            return "superseded", row.fact_id, row.by, row.at, row.is_undone
        case Linked():
            return "linked", row.fact_id, row.other, row.at if row.by_hand else None
        case Embedded():
            return "embedded", row.fact_id, row.embedded_by
