from typing import Any

import orjson
import pytest

from nous.transcript import Kind, Transcript, parse_transcript

CALL = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"id":"A1"}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is A1?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "lookup", "content": '{"at":"sea"}'},
    {"role": "assistant", "content": "At sea."},
]
SAID = [
    (Kind.SYSTEM, "Be brief."),
    (Kind.USER, "Where is A1?"),
    (Kind.TOOL_CALL, "lookup"),
    (Kind.TOOL_RESULT, '{"at":"sea"}'),
    (Kind.ASSISTANT, "At sea."),
]


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def read(*messages: dict[str, Any]) -> Transcript:
    return parse_transcript(list(messages), format="openai_chat")


@pytest.mark.parametrize(
    "content",
    [
        orjson.dumps(MESSAGES),
        orjson.dumps(MESSAGES, option=orjson.OPT_INDENT_2),
        orjson.dumps({"model": "gpt", "messages": MESSAGES}),
        orjson.dumps({"messages": MESSAGES}, option=orjson.OPT_INDENT_2),
        b"".join(orjson.dumps(message) + b"\n" for message in MESSAGES),
    ],
    ids=["list", "pretty list", "object", "pretty object", "lines"],
)
def test_messages_are_found_in_every_container(content: bytes) -> None:
    transcript = parse_transcript(content)

    assert transcript.format == "openai_chat"
    assert said(transcript) == SAID


def test_arguments_are_unpacked_and_the_result_finds_its_call() -> None:
    _, _, call, result, _ = read(*MESSAGES).entries

    assert call.tool_input == {"id": "A1"}
    assert (call.call_id, result.call_id, result.tool) == ("c1", "c1", "lookup")


@pytest.mark.parametrize(
    ("arguments", "given"),
    [("{bad", {"arguments": "{bad"}), ("[1]", {"arguments": [1]}), ("", None), (None, None), ({"a": 1}, {"a": 1})],
)
def test_arguments_that_are_no_object_are_kept_as_they_are(arguments: object, given: dict[str, Any] | None) -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}]}

    assert (read(message).entries[0].tool_input or None) == given


def test_the_first_form_of_calls_is_understood() -> None:
    transcript = read(
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
    )

    assert said(transcript) == [(Kind.TOOL_CALL, "f"), (Kind.TOOL_RESULT, "done")]
    assert transcript.entries[0].call_id == transcript.entries[1].call_id


@pytest.mark.parametrize("content", ["Error: no such flight", "ValueError: x", "Traceback (most recent call last):"])
def test_a_result_that_begins_as_an_error_is_one(content: str) -> None:
    (entry,) = read({"role": "tool", "tool_call_id": "c", "content": content}).entries

    assert (entry.kind, entry.is_error) == (Kind.ERROR, True)


def test_parts_are_joined_and_what_is_not_text_is_counted() -> None:
    parts = [
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": {}},
        {"type": "input_text", "text": "two"},
    ]

    transcript = read({"role": "user", "content": parts})

    assert said(transcript) == [(Kind.USER, "one\n\ntwo")]
    assert transcript.skipped == {"image_url part": 1}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "refusal": "I cannot."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]},
    ],
)
def test_a_refusal_is_an_answer(message: dict[str, Any]) -> None:
    assert said(read(message)) == [(Kind.ASSISTANT, "I cannot.")]


def test_several_sessions_in_one_file_are_told_apart() -> None:
    run = {"messages": [{"role": "user", "content": "hi"}]}

    transcript = parse_transcript(orjson.dumps({"id": 1, **run}) + b"\n" + orjson.dumps({"id": 2, **run}))

    assert said(transcript) == [(Kind.USER, "hi"), (Kind.SYSTEM, "Another session begins: 2"), (Kind.USER, "hi")]


def test_what_is_no_message_is_counted() -> None:
    assert read({"role": "user", "content": "hi"}, {"kind": "note"}).skipped == {"not a message": 1}
