"""Episodes and fact logs as JSON lines, to be carried from one installation to another.

A line is `{"kind", "scope", "record"}`: an `episode`, or a row of the fact log (`learned`, `confirmed`, `superseded`,
`linked`). Vectors are left out: whoever reads the rows embeds the facts with an embedder of their own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import orjson

from nous.episode import Episode
from nous.errors import BadInput, Misconfigured
from nous.fact import Confirmed, Embedded, Learned, Linked, Row, Source, Superseded
from nous.scope import Scope
from nous.store.records import decode, encode

_KINDS: dict[str, type[Episode | Row]] = {
    "episode": Episode,
    "learned": Learned,
    "confirmed": Confirmed,
    "superseded": Superseded,
    "linked": Linked,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Carried:
    """A record, and the scope it belongs to."""

    scope: Scope
    record: Episode | Row


def line(carried: Carried) -> bytes:
    """*carried* as a line, its end included."""
    fields = {
        "kind": _NAMES[type(carried.record)],
        "scope": str(carried.scope),
        "record": orjson.Fragment(encode(carried.record)),
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def read(raw: bytes) -> Carried:
    """What `line` wrote.

    Raises:
        BadInput: it is something else.
    """
    try:
        fields: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg}") from None
    kind = _KINDS.get(str(fields.get("kind"))) if isinstance(fields, dict) else None
    if kind is None or not isinstance(fields.get("scope"), str):
        raise BadInput(f"no record: kind has to be one of {', '.join(_KINDS)}, and scope a text")
    try:
        return Carried(Scope.parse(fields["scope"]), decode(kind, orjson.dumps(fields.get("record"))))
    except Misconfigured as error:
        raise BadInput(str(error).replace("the store holds", "the line holds")) from None


def exported(rows: Iterable[Row]) -> Iterator[Row]:
    """*rows* without their vectors."""
    for row in rows:
        if isinstance(row, Learned):
            yield replace(row, embedded_by=None)
        elif not isinstance(row, Embedded):
            yield row


def missing(rows: Iterable[Row], present: Iterable[Row]) -> Iterator[Row]:
    """Those of *rows* that a log of *present* has not, in order.

    Those about facts that neither has are left out, and so are those by which a fact would give way to itself: two who
    have both facts may have found so each the other way round.
    """
    known = list(present)
    there = {_key(row) for row in known}
    gone = {row.fact_id: row.by for row in known if isinstance(row, Superseded)}
    for row in exported(rows):
        key = _key(row)
        is_new = key not in there and all(("learned", fact_id) in there for fact_id in _about(row))
        if not is_new or (isinstance(row, Superseded) and row.fact_id in _successors(row.by, gone)):
            continue
        there.add(key)
        if isinstance(row, Superseded):
            gone[row.fact_id] = row.by
        yield row


def _successors(fact_id: UUID, gone: Mapping[UUID, UUID]) -> set[UUID]:
    """The fact, what it has given way to, and so on."""
    found = {fact_id}
    while (fact_id := gone.get(fact_id, fact_id)) not in found:
        found.add(fact_id)
    return found


def told(row: Row) -> tuple[Source, str] | None:
    """Who says *row*, and in which words; None where nobody is quoted."""
    match row:
        case Learned(fact=fact):
            return fact.source, fact.text
        case Confirmed(source=source, text=text):
            return source, text
        case _:
            return None


def _key(row: Row) -> tuple[object, ...]:
    match row:
        case Learned():
            return "learned", row.fact.id
        case Confirmed():
            return "confirmed", row.fact_id, row.source.event_id, row.text
        case Superseded():
            return "superseded", row.fact_id
        case Linked():
            return "linked", row.fact_id, row.other
        case Embedded():
            return "embedded", row.fact_id, row.embedded_by


def _about(row: Row) -> tuple[object, ...]:
    match row:
        case Learned() | Embedded():
            return ()
        case Confirmed():
            return (row.fact_id,)
        case Superseded():
            return row.fact_id, row.by
        case Linked():
            return row.fact_id, row.other
