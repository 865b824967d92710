"""Laws of forgetting: what holds for every history of a log, not only for those we thought of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from builders.fact_rows import NOON, source
from builders.fact_rows import said as fact_said
from hypothesis import given
from hypothesis import strategies as st

from nous.domain.fact import Confirmed, Embedded, Fact, Learned, Linked, Row, Source, Superseded, named, standing
from nous.knowledge.candidate_filter import wordings
from nous.knowledge.decision import fact_id
from nous.knowledge.erase import alike, without_fact, without_session

SESSIONS = ("ann", "bob", "cid", "dan")
WORDS = ("the port is 1", "Port is 1", "port 1", "the host is x", "Host: x", "tabs are used", "spaces are used")

Step = tuple[int, str, str, int, int]
"""What is done, by which session, in which words, and to which facts; a history takes what it can use of it."""


def steps_of(*kinds: int) -> st.SearchStrategy[list[Step]]:
    which = st.integers(0, 9)
    step = st.tuples(st.sampled_from(kinds), st.sampled_from(SESSIONS), st.sampled_from(WORDS), which, which)
    return st.lists(step, max_size=25)


steps = steps_of(*range(7))
merges = steps_of(0, 1, 4, 4, 6)


def history(steps: Sequence[Step]) -> list[Row]:
    """A log as learning and merging write one: each session plants its name wherever it may put words."""
    rows: list[Row] = []
    facts: dict[UUID, Fact] = {}
    for at, step in enumerate(steps):
        for row in written(step, list(facts.values()), rows, NOON + timedelta(minutes=at)):
            rows.append(row)
            if isinstance(row, Learned):
                facts[row.fact.id] = row.fact
    return rows


def written(step: Step, facts: Sequence[Fact], rows: Sequence[Row], at: datetime) -> Iterator[Row]:
    kind, session, words, one, other = step
    said = source(session)
    text = f"{words} says {session}"
    new = fact_id(said.episode_id, text)
    if (kind == 0 or not facts) and new not in {fact.id for fact in facts}:
        yield fact_said(session, text, embedded_by="m" if one % 2 else None, at=at)
        return
    if not facts:
        return
    known, near = facts[one % len(facts)], facts[other % len(facts)]
    quoting = f"near {near.text} and {known.text}"
    match kind:
        case 1 | 2:
            yield Confirmed(fact_id=known.id, source=said, text=text, reason=f"known with {known.text}", at=at)
        case 3 if known.id != near.id:
            yield Linked(fact_id=known.id, other=near.id, reason=quoting, at=at)
        case 4 if known.id != near.id and known.id not in successors(rows):
            yield from merged(known, near, rows, at, quoting, marked=session in SESSIONS[:2])
        case 6 if by := successors(rows).get(known.id):
            yield Superseded(fact_id=known.id, by=by, reason="no", at=at, by_hand=True, is_undone=True)
        case 5:
            yield Embedded(fact_id=known.id, embedded_by="n")
        case _:
            return


def merged(known: Fact, into: Fact, rows: Sequence[Row], at: datetime, reason: str, *, marked: bool) -> Iterator[Row]:
    """Merging says of every source of a fact that it has said the other, in the words of that source.

    Older releases have not *marked* these rows.
    """
    others = [(row.source, row.text) for row in rows if isinstance(row, Confirmed) and row.fact_id == known.id]
    yield Superseded(fact_id=known.id, by=into.id, reason=reason, at=at)
    for teller, text in dict.fromkeys([(known.source, known.text), *others]):
        through = known.id if marked else None
        yield Confirmed(fact_id=into.id, source=teller, text=text, reason=reason, at=at, merged_from=through)


def tellers(rows: Sequence[Row]) -> set[Source]:
    told = {row.source for row in rows if isinstance(row, Confirmed)}
    return told | {row.fact.source for row in rows if isinstance(row, Learned)}


@given(steps, st.sampled_from(SESSIONS))
def test_of_a_forgotten_session_not_a_word_is_left(steps: Sequence[Step], session: str) -> None:
    assert session not in str([row for row, _ in without_session(history(steps), session).rows])


@given(steps, st.sampled_from(SESSIONS))
def test_everybody_else_is_still_known_to_have_said_something(steps: Sequence[Step], session: str) -> None:
    rows = history(steps)

    left = tellers([row for row, _ in without_session(rows, session).rows])

    assert left == {each for each in tellers(rows) if each.session_id != session}


@given(steps, st.sampled_from(SESSIONS))
def test_forgetting_again_changes_nothing(steps: Sequence[Step], session: str) -> None:
    once = tuple(row for row, _ in without_session(history(steps), session).rows)

    again = without_session(once, session)

    assert not again.has_changed
    assert not again.touched


@given(steps, st.sampled_from(SESSIONS))
def test_every_row_stands_behind_the_facts_it_names_and_keeps_the_vector_of_its_own_text(
    steps: Sequence[Step], session: str
) -> None:
    rows = history(steps)
    texts: dict[UUID, str] = {}
    old = {row.fact.id: row.fact.text for row in rows if isinstance(row, Learned)}
    for row, at in without_session(rows, session).rows:
        if isinstance(row, Learned):
            assert row.fact.id not in texts
            texts[row.fact.id] = row.fact.text
        assert named(row) <= texts.keys()
        match row, rows[at]:
            case Learned(embedded_by=str()), Learned() as before:
                assert row.fact.text == before.fact.text
            case Embedded(), Embedded() as before:
                assert texts[row.fact_id] == old[before.fact_id]
            case _:
                pass


@given(merges, st.permutations(SESSIONS))
def test_in_whatever_order_sessions_are_forgotten_what_is_left_is_all_that_the_others_have_said(
    steps: Sequence[Step], order: Sequence[str]
) -> None:
    """A text names the session that says it, so only that one's own rows may hold it whoever repeats it."""
    rows = tuple(history(steps))
    said = own(rows)
    for at, session in enumerate(order):
        rows = tuple(row for row, _ in without_session(rows, session).rows)

        assert not any(gone in str(rows) for gone in order[: at + 1])
        assert own(rows) == {text for text in said if text.split()[-1] in order[at + 1 :]}


