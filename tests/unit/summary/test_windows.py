"""The summaries of windows as one: who tells the title and the outcome, and what is told once."""

from itertools import product

from nous.domain.episode import CandidateFact, Outcome, Summary
from nous.domain.summary_input import MOST_CANDIDATES as MOST_FACTS
from nous.domain.summary_input import MOST_POINTS
from nous.summary.heuristic.narrative import MOST_TOPICS
from nous.summary.heuristic.summarize import Extracted, merged

FRUITS = ("apples", "pears", "plums", "quinces", "cherries", "medlars", "lemons", "figs", "olives", "dates")
SHELVES = ("cellar", "attic", "garage", "kitchen", "pantry", "barn", "shed")
SENTENCES = [f"{fruit} {shelf}" for fruit, shelf in product(FRUITS, SHELVES)]
"""Seventy statements, no two of which share more than one word of three."""


def part(
    name: str,
    *,
    points: tuple[str, ...] = (),
    topics: tuple[str, ...] = (),
    facts: tuple[CandidateFact, ...] = (),
    files: tuple[str, ...] = (),
    outcome: Outcome = Outcome.PARTIAL,
    is_sure: bool = True,
) -> Extracted:
    summary = Summary(
        title=f"title of {name}",
        summary=f"told of {name}",
        key_points=points,
        outcome=outcome,
        outcome_rationale=f"reason of {name}",
        topics=topics,
        open_threads=(f"open in {name}",),
    )
    return Extracted(summary=summary, candidate_facts=facts, files_touched=files, is_sure=is_sure)


def fact(text: str, *turns: int) -> CandidateFact:
    return CandidateFact(text=text, turns=turns)


def test_the_first_tells_how_it_began_and_the_last_how_it_ended() -> None:
    parts = [
        part("one", outcome=Outcome.RESOLVED, is_sure=True),
        part("two", outcome=Outcome.PARTIAL),
        part("three", outcome=Outcome.UNRESOLVED, is_sure=False),
    ]

    whole = merged(parts, overview="the whole story")

    assert (whole.summary.title, whole.summary.summary) == ("title of one", "the whole story")
    assert (whole.summary.outcome, whole.summary.outcome_rationale) == (Outcome.UNRESOLVED, "reason of three")
    assert whole.summary.open_threads == ("open in three",)
    assert not whole.is_sure


def test_every_window_has_a_point_before_one_has_two() -> None:
    parts = [part(str(n), points=tuple(SENTENCES[8 * n : 8 * n + 8])) for n in range(8)]

    points = merged(parts, overview="").summary.key_points

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

    whole = merged(parts, overview="")

    assert MOST_POINTS == 10
    assert len(whole.summary.key_points) == MOST_POINTS
    assert len(whole.summary.topics) == MOST_TOPICS
    assert len(whole.candidate_facts) == MOST_FACTS


def test_a_point_that_two_windows_make_is_made_once_and_leaves_its_place_to_another() -> None:
    said, again = "The queue drops a message when its lease ends.", "When its lease ends, the queue drops a message."
    parts = [part("one", points=(said, "Figs dry slowly.")), part("two", points=(again, "Olives need salt."))]

    points = merged(parts, overview="").summary.key_points

    assert points == (said, "Figs dry slowly.", "Olives need salt.")
