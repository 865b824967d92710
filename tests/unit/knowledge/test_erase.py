"""What a fact log is without what was forgotten, and what entries of streams say of themselves."""

from dataclasses import replace
from datetime import datetime, timedelta

from builders.episodes import WORK
from builders.fact_rows import HOME, NOON, source
from builders.fact_rows import said as fact_said

from nous.domain.fact import Confirmed, Embedded, Learned, Linked, Row, Superseded
from nous.knowledge.candidate_filter import SuppressedTexts, mark_of, wordings
from nous.knowledge.decision import fact_id
from nous.knowledge.erase import FORGOTTEN, Erased, alike, without_fact, without_session
from nous.knowledge.normalize import exact_form


def confirmed(known: Learned, session: str, text: str, *, at: datetime = NOON) -> Confirmed:
    reason = f"already known with: {known.fact.text}"
    return Confirmed(fact_id=known.fact.id, source=source(session), text=text, reason=reason, at=at, similarity=0.9)


def superseded(known: Learned, by: Learned, *, at: datetime = NOON, valid_to: datetime | None = None) -> Superseded:
    reason = f"it adds: {known.fact.text}"
    return Superseded(fact_id=known.fact.id, by=by.fact.id, reason=reason, at=at, similarity=0.9, valid_to=valid_to)


def linked(known: Learned, other: Learned) -> Linked:
    reason = f"only one says {other.fact.text}"
    return Linked(fact_id=known.fact.id, other=other.fact.id, reason=reason, at=NOON, similarity=0.85)


def rows_of(erased: Erased) -> list[Row]:
    return [row for row, _ in erased.rows]


MINE = fact_said("mine", "the port is 1")
THEIRS = fact_said("theirs", "the port is 2")


def test_what_one_session_alone_has_said_goes_with_every_row_about_it() -> None:
    embedded = Embedded(fact_id=MINE.fact.id, embedded_by="n")
    rows: list[Row] = [MINE, THEIRS, linked(THEIRS, MINE), embedded, confirmed(THEIRS, "mine", "port 2")]

    erased = without_session(rows, "mine")

    assert rows_of(erased) == [replace(THEIRS, reason=FORGOTTEN)]
    assert (erased.gone, erased.retold) == ({MINE.fact.id}, {})
    assert (erased.lost_rows, erased.lost_vectors) == (4, 2)


def test_what_others_have_said_too_is_told_in_the_words_of_the_first_of_them() -> None:
    again = confirmed(MINE, "theirs", "Port is 1!", at=NOON + timedelta(days=1))
    rows: list[Row] = [THEIRS, MINE, again, confirmed(MINE, "third", "Port: 1"), linked(MINE, THEIRS)]

    erased = without_session(rows, "mine")

    other, told, third, link = rows_of(erased)
    assert isinstance(told, Learned)
    assert told.fact.id == fact_id(source("theirs").episode_id, "Port is 1!")
    assert (told.fact.text, told.fact.source, told.fact.learned_at) == ("Port is 1!", source("theirs"), again.at)
    assert (told.fact.subject, told.fact.event_date, told.embedded_by) == ("", None, None)
    assert third == Confirmed(
        fact_id=told.fact.id, source=source("third"), text="Port: 1", reason=FORGOTTEN, at=NOON, similarity=None
    )
    assert link == Linked(fact_id=told.fact.id, other=THEIRS.fact.id, reason=FORGOTTEN, at=NOON)
    assert other == replace(THEIRS, reason=FORGOTTEN)
    assert erased.retold == {MINE.fact.id: told.fact.id}


def test_what_a_forgotten_fact_had_taken_the_place_of_is_current_again() -> None:
    assert rows_of(without_session([THEIRS, MINE, superseded(THEIRS, MINE)], "mine")) == [
        replace(THEIRS, reason=FORGOTTEN)
    ]


def test_a_forgotten_fact_goes_whoever_has_said_it() -> None:
    rows: list[Row] = [MINE, confirmed(MINE, "theirs", "Port is 1"), THEIRS]

    assert wordings(rows, {MINE.fact.id}) == {"the port is 1", "port is 1"}
    assert rows_of(without_fact(rows, MINE.fact.id)) == [THEIRS]


def test_with_a_fact_goes_what_was_merged_into_it_and_what_else_has_its_words() -> None:
    paraphrase, copy = fact_said("third", "on port 1"), fact_said("fourth", "On Port 1")
    merged = [confirmed(MINE, "third", paraphrase.fact.text), superseded(paraphrase, MINE)]
    rows: list[Row] = [MINE, paraphrase, *merged, copy, confirmed(copy, "theirs", "the port number is 1"), THEIRS]

    gone = alike(rows, MINE.fact.id)

    assert gone == {MINE.fact.id, paraphrase.fact.id, copy.fact.id}
    assert wordings(rows, gone) == {"the port is 1", "on port 1", "the port number is 1"}
    assert rows_of(without_fact(rows, MINE.fact.id)) == [THEIRS]


def test_what_a_forgotten_fact_contradicted_is_not_forgotten_with_it() -> None:
    rows: list[Row] = [THEIRS, MINE, superseded(THEIRS, MINE, valid_to=NOON)]

    assert alike(rows, MINE.fact.id) == {MINE.fact.id}
    assert rows_of(without_fact(rows, MINE.fact.id)) == [replace(THEIRS, reason=FORGOTTEN)]


def test_a_mark_knows_a_text_of_its_scope_again_and_tells_nothing_of_it() -> None:
    form = exact_form("The Port is 1.")
    forgotten = SuppressedTexts(HOME, frozenset({mark_of(HOME, form)}))

    assert form in forgotten
    assert "the port is 2" not in forgotten
    assert mark_of(WORK, form) not in forgotten.marks
    assert "port" not in str(forgotten)
