"""The same words in another relation to each other; beside it, what may change its place or lack its preposition."""

import pytest

from nous.learning.guard.code import code_in
from nous.learning.guard.compare import Comparison, compare
from nous.learning.guard.lexicon import english
from nous.learning.statement import Statement

APART = [
    # a preposition behind a preposition
    ("Latency is higher than in May", "Latency is higher in May"),
    ("Tests are slower than without the cache", "Tests are slower without the cache"),
    ("The service runs on Linux rather than on Windows", "The service runs on Linux and on Windows"),
    ("The service runs on Linux instead of on Windows", "The service runs on Linux and on Windows"),
    ("The service runs on Linux unlike on Windows", "The service runs on Linux and on Windows"),
    ("Alerts fire until after the deploy", "Alerts fire after the deploy"),
    ("Alerts are muted from before the deploy", "Alerts are muted before the deploy"),
    ("The server runs before and after the deploy", "The server runs after the deploy"),
    ("Noor sails with or without a licence", "Noor sails without a licence"),
    ("If in Lyon, the job fails", "In Lyon, the job fails"),
    # a preposition that governs nothing
    ("The team moves on", "The team moves"),
    ("The cat sleeps inside. Noor sings", "The cat sleeps. Noor sings"),
    ("The server is what the team relies on", "The server is what the team relies"),
    # what it is done to, and where, when and why it is done
    ("The job stops after the tests", "The job stops the tests"),
    ("The job stops before the tests", "The job stops the tests"),
    ("The job runs until the tests", "The job runs the tests"),
    ("The team deploys after migrations", "The team deploys migrations"),
    ("Deploys stop during migrations", "Deploys stop migrations"),
    ("Deploys stop because of migrations", "Deploys stop migrations"),
    ("Deploys stop despite migrations", "Deploys stop migrations"),
    ("The team walks through the park", "The team walks the park"),
    ("The team walks across the park", "The team walks the park"),
    ("The team walks by the park", "The team walks the park"),
    ("The team works beside the robot", "The team works the robot"),
    ("The team moves to the servers", "The team moves the servers"),
    ("The club meets before Friday", "The club meets Friday"),
    # what an adverb is about
    ("The manually created backups are deleted", "The created backups are manually deleted"),
    ("The manually created backups are deleted", "The created backups are deleted manually"),
    ("Two manually created backups are deleted", "Two created backups are manually deleted"),
    ("Publicly exposed endpoints are logged", "Exposed endpoints are publicly logged"),
    ("The rapidly growing team releases software", "The growing team rapidly releases software"),
    ("Kim deletes manually created backups", "Kim manually deletes created backups"),
    ("The manual backups are deleted", "The backups are manually deleted"),
    # which are meant, and where it is done
    ("Bugs in staging are fixed", "Bugs are fixed in staging"),
    ("Users in France are banned", "Users are banned in France"),
    ("Users with a beard are banned", "Users are banned with a beard"),
    ("Letters from guests are read", "Letters are read from guests"),
    # what is said, and what goes without saying
    ("The server is slow in production", "The slow server is in production"),
    ("The database is encrypted on the laptop", "The encrypted database is on the laptop"),
    ("Tests are flaky on Linux", "Flaky tests are on Linux"),
    ("Tests on Linux are flaky", "Flaky tests are on Linux"),
    # a name, and a month or a weekday that is spelled so
    ("The ledger is handled by Jan", "The ledger is handled by January"),
    ("Kim works with Jan", "Kim works with January"),
    ("The tool is made by Sun", "The tool is made by Sunday"),
    ("The rocket flies to Mars", "The rocket flies to March"),
]

SAME = [
    ("He is coached by her in Lyon", "She coaches him in Lyon"),
    ("The team works with it in Lyon", "In Lyon the team works with it"),
    ("Latency is higher in May than before", "In May latency is higher than before"),
    ("If it is on, the alarm beeps", "When it is on, the alarm beeps"),
    ("Kim sees that tests fail", "Kim sees tests fail"),
    ("The job runs for 3 hours", "The job runs 3 hours"),
    ("The club meets on Fridays", "The club meets Fridays"),
    ("The team prefers code comments", "The team prefers comments in code"),
    ("The user asked not to use emojis", "The user does not want emojis to be used"),
    ("Tom quickly fixed the build", "Tom fixed the build quickly"),
    ("Quickly Tom fixed the build", "Tom fixed the build quickly"),
    ("Tom quickly fixed the broken build", "Tom fixed the broken build quickly"),
    ("Kim has quickly fixed the build", "Kim has fixed the build quickly"),
    ("Backups are manually deleted", "Backups are deleted manually"),
    ("The job automatically retries failed requests", "The job retries failed requests automatically"),
    ("The publicly exposed endpoints are logged", "We log the publicly exposed endpoints"),
    ("Deploys on Fridays are forbidden", "Deploys are forbidden on Fridays"),
    ("The limit for guests is 5 GB", "For guests, the limit is 5 GB"),
    ("The limit for guests is 5 GB", "The limit is 5 GB for guests"),
    ("The limit for guests is set to 5 GB", "The limit is set to 5 GB for guests"),
    ("The shop opens on Thurs", "The shop opens on Thursday"),
    ("The shop opens on Tues", "The shop opens on Tuesday"),
    ("The shop closes in Sept", "The shop closes in September"),
    ("The shop is open on Mondays", "The shop is open every Monday"),
    ("The plan ends in Jan", "The plan ends in January"),
    ("The plan ends by Jan 5", "The plan ends by January 5"),
    ("The plan ran from Nov to Jan", "The plan ran from November to January"),
]

DIGITS = ["\u2473" * 2200, "9" * 5000, "9" * 5000 + " pm", "May " + "9" * 5000, "9" * 5000 + "th May", "9" * 5000 + "k"]


def compared(one: str, other: str) -> Comparison:
    return compare(Statement(one).reading, Statement(other).reading, english())


@pytest.mark.parametrize(("one", "other"), APART)
def test_the_same_words_in_another_relation_are_kept_apart_either_way(one: str, other: str) -> None:
    assert compared(one, other).objection
    assert compared(other, one).objection


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_phrase_or_an_adverb_may_change_its_place_either_way(one: str, other: str) -> None:
    assert compared(one, other) == Comparison()
    assert compared(other, one) == Comparison()


@pytest.mark.parametrize("digits", DIGITS)
def test_thousands_of_digits_are_read_and_are_no_date(digits: str) -> None:
    assert compared(f"The constant of Lyon is {digits}", "The constant of Lyon is large").objection


def test_the_commas_of_a_bracket_that_stays_open_are_gone_through_once() -> None:
    assert not list(code_in(f"({',' * 300_000}"))
