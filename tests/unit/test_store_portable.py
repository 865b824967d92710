"""Episodes and facts as lines."""

import pytest
from builders.episodes import HOME, episode
from builders.knowing import nothing, taught

from nous.errors import BadInput
from nous.fact import Confirmed, Embedded, Learned, Linked, Row, Superseded
from nous.scope import Scope
from nous.store.portable import Carried, exported, line, missing, read


def rows() -> list[Row]:
    """A log: two facts that are alike, the first of them confirmed."""
    knowledge = nothing()
    found = [
        *taught(knowledge, "The API is on port 8080"),
        *taught(knowledge, "the API is on port 8080.", "The API is on port 8081", session="second"),
    ]
    return [row for finding in found for row in finding.rows]


def test_what_is_written_is_read_again() -> None:
    for record in (episode(), *exported(rows())):
        assert read(line(Carried(HOME, record))) == Carried(HOME, record)


def test_vectors_stay_behind() -> None:
    fact_id = next(row.fact.id for row in rows() if isinstance(row, Learned))

    carried = list(exported([*rows(), Embedded(fact_id=fact_id, embedded_by="hashed-256")]))

    assert [type(row) for row in carried] == [Learned, Confirmed, Learned, Linked]
    assert all(row.embedded_by is None for row in carried if isinstance(row, Learned))


def test_a_log_that_has_them_misses_none() -> None:
    assert list(missing(exported(rows()), rows())) == []
    assert list(missing(rows(), [])) == list(exported(rows()))


def test_rows_about_facts_that_nobody_has_are_left_out() -> None:
    _, *others = rows()

    assert [type(row) for row in missing(others, [])] == [Learned]


@pytest.mark.parametrize(
    "raw", [b"nonsense", b"[]", b'{"kind": "vector", "scope": "a", "record": {}}', b'{"kind": "episode", "scope": 1}']
)
def test_what_is_no_record_is_refused_with_the_reason(raw: bytes) -> None:
    with pytest.raises(BadInput):
        read(raw)


def test_a_record_with_a_missing_field_is_named_and_not_quoted() -> None:
    with pytest.raises(BadInput, match="no Confirmed"):
        read(b'{"kind": "confirmed", "scope": "home", "record": {"text": "secret"}}')


def test_a_scope_stays_with_its_record() -> None:
    assert read(line(Carried(Scope(project="work"), episode()))).scope == Scope(project="work")


def test_two_who_have_merged_the_same_facts_each_the_other_way_round_make_no_ring() -> None:
    one, two = (row for row in rows() if isinstance(row, Learned))
    here = Superseded(fact_id=one.fact.id, by=two.fact.id, reason="", at=one.fact.learned_at)
    there = Superseded(fact_id=two.fact.id, by=one.fact.id, reason="", at=one.fact.learned_at)

    assert list(missing([there], [one, two, here])) == []
    assert list(missing([one, two, here, there], []))[-1] == here
    assert list(missing([Superseded(fact_id=one.fact.id, by=one.fact.id, reason="", at=there.at)], [one])) == []
