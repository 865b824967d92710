import pytest
from builders.transcripts import said

from nous.transcript import Kind, parse_transcript

U, A = Kind.USER, Kind.ASSISTANT
TWO = [(U, "hi"), (A, "hello\n\nthere")]
QUOTED = "See:\n{0}\nUser: x\nAssistant: y\n{0}\nRight?"
UNCLOSED = "User: see\n```\nfoo\nAssistant: {}\nUser: thanks\n"
CODE = "Yes:\n```py\nx\n```\nOk."


@pytest.mark.parametrize(
    "text",
    [
        "user: hi\nassistant: hello\n\nthere\n",
        "User: hi\r\n\r\nAssistant: hello\r\n\r\nthere",
        "\ufeffUSER: hi\nASSISTANT: hello\n\nthere",
        "Human: hi\n\nAI: hello\n\nthere",
        "### User\n\nhi\n\n### Assistant\n\nhello\n\nthere\n",
        "## User:\nhi\n## Assistant:\nhello\n\nthere",
        "**User:** hi\n\n**Assistant:** hello\n\nthere",
        "[User] hi\n\n[Assistant] hello\n\nthere",
        "Customer: hi\nAgent: hello\n\nthere",
    ],
    ids=range(9),
)
def test_a_turn_goes_from_one_label_to_the_next_across_blank_lines(text: str) -> None:
    transcript = parse_transcript(text)

    assert transcript.format == "plain_text"
    assert said(transcript) == TWO


SAID: dict[str, tuple[str, list[tuple[Kind, str]]]] = {
    "only a call": ("user: go\nassistant: None\ntool: Error: no\n", [(U, "go"), (Kind.ERROR, "Error: no")]),
    "another style": (
        "user: the log says\nUser: admin\n**User:** x\nassistant: I see\n",
        [(U, "the log says\nUser: admin\n**User:** x"), (A, "I see")],
    ),
    **{
        f"no label: {line}": (f"User: hi\n{line}\n", [(U, f"hi\n{line}")])
        for line in ("Note: this is text", "  user: indented", "users: many", "useragent: x", "Ai-chan: x")
    },
    "no labels": ("First paragraph.\n\nSecond paragraph.\n", [(U, "First paragraph.\n\nSecond paragraph.")]),
    **{
        f"label in code: {fence}": (
            f"User: {QUOTED.format(fence)}\nAssistant: Yes.\n",
            [(U, QUOTED.format(fence)), (A, "Yes.")],
        )
        for fence in ("```", "~~~~")
    },
    **{
        f"code never closed: {answer}": (UNCLOSED.format(answer), [(U, "see\n```\nfoo"), (A, answer), (U, "thanks")])
        for answer in ("Yes.", CODE)
    },
    "a second name": (
        "User: my server says\nClient: 10.0.0.1\nAssistant: hm\nModel: x\n",
        [(U, "my server says\nClient: 10.0.0.1"), (A, "hm\nModel: x")],
    ),
    "before the first label": ("A log of May\n\nUser: hi\n", [(Kind.SYSTEM, "A log of May"), (U, "hi")]),
    "inserted words": ("User: <system-reminder>x</system-reminder>\nAssistant:\nUser: hi\n", [(U, "hi")]),
}


@pytest.mark.parametrize(("text", "expected"), SAID.values(), ids=SAID)
def test_what_a_text_says(text: str, expected: list[tuple[Kind, str]]) -> None:
    assert said(parse_transcript(text)) == expected


def test_what_says_nothing_is_counted() -> None:
    assert parse_transcript(SAID["only a call"][0]).skipped == {"empty turn": 1}
    assert parse_transcript(SAID["inserted words"][0]).skipped == {"inserted context": 1, "empty turn": 1}


def test_a_text_of_another_encoding_is_still_read() -> None:
    transcript = parse_transcript("User: Grüße aus Köln, wie geht es Ihnen?\nAssistant: gut\n".encode("latin-1"))

    assert len(transcript.entries) == 2


def test_an_endless_turn_is_cut_and_said_so() -> None:
    for text in (("x" * 999 + "\n") * 2_500, "x" * 2_500_000):
        transcript = parse_transcript(f"User: {text}")

        assert transcript.entries[0].text.startswith("xxx")
        assert len(transcript.entries[0].text) < 1_100_000
        assert transcript.skipped["lines of an endless turn"] > 0