def own(rows: Iterable[Row]) -> set[str]:
    """The texts that stand in *rows* as said by the sessions that they name."""
    told = {(row.source, row.text) for row in rows if isinstance(row, Confirmed)}
    told |= {(row.fact.source, row.fact.text) for row in rows if isinstance(row, Learned)}
    return {text for source, text in told if text.endswith(source.session_id)}


@given(steps)
def test_when_every_session_is_forgotten_nothing_is_left(steps: Sequence[Step]) -> None:
    rows = tuple(history(steps))
    for session in SESSIONS:
        rows = tuple(row for row, _ in without_session(rows, session).rows)

    assert rows == ()


@given(steps, st.sampled_from(SESSIONS))
def test_nothing_that_somebody_else_says_stops_being_current_and_nothing_gives_way_to_itself(
    steps: Sequence[Step], session: str
) -> None:
    rows = history(steps)
    said = {row.fact.id for row in rows if isinstance(row, Learned) and row.fact.source.session_id != session}
    said |= {row.fact_id for row in rows if isinstance(row, Confirmed) and row.source.session_id != session}

    erased = without_session(rows, session)

    ways = successors(row for row, _ in erased.rows)
    for fact in said - successors(rows).keys() - erased.gone:
        assert erased.retold.get(fact, fact) not in ways
    if erased.has_changed:
        assert not any(fact in after(fact, ways) for fact in ways)


def successors(rows: Iterable[Row]) -> dict[UUID, UUID]:
    return {row.fact_id: row.by for row in standing(rows) if isinstance(row, Superseded)}


def after(fact: UUID, ways: Mapping[UUID, UUID]) -> set[UUID]:
    """What has taken the place of *fact*, what has taken the place of that, and so on."""
    found: set[UUID] = set()
    while fact in ways and ways[fact] not in found:
        fact = ways[fact]
        found.add(fact)
    return found


@given(steps, st.integers(0, 9))
def test_of_a_forgotten_fact_no_row_and_no_wording_is_left_and_every_fact_that_says_something_else_stays(
    steps: Sequence[Step], which: int
) -> None:
    rows = history(steps)
    facts = [row.fact.id for row in rows if isinstance(row, Learned)]
    if not facts:
        return
    gone = alike(rows, facts[which % len(facts)])

    left = [row for row, _ in without_fact(rows, facts[which % len(facts)]).rows]

    assert not any(str(fact) in str(left) for fact in gone)
    assert [row.fact.id for row in left if isinstance(row, Learned)] == [fact for fact in facts if fact not in gone]
    assert not wordings(left, facts) & wordings(rows, gone)
