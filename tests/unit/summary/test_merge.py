"""Answers about windows as one: title, outcome, open threads, and no repeats."""

from dataclasses import replace
from itertools import product

import pytest

from nous.domain.episode import CandidateFact, Lesson, Outcome, Summary
from nous.domain.summary_input import MOST_CANDIDATES as MOST_FACTS
from nous.domain.summary_input import MOST_POINTS, Segment
from nous.summary.heuristic.merge import WindowSummary, merged
from nous.summary.heuristic.narrative import MOST_TOPICS

FRUITS = ("apples", "pears", "plums", "quinces", "cherries", "medlars", "lemons", "figs", "olives", "dates")
SHELVES = ("cellar", "attic", "garage", "kitchen", "pantry", "barn", "shed")
SENTENCES = [f"{fruit} {shelf}" for fruit, shelf in product(FRUITS, SHELVES)]
"""Seventy statements, no two of which share more than one word of three."""


def part(
    name: str,
    *,
    says: str = "",
    points: tuple[str, ...] = (),
    topics: tuple[str, ...] = (),
    threads: tuple[str, ...] = (),
    facts: tuple[CandidateFact, ...] = (),
    shown: str = "",
    outcome: Outcome = Outcome.PARTIAL,
) -> WindowSummary:
    summary = Summary(
        title=f"title of {name}",
        summary=says,
        key_points=points,
        outcome=outcome,
        outcome_rationale=f"reason of {name}",
        topics=topics,
        open_threads=threads,
    )
    return WindowSummary(summary, facts, (Segment(f"[User] {shown}", "User", 1),))


def fact(text: str, *turns: int) -> CandidateFact:
    return CandidateFact(text=text, turns=turns)


def test_the_first_tells_how_it_began_and_the_last_how_it_ended() -> None:
    whole, _ = merged([part("one"), part("two"), part("three", outcome=Outcome.UNRESOLVED)])

    assert whole.title == "title of one"
    assert (whole.outcome, whole.outcome_rationale) == (Outcome.UNRESOLVED, "reason of three")


@pytest.mark.parametrize(
    ("shown", "left"),
    [
        ("Water the garden.", ("Mend the cellar door", "Buy paint")),
        ("I have mended the door of the cellar.", ("Buy paint",)),
    ],
    ids=["not spoken of", "spoken of"],
)
def test_a_thread_that_an_answer_leaves_out_is_closed_if_its_window_speaks_of_it(
    shown: str, left: tuple[str, ...]
) -> None:
    whole, _ = merged(
        [part("one", threads=("Mend the cellar door",)), part("two", threads=("Buy paint",), shown=shown)]
    )

    assert whole.open_threads == left


def test_threads_and_sentences_that_differ_in_a_number_are_two() -> None:
    one, other = "The pay service waits for port 9003.", "The pay service waits for port 9004."

    assert merged([part("one", says=one), part("two", says=other)])[0].summary == f"{one} {other}"
    threads = merged([part("one", threads=(one,)), part("two", threads=(other,), shown=other)])[0].open_threads
    assert threads == (one, other)


def test_a_sentence_that_the_last_summary_leaves_out_is_put_before_it() -> None:
    long = "The barn was swept. " * 61 + "It was. "
    parts = [part("one", says="The roof leaks. The door creaks."), part("two", says="Plums ripened. The door creaks.")]

    assert merged([*parts, part("three", says=parts[1].summary.summary)])[0].summary == (
        "The roof leaks. Plums ripened. The door creaks."
    )
    assert merged([*parts, part("three", says=f"{long}.")])[0].summary == f"The roof leaks. {long}."
    assert merged([*parts, part("three")])[0].summary == "The roof leaks. The door creaks. Plums ripened."


def test_every_window_has_a_point_before_one_has_two() -> None:
    parts = [part(str(n), points=tuple(SENTENCES[8 * n : 8 * n + 8])) for n in range(8)]

    points = merged(parts)[0].key_points

    assert points[:8] == tuple(SENTENCES[8 * n] for n in range(8))
    assert points[8:] == (SENTENCES[1], SENTENCES[9])


def test_there_are_never_more_points_topics_and_facts_than_one_session_may_have() -> None:
    parts = [
        part(
            str(n),
            points=tuple(SENTENCES),
            topics=tuple(f"topic {n} {number}" for number in range(6)),
            facts=tuple(fact(text, n) for text in SENTENCES),
        )
        for n in range(3)
    ]

    whole, facts = merged(parts)

    assert MOST_POINTS == 10
    assert len(whole.key_points) == MOST_POINTS
    assert len(whole.topics) == MOST_TOPICS
    assert len(facts) == MOST_FACTS


def test_a_point_that_two_windows_make_is_made_once_and_leaves_its_place_to_another() -> None:
    said, again = "The queue drops a message when its lease ends.", "When its lease ends, the queue drops a message."
    parts = [part("one", points=(said, "Figs dry slowly.")), part("two", points=(again, "Olives need salt."))]

    parts[1] = parts[1]._replace(summary=replace(parts[1].summary, key_point_turns=((7,), (8, 9))))

    points = merged(parts)[0].lessons

    assert points == (Lesson(said), Lesson("Figs dry slowly."), Lesson("Olives need salt.", (8, 9)))
