"""By what a service's user is known, where they only give what the agent has asked for."""

from collections.abc import Callable

import pytest

from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]

EMAIL = "Could you give me your e-mail address?"
NAME = "What's your full name, please?"


def answered(told: Told, asked: str, answer: str) -> list[str]:
    hello = ("assistant", "How can I help you today?")
    said = hello, ("user", "Cancel it, please."), ("assistant", asked), ("user", answer)
    return [fact.text for fact in candidate_facts(Evidence(told(*said)))]


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ("Sure, it's ann.lee@x.example.", "The user's email address is ann.lee@x.example."),
        ("ann_lee_9", "The user's user ID is ann_lee_9."),
        ("It's Ann Lee from Graz, 8010.", "The user's name is Ann Lee."),
        ("It's Monday already.", None),
        ("It's Émile Zola.", "The user's name is Émile Zola."),
        ("I'm Really Annoyed with this.", None),
        ("It's Black Friday already, hurry up!", None),
        ("Don't write to bob@spam.example.", None),
        ("Send it to support@shop.example instead.", None),
    ],
)
def test_a_short_answer_to_who_somebody_is_tells_it(told: Told, answer: str, fact: str | None) -> None:
    asked = "Could you please provide your email address, your user ID or your name and zip code?"

    assert answered(told, asked, answer) == ([fact] if fact else [])
    assert answered(told, "Which one?", answer) == []


def test_who_is_asked_for_one_thing_does_not_answer_with_another(told: Told) -> None:
    assert answered(told, "Could you give me your full name, please?", "no, order_id_55") == []


@pytest.mark.parametrize(
    "answer",
    [
        "My boss uses bob@acme.example",
        "His is bob@acme.example",
        "Bob's is bob@acme.example",
        "My sisters share bob@acme.example",
        "They gave me bob@acme.example",
        "It belongs with bob@acme.example",
        "bob@acme.example, that is my manager's",
        "bob@acme.example, the one of my boss.",
        "bob@acme.example or ann@x.example",
    ],
)
def test_what_belongs_to_somebody_else_or_nobody_can_tell_whom_is_not_the_users(told: Told, answer: str) -> None:
    assert answered(told, EMAIL, answer) == []


def test_a_word_for_somebody_within_the_address_is_nobody_else(told: Told) -> None:
    assert answered(told, EMAIL, "It's family@x.example") == ["The user's email address is family@x.example."]


@pytest.mark.parametrize(
    "said",
    [
        "I have sent the receipt to your email.",
        "I've sent it to your email, please check that.",
        "I've updated your email. Anything else?",
        "Could you please check your email?",
        "I will share your email with the courier.",
        "Please do not share your email with anybody.",
        "You do not need to provide your email.",
        "Your email is verified; could you tell me the number of your order?",
        "Please provide the email of the passenger.",
    ],
)
def test_who_speaks_of_an_address_has_not_asked_for_it(told: Told, said: str) -> None:
    assert answered(told, said, "ann@x.example") == []


@pytest.mark.parametrize(
    "asked",
    [
        "What's your registered email?",
        "And your registered email?",
        "May I have your current email address, please?",
        "Please share your email.",
        "To proceed, I'll need your phone number and email.",
        "Could you confirm your name, email and zip code?",
        "If there is anything else, such as your email address, please let me know.",
        "Provide your email, please.",
        "I need some details. Please provide:\n- Your name\n- Your email",
        "Do you remember your email?",
        "Would you mind giving me your email?",
        "If you could send over your email, I can look it up.",
        "Could you share with me your email?",
        "Let's start with your email.",
        "Thank you. Your email, please.",
    ],
)
def test_an_address_is_asked_for_in_many_ways(told: Told, asked: str) -> None:
    assert answered(told, asked, "ann@x.example") == ["The user's email address is ann@x.example."]


def test_who_is_asked_for_two_things_may_answer_with_both(told: Told) -> None:
    phone, email = "The user's phone number is 555-010-0199.", "The user's email address is ann@x.example."

    for asked in ("May I have your phone number and email?", "your phone number and email?"):
        assert set(answered(told, asked, "555-010-0199 and ann@x.example")) == {phone, email}
        assert answered(told, asked, "It's 555-010-0199") == [phone]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Could you tell me your name and city?", "Sure, it's San Diego"),
        ("your name and city?", "It's San Diego"),
        ("May I have your name and employer?", "It's Acme Brothers"),
        ("May I have your name, state and zip code?", "It's North Carolina"),
        ("May I have your name and address?", "It's Elm Street"),
        ("Which city are you flying to, and what's your name?", "It's San Diego"),
        ("What's your name? And which city are you flying to?", "It's San Diego"),
        ("Please provide:\n- Your name\n- Your city", "It's San Diego"),
        ("What's your phone number and your order number?", "It's 5550100199"),
        ("Could you give me your email and your manager's email?", "ann@x.example"),
        ("Please provide your user ID or that passenger's user ID.", "ann_lee_9"),
    ],
)
def test_what_may_be_the_answer_to_something_else_that_was_asked_is_left_out(
    told: Told, asked: str, answer: str
) -> None:
    assert answered(told, asked, answer) == []


@pytest.mark.parametrize(
    "answer", ["I'm Very Angry!", "It's Too Late!", "I am So Tired", "It's Monday Morning", "This is Absolutely Awful."]
)
def test_a_mood_or_a_time_is_no_name(told: Told, answer: str) -> None:
    assert answered(told, NAME, answer) == []


@pytest.mark.parametrize(
    "asked",
    [
        NAME,
        "Who am I speaking with?",
        "May I have your first and last name?",
        "Sure, how may I help, and what's your name?",
        "Please provide the following information:\n1. Your full name\n2. Your order number",
        "To verify your identity, could you provide your email address or name and zip code so I can look it up?",
    ],
)
@pytest.mark.parametrize("answer", ["It's Mia Garcia - thanks", "It's Mia Garcia (8010)", "This is Mia Garcia!"])
def test_a_name_may_be_asked_for_beside_what_looks_otherwise(told: Told, asked: str, answer: str) -> None:
    assert answered(told, asked, answer) == ["The user's name is Mia Garcia."]


@pytest.mark.parametrize(
    "answer", ["ann_lee_9@x.example", "it's ann_lee_9.smith@x.example", "x.ann_lee_9@x.example", "a@ann_lee_9"]
)
def test_a_part_of_an_address_is_no_user_id(told: Told, answer: str) -> None:
    assert answered(told, "Could you please provide your user ID?", answer) == []


@pytest.mark.parametrize("said", ["your ", "please give ", "you may ", "and ", "me with ", "a", "what's ", "- "])
def test_however_long_a_question_is_it_is_read(told: Told, said: str) -> None:
    asked = f"{said * (200_000 // len(said))} could you give me your email?"

    assert answered(told, asked, "ann@x.example") == ["The user's email address is ann@x.example."]
