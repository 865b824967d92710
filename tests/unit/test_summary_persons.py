"""Who the user is and what they want, in their own words: not somebody else's, not what they play, and as told last."""

from collections.abc import Callable

import pytest
from builders.at_work import texts

from nous.transcript.model import Transcript

Told = Callable[..., Transcript]


@pytest.mark.parametrize(
    "said",
    [
        'Sum this up: "Hi team, my name is Olaf Brandt. I live in Hamburg. We always deploy on Fridays. Bye."',
        "Sum this up: \u201cI prefer phone calls. My name is Olaf.\u201d",
        "What does this say?\n> My name is Olaf.\n> I prefer phone calls.",
        "What is this?\nmy-app: My name is worker-7 and I live in pod 3\nUser root: I prefer ipv6",
        "What is this?\n2026-03-01 12:00:00 We always use replica 3.\nINFO We never use replica 4 in any pod.",
        "Pretend you are a captain. My name is Jack and my id is 40.",
        "Write a cover letter for Jane: I live in Ohio. My phone number is 555-1212.",
        "A customer wrote us: I live in Texas. We use your API with Java 8.",
        "Summarize this chat:\nTom: I live in Graz.\nAnn: My email is ann@x.example. We use Jira.",
        "Tom: my email is tom@x.example.",
    ],
)
def test_the_words_of_others_and_of_a_part_that_is_played_tell_nothing_of_the_user(told: Told, said: str) -> None:
    assert texts(told, said) == []


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        (
            ["My email is ann@old.example.", "I changed my email to ann@new.example."],
            ["changed their email to ann@new.example."],
        ),
        (["My name is Lin.", "My actual name is Lena."], ["'s actual name is Lena."]),
        (
            ["My user id is ab_cd_12.", "My customer number is 4711."],
            ["'s user id is ab_cd_12.", "'s customer number is 4711."],
        ),
    ],
)
def test_by_what_somebody_is_known_holds_as_it_was_told_last(told: Told, said: list[str], facts: list[str]) -> None:
    assert [text.removeprefix("The user").strip() for text in texts(told, *said)] == facts


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("My manager is Petra Lang.", "The user's manager is Petra Lang."),
        ("I work at the harbour office in Kiel.", "The user works at the harbour office in Kiel."),
        ("I'm a vegetarian and I'm learning Rust.", "The user is a vegetarian and they are learning Rust."),
        ("I hate lemon though.", "The user hates lemon."),
        ("My id is re-my-42.", "The user's id is re-my-42."),
    ],
)
def test_who_works_tells_of_themselves_in_passing(told: Told, said: str, fact: str) -> None:
    assert texts(told, said) == [fact]


def test_what_is_ours_is_known_as_it_was_told_last(told: Told) -> None:
    said = "Our backup server is atlas-02.", "Sorry, I was wrong: our backup server is atlas-03, not atlas-02."

    assert texts(told, *said) == ["Our backup server is atlas-03, not atlas-02."]


@pytest.mark.parametrize(
    "said",
    [
        "The page in `cart.py` has a 500 when the cart is empty. Please fix it.",
        "Port 8080 is taken on the dev box in `serve.py`; find out why the API is down.",
    ],
)
def test_what_is_told_to_be_put_right_is_no_circumstance(told: Told, said: str) -> None:
    assert texts(told, said) == []


def test_who_leaves_a_part_speaks_for_themselves_again(told: Told) -> None:
    said = (
        "Let's role-play, you ask me things.",
        "My name is Max.",
        "Ok stop. My actual name is Lena.",
        "I live in Graz.",
    )

    assert texts(told, *said) == ["The user's actual name is Lena.", "The user lives in Graz."]


def test_who_plays_a_part_goes_on_to_do_so(told: Told) -> None:
    assert texts(told, "Let's role-play, you ask me things.", "My name is Max and I live in Springfield.") == []


@pytest.mark.parametrize(
    "said",
    ["I live in fear of this module.", "My wife is waiting, be quick.", "My manager is on vacation, so merge it."],
)
def test_a_manner_of_speaking_is_no_person(told: Told, said: str) -> None:
    assert texts(told, said) == []


