"""What a service did for its user, with what it listed, and what it does for nobody."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.episode import CandidateFact, Category
from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]

HELLO = ("assistant", "How can I help you today?")


def facts(told: Told, *entries: tuple[Any, ...]) -> list[CandidateFact]:
    return list(candidate_facts(Evidence(told(HELLO, *entries))))


def texts(told: Told, *entries: tuple[Any, ...]) -> list[str]:
    return [fact.text for fact in facts(told, *entries)]


@pytest.mark.parametrize(
    ("lead", "end"), [(" with the following details:", ""), (". Here are the details:", ""), (":", "Enjoy the trip!")]
)
def test_what_was_done_is_told_with_what_is_listed_below_it(told: Told, lead: str, end: str) -> None:
    listed = "- **Reservation ID:** ABCDEF\n- **Flights:**\n  - HAT1 from Oslo to Rome.\n- **Cabin:** Economy"
    report = f"The booking for Ivan Smith has been successfully completed{lead}\n\n{listed}\n\n{end}"

    (fact,) = facts(told, ("user", "Book it."), ("assistant", report))

    assert fact.subject == "ABCDEF"
    assert fact.text == (
        "The booking for Ivan Smith has been successfully completed: "
        "Reservation ID: ABCDEF; Flights: HAT1 from Oslo to Rome; Cabin: Economy."
    )


def test_a_long_list_is_told_up_to_a_whole_item(told: Told) -> None:
    items = "\n".join(f"- Flight number HAT{n}: from Oslo to Rome" for n in range(99))

    (fact,) = facts(told, ("user", "Go."), ("assistant", f"Your flights have been successfully booked:\n\n{items}"))

    assert fact.text.endswith("from Oslo to Rome.")
    assert len(fact.text) < 400


def test_what_was_told_of_a_matter_is_dropped_where_a_later_report_changed_it(told: Told) -> None:
    said = ("user", "Which?"), ("assistant", "Your order #W492322 was paid using your Mastercard ending in 4336.")
    changed = "The payment method of your order #W492322 has been successfully changed to your Visa card."
    other = "The payment method of your order #W999999 has been successfully changed to your Visa card."
    paid = "The user's order #W492322 was paid using the user's Mastercard ending in 4336."

    assert paid in texts(told, *said)
    assert paid in texts(told, *said, ("user", "Go on."), ("assistant", other))
    assert paid not in texts(told, *said, ("user", "Change it."), ("assistant", changed))


@pytest.mark.parametrize(
    ("sentence", "policy"),
    [
        ("I'm sorry, but travel insurance cannot be added after the initial booking.", "Travel insurance cannot be "),
        ("Basic economy flights cannot be modified in any way by us.", "Basic economy flights cannot be modified"),
        ("Your reservation cannot be modified after its first flight.", ""),
        ("The reservation cannot be modified after its first flight.", ""),
    ],
)
def test_what_a_service_does_for_nobody_is_known_of_it(told: Told, sentence: str, policy: str) -> None:
    found = facts(told, ("user", "Change it."), ("assistant", sentence))

    assert [fact.category for fact in found] == [Category.CONCEPT] * bool(policy)
    assert all(fact.text.startswith(policy) for fact in found)


def test_who_somebody_is_says_no_number_of_a_matter(told: Told) -> None:
    both = "My user ID is mia_li_3668, and the reservation ID is AB12CD."

    assert texts(told, ("user", both)) == ["The user's user ID is mia_li_3668."]
    assert texts(told, ("user", "My reservation ID is AB12CD.")) == []


@pytest.mark.parametrize(
    "said",
    [
        "I'll go with the morning flights, please.",
        "Let's use the gift card for the payment, please.",
        "I would prefer the second cheapest flight in economy class.",
        "If the certificate's balance would go down, I'd prefer to use my gift card.",
        "Once everything is set, I'd prefer to pay with a gift card.",
        "I prefer to use a gift card for this one instead.",
        "I do not want travel insurance.",
        "I would prefer a refund through PayPal if possible.",
    ],
)
def test_what_is_wanted_of_one_booking_is_no_preference(told: Told, said: str) -> None:
    assert texts(told, ("user", said)) == []


def test_what_is_preferred_when_asked_for_the_case_at_hand_is_no_preference(told: Told) -> None:
    asked = ("user", "Book a flight."), ("assistant", "Which cabin class would you like?")

    assert texts(told, *asked, ("user", "I prefer economy class.")) == []
    assert texts(told, *asked, ("user", "I always prefer economy class.")) == ["The user always prefers economy class."]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I prefer basic economy if it's cheaper.", "The user prefers basic economy if it's cheaper."),
        ("I usually prefer an aisle seat.", "The user usually prefers an aisle seat."),
        ("I'd rather fly direct on all my trips.", "The user would rather fly direct on all their trips."),
    ],
)
def test_what_is_wanted_of_any_booking_is_a_preference(told: Told, said: str, fact: str) -> None:
    assert texts(told, ("user", said)) == [fact]


BOOKED = "Your flight to Rome has been successfully booked:\n\n- Reservation ID: HATHAT\n- Bags: 0\n- Cabin: Economy"


@pytest.mark.parametrize(
    ("later", "fact"),
    [
        ("Thank you.", "successfully booked: Reservation ID: HATHAT; Bags: 0; Cabin: Economy."),
        (
            "Two pieces of baggage have been successfully added to your reservation HATHAT.",
            "successfully booked: Reservation ID: HATHAT; Cabin: Economy.",
        ),
        ("Your reservation HATHAT has been cancelled.", None),
    ],
)
def test_of_a_booking_that_changed_later_the_list_tells_what_still_holds(
    told: Told, later: str, fact: str | None
) -> None:
    found = texts(told, ("user", "Book it."), ("assistant", BOOKED), ("user", "And now?"), ("assistant", later))

    assert [text for text in found if "booked" in text] == (
        [f"The user's flight to Rome has been {fact}"] if fact else []
    )


def test_what_was_done_to_a_matter_is_told_without_the_word_success(told: Told) -> None:
    report = "Your reservation HAT2X9 has been updated to include one bag. The difference has been charged."

    assert texts(told, ("user", "Add a bag."), ("assistant", report)) == [
        "The user's reservation HAT2X9 has been updated to include one bag."
    ]


@pytest.mark.parametrize(
    ("report", "fact"),
    [
        (
            "Your reservation HAT2X9 has been cancelled, and a full refund will be paid.",
            "The user's reservation HAT2X9 has been cancelled, and a full refund will be paid.",
        ),
        ("I have cancelled your reservation HAT2X9.", "The agent has cancelled the user's reservation HAT2X9."),
        ("I've now upgraded reservation HAT2X9.", "The agent has upgraded reservation HAT2X9."),
        ("I have retrieved the details of your reservation HAT2X9.", None),
    ],
)
def test_what_the_agent_did_is_told_with_what_will_come_of_it_and_in_its_own_words(
    told: Told, report: str, fact: str | None
) -> None:
    assert texts(told, ("user", "Do it, please."), ("assistant", report)) == ([fact] if fact else [])


@pytest.mark.parametrize(
    "said",
    [
        "Your gift card balance is $60.",
        "The origin, destination, and trip type cannot be changed.",
        "You can take a total of 4 free bags.",
        "Your reservation HAT2X9 is for a trip from Oslo to Rome on May 3.",
    ],
)
def test_a_right_in_one_case_and_the_record_of_a_matter_are_no_facts(told: Told, said: str) -> None:
    assert texts(told, ("user", "Which?"), ("assistant", said)) == []


def test_a_policy_is_told_without_the_examples_that_an_agent_makes_of_it(told: Told) -> None:
    said = "According to our policy, basic economy flights cannot be modified, including cabin upgrades."

    assert texts(told, ("user", "Change it."), ("assistant", said)) == ["Basic economy flights cannot be modified."]


@pytest.mark.parametrize(
    ("said", "is_policy"),
    [
        ("Basic economy flights can only be cancelled within 24 hours of booking.", True),
        ("Basic economy flights can only be cancelled within 48 hours of booking.", False),
        ("Travel insurance cannot be sold to members of the silver tier.", False),
    ],
)
def test_where_the_instructions_are_known_a_policy_has_to_be_theirs(told: Told, said: str, is_policy: bool) -> None:  # noqa: FBT001
    rules = "# Policy\n\n- Basic economy flights can only be cancelled within 24 hours of their booking.\n- Be polite."

    found = texts(told, ("system", rules), ("user", "Cancel it."), ("assistant", said))

    assert found == ([said] if is_policy else [])


def test_what_was_done_to_a_whole_matter_is_not_told_of_one_of_its_people(told: Told) -> None:
    report = "Your reservation HAT2X9 has been updated:\n- Ann Lee has been upgraded to business.\n- 2 bags were added."

    assert texts(told, ("user", "Upgrade us."), ("assistant", report)) == [
        "The user's reservation HAT2X9 has been updated: 2 bags were added."
    ]


@pytest.mark.parametrize(
    ("item", "is_told"),
    [
        ("Desk Lamp has been returned", True),
        ("Travel Insurance has been added", True),
        ("Cabin Class has been upgraded to business", True),
        ("Ann Lee has been downgraded to economy", False),
        ("Ann Lee has now been rebooked on HAT9", False),
    ],
)
def test_what_was_done_to_a_thing_is_listed_and_what_is_done_to_bookings_is_not_told_of_people(
    told: Told,
    item: str,
    is_told: bool,  # noqa: FBT001
) -> None:
    report = f"Your reservation HAT2X9 has been updated:\n- {item}.\n- 2 bags were added."
    listed = [item] * is_told + ["2 bags were added"]

    assert texts(told, ("user", "Do it."), ("assistant", report)) == [
        f"The user's reservation HAT2X9 has been updated: {'; '.join(listed)}."
    ]
