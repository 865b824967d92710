from functools import partial
from typing import Any

import orjson
import pytest
from builders.transcripts import Record, read_as, said

from nous.transcript import Kind, parse_transcript
from nous.transcript.reader import Sample
from nous.transcript.readers.codex import READER

TIME = "2026-08-03T10:48:56.000Z"

read = partial(read_as, "codex")
read_all = partial(read, include=("meta", "thinking"))


def line(kind: str, **payload: Any) -> Record:
    return {"timestamp": TIME, "type": kind, "payload": payload}


def item(kind: str, **fields: Any) -> Record:
    return line("response_item", type=kind, **fields)


def event(kind: str, **fields: Any) -> Record:
    return line("event_msg", type=kind, **fields)


def message(role: str, *texts: str) -> Record:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def called(tool: str, arguments: object = None, call_id: str = "c1") -> Record:
    return item("function_call", name=tool, arguments=orjson.dumps(arguments or {}).decode(), call_id=call_id)


def typed(text: str) -> Record:
    return event("user_message", message=text)


LS = called("exec_command", {"cmd": "ls"})
OLD_HEAD = {"id": "old", "timestamp": TIME, "instructions": None, "git": {"branch": "main"}}
"""The first line of a file from before October 2025."""


@pytest.mark.parametrize(
    "found",
    [
        "<environment_context><cwd>/repo</cwd></environment_context>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<skill>\n<name>x</name>\n</skill>",
    ],
)
def test_what_codex_puts_in_the_users_place_is_nobodys(found: str) -> None:
    for role in ("user", "developer"):
        (entry,) = read_all(message(role, found)).entries

        assert (entry.kind, entry.is_meta) == (Kind.SYSTEM, True)
        assert read(message(role, found)).entries == ()


def sniff(*found: Record) -> float:
    return READER.sniff(Sample(text="", records=found))


def test_it_is_told_from_others_by_its_envelope() -> None:
    chat = {"timestamp": TIME, "role": "user", "content": "hi"}
    foreign = {"type": "tool_call", "timestamp": TIME, "session_id": "s", "toolName": "x"}

    assert sniff(line("session_meta"), typed("a"), LS) > 0.9
    assert 0.5 < sniff(chat, {"timestamp": TIME, "type": "tool_call", "function": {"name": "git"}}) < 0.9
    assert sniff(OLD_HEAD, chat) > 0.9
    assert sniff() == sniff(chat) == sniff(chat, foreign) == sniff({"type": "response_item"}) == 0


U, A = Kind.USER, Kind.ASSISTANT
TWO = [(U, "hi"), (A, "hello\n\nthere")]


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