@pytest.mark.parametrize(
    "said",
    [
        "From now on, never shorten variable names.",
        "Pretend I'm new here. From now on, always use pnpm, never npm.",
        "From now on always summarize in two sentences.",
    ],
)
def test_what_is_meant_from_now_on_is_a_rule_beside_whatever_it_stands(told: Told, said: str) -> None:
    assert texts(told, said) == [f"From now on{said.partition('From now on')[2]}"]


@pytest.mark.parametrize("label", ["Important", "PS", "Note", "Context", "UPDATE"])
def test_a_label_is_nobody_who_speaks_and_no_part_of_the_fact(told: Told, label: str) -> None:
    assert texts(told, f"{label}: my user ID is ann_lee_9.") == ["The user's user ID is ann_lee_9."]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("My email is ann@x.example, draft a signature with it.", "The user's email is ann@x.example."),
        ("My name is Bob. Translate all answers into German.", "The user's name is Bob."),
        ("I prefer short answers. Summarize the log.", "The user prefers short answers."),
        ("My name is Ann Lee. Fix the role-play feature in game.py.", "The user's name is Ann Lee."),
        ("The proxy must act as a cache. My name is Ann Lee.", "The user's name is Ann Lee."),
        ("My email: ann@x.example", "The user's email: ann@x.example."),
        ("I live in berlin.", "The user lives in berlin."),
        ("Note: I always want type hints in Python.", "I always want type hints in Python."),
    ],
)
def test_work_on_a_text_silences_nobody_who_speaks_beside_it(told: Told, said: str, fact: str) -> None:
    assert texts(told, said) == [fact]


@pytest.mark.parametrize(
    "said",
    [
        "Translate to German\n\nMy name is Olaf. I live in Hamburg.",
        "Hi, I'm Tom and I live in Graz. We use Jira.\n\nPlease summarize this email.",
        "He wrote: I live in Graz. My name is Tom.",
    ],
)
def test_a_text_that_is_to_be_worked_on_speaks_for_others(told: Told, said: str) -> None:
    assert texts(told, said) == []


def test_what_is_pretended_once_is_over_with_its_turn(told: Told) -> None:
    said = "Pretend I'm new here. My name is Zed Zero.", "My name is Ann Lee."

    assert texts(told, *said) == ["The user's name is Ann Lee."]


@pytest.mark.parametrize(
    "said",
    [
        "My name is not shown in the header, fix Header.tsx.",
        "My user id is undefined after login, fix auth.ts.",
        "My email is not being validated in the SignupForm.",
        "My code is in src/app.",
        "Change the greeting to My name is Bot.",
        "Create seed users for the demo: My name is Bob, I live in Rome.",
        'Print "I live in Paris" in example.py.',
        "Ticket #431: Hi, my name is Eva Berg and my email is eva@x.example.",
        "Look into this bug report\n\nMy email is eva@x.example and I live in Oslo.",
        "got this from the client\n\nHi Ann,\n\nI prefer a call. We use Safari 16.",
        "bob: i hate kafka",
    ],
)
def test_data_and_letters_tell_nothing_of_the_user(told: Told, said: str) -> None:
    assert texts(told, said) == []


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I'm the maintainer of foo-parser.", "The user is the maintainer of foo-parser."),
        ("My editor is Neovim.", "The user's editor is Neovim."),
        ("I work on the payments team at Stripe.", "The user works on the payments team at Stripe."),
        ("My name is Mohamed Silva.", "The user's name is Mohamed Silva."),
        ("Great, my name is Ann Lee.", "The user's name is Ann Lee."),
        ("I don't have the number, but my user ID is ann_lee_9.", "The user's user ID is ann_lee_9."),
        ("My user ID is ann_lee_9, but I'm not sure about the number.", "The user's user ID is ann_lee_9."),
    ],
)
def test_who_and_with_what_somebody_is_is_known(told: Told, said: str, fact: str) -> None:
    assert texts(told, said) == [fact]


def test_where_somebody_lives_is_known_as_it_was_told_last(told: Told) -> None:
    assert texts(told, "I live in Berlin.", "I live in Hamburg by the sea.") == [
        "The user lives in Hamburg by the sea."
    ]
