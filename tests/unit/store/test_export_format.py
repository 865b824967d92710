"""Episodes and facts as lines."""

import pytest
from builders.episodes import HOME, episode
from builders.knowing import nothing, taught

from nous.domain.errors import BadInput
from nous.domain.fact import Confirmed, Embedded, Learned, Linked, Row
from nous.domain.scope import Scope
from nous.store.export_format import ExportedRecords, exported, line, read


def rows() -> list[Row]:
    """A log: two facts that are alike, the first of them confirmed."""
    knowledge = nothing()
    found = [
        *taught(knowledge, "The API is on port 8080"),
        *taught(knowledge, "the API is on port 8080.", "The API is on port 8081", session="second"),
    ]
    return [row for fact_decision in found for row in fact_decision.rows]


def test_what_is_written_is_read_again() -> None:
    for record in (episode(), *exported(rows())):
        assert read(line(ExportedRecords(HOME, record))) == ExportedRecords(HOME, record)


def test_vectors_stay_behind() -> None:
    fact_id = next(row.fact.id for row in rows() if isinstance(row, Learned))

    carried = list(exported([*rows(), Embedded(fact_id=fact_id, embedded_by="hashed-256")]))

    assert [type(row) for row in carried] == [Learned, Confirmed, Learned, Linked]
    assert all(row.embedded_by is None for row in carried if isinstance(row, Learned))


@pytest.mark.parametrize(
    "raw", [b"nonsense", b"[]", b'{"kind": "vector", "scope": "a", "record": {}}', b'{"kind": "episode", "scope": 1}']
)
def test_what_is_no_record_is_refused_with_the_reason(raw: bytes) -> None:
    with pytest.raises(BadInput):
        read(raw)


def test_a_record_with_a_missing_field_is_named_and_not_quoted() -> None:
    with pytest.raises(BadInput, match="no Confirmed"):
        read(b'{"kind": "confirmed", "scope": "home", "record": {"text": "secret"}}')


def test_a_line_without_a_record_is_told_so() -> None:
    with pytest.raises(BadInput, match=r"no Learned that this release can read \(all of it\)"):
        read(b'{"kind": "learned", "scope": "home"}')


def test_a_scope_stays_with_its_record() -> None:
    assert read(line(ExportedRecords(Scope(project="work"), episode()))).scope == Scope(project="work")
