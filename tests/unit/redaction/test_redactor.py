"""Placeholders, private parts, and values whose names tell that they are secret."""

from typing import Any

import pytest

from nous.domain.episode import CandidateFact, Decision
from nous.redaction.redactor import Redaction, Redactor, tells_secret

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # noqa: S105


@pytest.fixture
def redaction() -> Redaction:
    return Redaction(Redactor(key=lambda: b"0123456789abcdef"))


def test_equal_secrets_have_equal_placeholders_and_different_ones_do_not(redaction: Redaction) -> None:
    text = redaction.text(f"{TOKEN} {TOKEN} {TOKEN[::-1]} ghp_Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3h2")
    first, second, *_, last = text.split()

    assert first == second == redaction.known[TOKEN]
    assert first.startswith("[secret:github-pat:")
    assert last != first


def test_another_installation_marks_the_same_secret_otherwise() -> None:
    one, other = (Redaction(Redactor(key=lambda key=key: key)).text(TOKEN) for key in (b"a" * 16, b"b" * 16))

    assert one != other
    assert Redaction(Redactor()).text(TOKEN) == "[secret:github-pat]"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("before <private>mine</private> after", "before  after"),
        ("before <private>mine", "before "),
        ("<PRIVATE reason='x'>mine</private >", ""),
        ("a <private>b <private>c</private> d</private> e", "a  e"),
        ("a stray </private> tag and a <privateer>", "a stray  tag and a <privateer>"),
    ],
)
def test_private_parts_are_dropped(redaction: Redaction, said: str, left: str) -> None:
    assert redaction.text(said) == left


def test_a_private_part_may_span_several_texts_of_a_message(redaction: Redaction) -> None:
    message = {"content": [{"text": "a <private>b"}, {"text": "c"}, {"text": "d</private> e"}]}

    assert redaction.value(message) == {"content": [{"text": "a "}, {"text": ""}, {"text": " e"}]}
    assert redaction.value({"content": "the next one"}) == {"content": "the next one"}
    assert redaction.counts == {"private-part": 1}


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"password": "correct-horse-7"}, {"password": "[secret:password]"}),
        ({"env": {"API_KEY": "q7Rt81mZ0pLx"}}, {"env": {"API_KEY": "[secret:credential]"}}),
        ({"headers": {"X-Auth-Token": ["q7Rt81mZ0pLx"]}}, {"headers": {"X-Auth-Token": ["[secret:credential]"]}}),
        ({"command": "ls", "timeout": 5, "env": None}, {"command": "ls", "timeout": 5, "env": None}),
        ({"max_tokens": "4096", "token_type": "bearer"}, {"max_tokens": "4096", "token_type": "bearer"}),
    ],
)
def test_a_value_is_judged_with_its_name(value: dict[str, Any], left: dict[str, Any]) -> None:
    assert Redaction(Redactor()).value(value) == left


def test_a_record_is_redacted_but_for_what_names_something(redaction: Redaction) -> None:
    decision = Decision(description=f"Use {TOKEN}", turns=(1, 2))
    facts = (CandidateFact(text="Port 80 is open."), CandidateFact(text=f"The CI uses {TOKEN}"))

    assert TOKEN not in str(redaction.record((decision, facts)))
    assert redaction.record(facts)[0] is facts[0]
    assert redaction.record(facts[0]) is facts[0]


def test_a_statement_of_what_a_secret_is_says_nothing() -> None:
    assert tells_secret("The password is [secret:password:1a2b].")
    assert not tells_secret("Deploy with `KEY=[secret:credential:1a2b] make deploy`.")
