"""What is passed on of a provider's refusal."""

from datetime import UTC, datetime, timedelta

import pytest
from builders.questions import KEY, PROMPT, question

from nous.llm.error_mapping import LONGEST_SAID, Refusal, passed_on, refused, resumption
from nous.llm.provider import Endpoint

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FAR_OFF = f"Thu, 01 Jan 2026 00:00:00 +{'9' * 30}"
ENDPOINT = Endpoint(
    provider="openai",
    model="m",
    base_url="https://user:word@there:8000/v1?key=x",
    api_key=KEY,
    deadline=1,
    concurrency=1,
)


def said(body: bytes, status: int = 418) -> str:
    refusal = Refusal(status, {}, body)
    return str(refused(refusal, ENDPOINT, question().texts, structured=False, now=NOW))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2", 2),
        ("Thu, 01 Jan 2026 00:00:09 GMT", 9),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("-5", 0),
        ("9" * 300, 86_400),
    ],
)
def test_the_time_to_come_back_is_read_in_each_of_its_forms(text: str, seconds: float) -> None:
    assert resumption({"retry-after": text}, NOW) == NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "soon", "nan", "inf", "Thu, 99 Jan 2026 00:00:00 GMT", FAR_OFF])
def test_a_time_that_is_none_is_no_time(text: str) -> None:
    assert resumption({"retry-after": text}, NOW) is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "no such model"}}',
        b'{"type": "error", "error": {"type": "x", "message": "no such model"}}',
        b'{"error": "no such model"}',
        b'{"message": "no such model"}',
        b'{"detail": "no such model"}',
        b"no such\r\n model",
    ],
)
def test_the_sentence_of_an_error_is_found_in_each_of_its_forms(body: bytes) -> None:
    assert said(body) == "openai:m at there:8000 answered 418: no such model"


@pytest.mark.parametrize("body", [b"", b"<html>Oops</html>", b"[1]", b'{"error": {"code": 7}}', b"null"])
def test_a_body_without_a_sentence_adds_none(body: bytes) -> None:
    assert said(body) == "openai:m at there:8000 answered 418"


def test_the_key_is_cut_out_of_it_and_what_is_left_fits_on_a_line() -> None:
    found = passed_on(f"{KEY}\n" + "word \x00" * 1000, ENDPOINT, question().texts)

    assert found.startswith("[key] word word")
    assert len(found) == LONGEST_SAID
    assert found.isprintable()


@pytest.mark.parametrize("echo", [PROMPT, PROMPT[10:40], f"invalid: {PROMPT.replace(' ', chr(10))}", PROMPT * 100])
def test_a_message_that_repeats_the_question_is_not_passed_on(echo: str) -> None:
    assert passed_on(f"bad input {echo}", ENDPOINT, question().texts) == "(its message repeats the question)"


def test_an_endpoint_shows_neither_its_key_nor_what_its_address_holds() -> None:
    assert KEY not in repr(ENDPOINT)
    assert str(ENDPOINT) == "openai:m at there:8000"
