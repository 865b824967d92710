"""Recognition of a later statement that replaces an earlier one."""

import pytest

from nous.knowledge.equivalence.compare import difference
from nous.knowledge.equivalence.reading import read
from nous.knowledge.equivalence.update import Update, update

BESIDE = [
    ("Node 3 has 4 cores", "Node 2 has 4 cores"),
    ("Order 5521 was refunded", "Order 5530 was refunded"),
    ("Tim joined in June 2024", "Tim joined in July 2024"),
    ("Tests in `api` are run with `pytest`", "Tests in `web` are run with `pytest`"),
    ("The API listens on port 8080", "The API also listens on port 8081"),
    ("The API listens on port 8080", "If it is taken, the API listens on port 8081"),
    ("The API listens on port 8080", "Does the API listen on port 8081?"),
    ("The format is supported", "Investigate whether the format has been dropped"),
    ("Leo speaks Portuguese with his mother", "Leo speaks English at work"),
    ("Anna prefers tabs over spaces", "Ben prefers spaces over tabs"),
    ("Prefer tabs over spaces in Makefiles", "Prefer spaces over tabs in YAML"),
    ("The Go team prefers tabs over spaces", "The Python team prefers spaces over tabs"),
    ("Always use port 9017 for staging", "Always use port 9018 for production"),
    ("Always use port 9017 for billing", "Always use port 9018 for search"),
]


def updated(old: str, new: str, *, subjects: tuple[str, str] = ("", "")) -> Update | None:
    return update(difference(read(new), read(old)), subject=subjects[1], other_subject=subjects[0])


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_what_holds_beside_the_other_is_no_update(old: str, new: str) -> None:
    assert updated(old, new) is None


def test_words_of_change_replace_what_they_take_up_of_the_same_subject() -> None:
    old, new = "Incidents get posted on Slack", "Slack was abandoned; write them to the page in Teams"

    assert updated(old, new) is None
    found = updated(old, new, subjects=("incidents", "incident"))
    assert found == Update("abandoned: Slack", is_sure=True, is_announced=True)


def test_words_of_change_that_take_up_nothing_but_the_person_replace_nothing() -> None:
    old, new = "Elif plays chess", "Elif was promoted, she leads the team"

    assert updated(old, new, subjects=("user", "user")) is None


def test_a_value_that_is_given_for_one_environment_alone_may_be_an_update_at_most() -> None:
    old, new = "The gateway listens on 8080", "In staging the gateway was moved off 8080"

    found = updated(old, new, subjects=("gateway", "gateway"))

    assert found
    assert not found.is_sure


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Never push to main without a review", "Never push to main on Fridays"),
        ("Never restart node 3 during business hours", "Never restart node 4 during business hours"),
        ("Always give node 3 32 GB of memory", "Always give node 4 32 GB of memory"),
        ("Never commit the node's file `secrets.env`", "Never commit the node's file `prod.env`"),
        ("The node listens on port 8081", "The node no longer listens on port 8080"),
        ("Anna owns the node", "Ben no longer owns the node"),
    ],
)
def test_what_may_be_about_another_thing_may_be_an_update_at_most(old: str, new: str) -> None:
    found = updated(old, new, subjects=("node", "node"))

    assert found
    assert not found.is_sure


@pytest.mark.parametrize(
    ("subjects", "is_sure"),
    [
        (("retries", "retry limit"), True),
        (("", "limit"), True),
        (("billing", "auth"), False),
        (("order 5521", "order 5530"), False),
    ],
)
def test_another_subject_leaves_another_value_open(subjects: tuple[str, str], *, is_sure: bool) -> None:
    found = updated("The limit is set to 3", "The limit is set to 5", subjects=subjects)

    assert found == Update("value 5 / 3", is_sure=is_sure)
