"""Facts that people and programs hand over, checked where they come in, with plain words for what is wrong."""

from difflib import get_close_matches
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from nous.episode import CandidateFact
from nous.errors import BadInput
from nous.learning.usable import checked
from nous.readable import shortened
from nous.summary.answer_repair import is_date

_SHOULD_BE = {
    "dataclass_type": "should be a text or an object",
    "missing": "is missing",
    "tuple_type": "should be a list of numbers",
    "int_parsing": "should be a whole number",
}
"""What a line has to be, where pydantic says it in Python's words, by its kinds of errors."""


def candidate(said: object) -> CandidateFact:
    """*said*, an object with the fields of a `CandidateFact`, as it is learned. Fields that a fact has not are let be.

    Raises:
        BadInput: it cannot be learned, or a field is misspelt.
    """
    for name in cast("dict[str, Any]", said) if isinstance(said, dict) else ():
        meant = () if name in _fields() else get_close_matches(name, _fields(), n=1, cutoff=0.75)
        if meant:
            raise BadInput(f"{name}: is no field of a fact; {meant[0]} is")
    try:
        found = _adapter().validate_python(said)
    except ValidationError as error:
        raise BadInput(_in_plain_words(error)) from None
    if found.event_date is not None and not is_date(found.event_date):
        told = shortened(found.event_date, 40)
        raise BadInput(f"event_date: {told!r} is no day, month or year in ISO 8601: 2026-03-01, 2026-03 or 2026")
    return checked(found)


@cache
def _adapter() -> TypeAdapter[CandidateFact]:
    """It is slow to build."""
    return TypeAdapter(CandidateFact)


@cache
def _fields() -> tuple[str, ...]:
    return tuple(CandidateFact.__dataclass_fields__)


def _in_plain_words(error: ValidationError) -> str:
    """The first thing that is wrong with a line, and where in it."""
    first = error.errors(include_input=False, include_url=False)[0]
    place, kind = ".".join(map(str, first["loc"])), first["type"]
    return f"{place or 'the line'}: {_SHOULD_BE.get(kind, first['msg']).replace('Input should', 'should')}"
