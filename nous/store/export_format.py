"""Episodes and fact logs as JSON lines, to be carried from one installation to another.

A line is `{"kind", "scope", "record"}`: an `episode`, or a row of the fact log (`learned`, `confirmed`, `superseded`,
`linked`). Vectors are left out: whoever reads the rows embeds the facts with an embedder of their own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from nous.domain.episode import Episode
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.fact import Confirmed, Embedded, Learned, Linked, Row, Superseded, bare
from nous.domain.record_codec import decode, encode
from nous.domain.scope import Scope

_KINDS: dict[str, type[Episode | Row]] = {
    "episode": Episode,
    "learned": Learned,
    "confirmed": Confirmed,
    "superseded": Superseded,
    "linked": Linked,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_BEGINNINGS = tuple(f'{{"kind":"{name}","scope":"'.encode() for name in _KINDS)

TORN = "torn: it begins as a record does, and is not whole"
"""How it is told that a line is what is left of a record."""


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
        raise BadInput(TORN if raw.startswith(_BEGINNINGS) else f"not JSON: {error.msg}") from None
    kind = _KINDS.get(str(fields.get("kind"))) if isinstance(fields, dict) else None
    if kind is None or not isinstance(fields.get("scope"), str):
        raise BadInput(f"no record: kind has to be one of {', '.join(_KINDS)}, and scope a text")
    try:
        return Carried(Scope.parse(fields["scope"]), decode(kind, orjson.dumps(fields.get("record"))))
    except Misconfigured as error:
        raise BadInput(str(error).replace("the store holds", "the line holds")) from None


def exported(rows: Iterable[Row]) -> Iterator[Row]:
    """*rows* without their vectors."""
    return (bare(row) for row in rows if not isinstance(row, Embedded))
