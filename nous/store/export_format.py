"""Encode and decode exported episodes and fact-log rows as JSON Lines. No file I/O.

A line is `{"kind", "scope", "record"}`: an `episode`, or a row of the fact log (`learned`, `confirmed`, `superseded`,
`linked`). Vectors are left out: the importing side embeds the facts with its own embedder.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from nous.domain.episode import Episode
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.fact import Embedded, Row, bare
from nous.domain.record_codec import decode, encode
from nous.domain.scope import Scope
from nous.store.fact_rows import ROW_KINDS

_ROWS = {name: kind for name, kind in ROW_KINDS.items() if kind is not Embedded}
_KINDS: dict[str, type[Episode | Row]] = {"episode": Episode, **_ROWS}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_BEGINNINGS = tuple(f'{{"kind":"{name}","scope":"'.encode() for name in _KINDS)

TORN = "torn: it begins as a record does, and is not whole"  # error message for a line that is a truncated record


@dataclass(frozen=True, slots=True)
class ExportedRecords:
    """A record and its scope."""

    scope: Scope
    record: Episode | Row


def line(carried: ExportedRecords) -> bytes:
    """Encode *carried* as one line, with its newline."""
    fields = {
        "kind": _NAMES[type(carried.record)],
        "scope": str(carried.scope),
        "record": orjson.Fragment(encode(carried.record)),
    }
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def read(raw: bytes) -> ExportedRecords:
    """Decode a line that `line` wrote. Raises `BadInput` if it is something else."""
    try:
        fields: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadInput(TORN if raw.startswith(_BEGINNINGS) else f"not JSON: {error.msg}") from None
    kind = _KINDS.get(str(fields.get("kind"))) if isinstance(fields, dict) else None
    if kind is None or not isinstance(fields.get("scope"), str):
        raise BadInput(f"no record: kind has to be one of {', '.join(_KINDS)}, and scope a text")
    try:
        return ExportedRecords(Scope.parse(fields["scope"]), decode(kind, orjson.dumps(fields.get("record"))))
    except Misconfigured as error:
        raise BadInput(str(error).replace("the store holds", "the line holds")) from None


def exported(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield *rows* without vectors."""
    return (bare(row) for row in rows if not isinstance(row, Embedded))
