"""Lines of an export, checked as strictly as what people tell."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from nous.cli.candidate import candidate
from nous.episode import Episode
from nous.errors import BadInput
from nous.events import episode_id
from nous.fact import Confirmed, Fact, Learned, Linked, Row, Superseded, named, tellings
from nous.scope import Scope
from nous.store.portable import Carried, read

_LONGEST_NAME = 1_000
"""Characters of a session's id."""

_LONGEST_REASON = 10_000
"""Characters of a reason, which may quote two facts."""


def usable(lines: Iterable[bytes], complain: Callable[[str], None]) -> Iterator[Carried]:
    """What *lines* carry that can be kept; *complain* is told of each other line, by its number."""
    for number, raw in enumerate(lines, start=1):
        try:
            if raw.strip():
                yield _checked(read(raw))
        except BadInput as error:
            complain(f"line {number}: {error}")


def _checked(carried: Carried) -> Carried:
    """*carried*, as far as it can be kept. Raises `BadInput`."""
    owner = _scope_of(carried.record)
    if owner and owner != carried.scope:
        raise BadInput(f"the line is of scope {carried.scope}, its record of {owner}")
    if isinstance(carried.record, Episode):
        _check_session(carried.record.session_id)
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
    """Raises `BadInput` where *row* says what no log says."""
    for _, source, _ in tellings([row]):
        _check_session(source.session_id)
    if isinstance(row, Superseded | Linked) and len(named(row)) == 1:
        raise BadInput("it ties a fact to itself")
    reason = getattr(row, "reason", "")
    if len(reason) > _LONGEST_REASON or not reason.isprintable():
        raise BadInput(f"reason: has at most {_LONGEST_REASON:,} characters, which can be printed")


def _check_session(session_id: str) -> None:
    if not session_id.strip():
        raise BadInput("session_id: is empty")
    if len(session_id) > _LONGEST_NAME or not session_id.isprintable():
        raise BadInput(f"session_id: has at most {_LONGEST_NAME:,} characters, which can be printed")


def _scope_of(record: Episode | Row) -> Scope | None:
    match record:
        case Episode(scope=scope) | Learned(fact=Fact(scope=scope)):
            return scope
        case _:
            return None
