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
    ("raw", "reason"),
    [
        (b"nonsense", "not JSON"),
        (b"[]", "no record"),
        (b'{"kind": "vector", "scope": "a", "record": {}}', "no record"),
        (b'{"kind": "episode", "scope": 1}', "no record"),
        (b'{"kind": "confirmed", "scope": "home", "record": {"text": "secret"}}', "no Confirmed"),
        (b'{"kind": "learned", "scope": "home"}', r"no Learned that this release can read \(all of it\)"),
    ],
)
def test_what_is_no_record_is_refused_with_the_reason_and_not_quoted(raw: bytes, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as refused:
        read(raw)
    assert "secret" not in str(refused.value)


def test_a_scope_stays_with_its_record() -> None:
    assert read(line(ExportedRecords(Scope(project="work"), episode()))).scope == Scope(project="work")
