"""Entries read from small files of each format, which stand in `cases/<format>.toml`.

A `[[test]]` is a sentence, and each `[[test.case]]` below it an example: the `text` of a file, what is `said` in it,
and what is `skipped` and how often. Where it matters, `each` names attributes of all entries ("" is None), `header`
those of the header, and `include` what is read beside. The format of a `sniffed` file is found out.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import orjson
import pytest
from builders.transcripts import said

from nous.transcript import Kind, read_transcript


class Case(NamedTuple):
    """An example as it stands in a file: what else stands there is refused."""

    text: str
    said: Sequence[tuple[str, str]]
    skipped: Mapping[str, int] = MappingProxyType({})
    each: Mapping[str, list[object]] = MappingProxyType({})
    header: Mapping[str, object] = MappingProxyType({})
    include: Collection[str] = ()
    sniffed: bool = False


def cases() -> Iterator[Any]:
    for path in sorted(Path(__file__).with_name("cases").glob("*.toml")):
        for test in tomllib.loads(path.read_text())["test"]:
            for number, case in enumerate(test["case"], 1):
                yield pytest.param(path.stem, Case(**case), id=f"{path.stem}: {test['sentence']}, {number}")


@pytest.mark.parametrize(("name", "case"), list(cases()))
def test_a_file_says_what_stands_beside_it(name: str, case: Case) -> None:
    found = read_transcript(BytesIO(case.text.encode()), format=None if case.sniffed else name, include=case.include)

    assert found.format == name
    assert said(found) == [(Kind(kind), text) for kind, text in case.said]
    assert found.skipped == case.skipped
    assert [entry.is_error for entry in found] == [entry.kind is Kind.ERROR for entry in found]
    for attribute, values in case.each.items():
        assert [as_toml(getattr(entry, attribute)) for entry in found] == values
    assert {field: as_toml(getattr(found.header, field)) for field in case.header} == case.header


def as_toml(value: object) -> object:
    """What stands for *value* in a case: TOML knows no null, and an input is kept as JSON."""
    match value:
        case None:
            return ""
        case datetime():
            return value.isoformat()
        case Mapping():
            return orjson.dumps(value).decode()
        case tuple():
            return list(cast("tuple[object, ...]", value))
        case _:
            return value
