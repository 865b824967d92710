import pytest
from builders.entries import said

from nous.transcript import Kind, parse_transcript

TWO = [(Kind.USER, "hi"), (Kind.ASSISTANT, "hello\n\nthere")]


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


def test_a_turn_that_was_only_a_call_says_nothing_and_is_counted() -> None:
    transcript = parse_transcript("user: go\nassistant: None\ntool: Error: no\n")

    assert said(transcript) == [(Kind.USER, "go"), (Kind.ERROR, "Error: no")]
    assert transcript.skipped == {"empty turn": 1}


def test_a_label_in_another_style_is_text() -> None:
    transcript = parse_transcript("user: the log says\nUser: admin\n**User:** x\nassistant: I see\n")

    assert said(transcript) == [(Kind.USER, "the log says\nUser: admin\n**User:** x"), (Kind.ASSISTANT, "I see")]


@pytest.mark.parametrize(
    "line", ["Note: this is text", "  user: indented", "users: many", "useragent: x", "Ai-chan: x"]
)
def test_what_only_resembles_a_label_is_text(line: str) -> None:
    assert said(parse_transcript(f"User: hi\n{line}\n")) == [(Kind.USER, f"hi\n{line}")]


def test_text_without_labels_is_one_turn() -> None:
    transcript = parse_transcript("First paragraph.\n\nSecond paragraph.\n")

    assert said(transcript) == [(Kind.USER, "First paragraph.\n\nSecond paragraph.")]


def test_each_turn_knows_its_line() -> None:
    assert [entry.line for entry in parse_transcript("user: a\nb\nassistant: c\n")] == [1, 3]


def test_a_text_of_another_encoding_is_still_read() -> None:
    transcript = parse_transcript("User: Grüße aus Köln, wie geht es Ihnen?\nAssistant: gut\n".encode("latin-1"))

    assert len(transcript.entries) == 2


def test_an_endless_turn_is_cut_and_said_so() -> None:
    for text in (("x" * 999 + "\n") * 2_500, "x" * 2_500_000):
        transcript = parse_transcript(f"User: {text}")

        assert transcript.entries[0].text.startswith("xxx")
        assert len(transcript.entries[0].text) < 1_100_000
        assert transcript.skipped["lines of an endless turn"] > 0


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_a_label_in_fenced_code_is_text(fence: str) -> None:
    quoted = f"See:\n{fence}\nUser: x\nAssistant: y\n{fence}\nRight?"

    assert said(parse_transcript(f"User: {quoted}\nAssistant: Yes.\n")) == [
        (Kind.USER, quoted),
        (Kind.ASSISTANT, "Yes."),
    ]


def test_a_fence_that_is_never_closed_holds_nothing() -> None:
    for answer in ("Yes.", "Yes:\n```py\nx\n```\nOk."):
        assert said(parse_transcript(f"User: see\n```\nfoo\nAssistant: {answer}\nUser: thanks\n")) == [
            (Kind.USER, "see\n```\nfoo"),
            (Kind.ASSISTANT, answer),
            (Kind.USER, "thanks"),
        ]


def test_a_second_name_for_the_same_speaker_is_text() -> None:
    transcript = parse_transcript("User: my server says\nClient: 10.0.0.1\nAssistant: hm\nModel: x\n")

    assert said(transcript) == [
        (Kind.USER, "my server says\nClient: 10.0.0.1"),
        (Kind.ASSISTANT, "hm\nModel: x"),
    ]


def test_what_stands_before_the_first_label_is_nobodys() -> None:
    assert said(parse_transcript("A log of May\n\nUser: hi\n")) == [(Kind.SYSTEM, "A log of May"), (Kind.USER, "hi")]


def test_words_that_a_program_put_into_a_prompt_are_counted() -> None:
    transcript = parse_transcript("User: <system-reminder>x</system-reminder>\nAssistant:\nUser: hi\n")

    assert said(transcript) == [(Kind.USER, "hi")]
    assert transcript.skipped == {"inserted context": 1, "empty turn": 1}
