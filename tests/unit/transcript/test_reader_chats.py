"""What all formats of messages with a role have in common, then Chat Completions and Anthropic Messages."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
import pytest
from builders.transcripts import Record, as_lines, read_as, said

from nous.transcript import Kind, known_readers, parse_transcript
from nous.transcript.reader import Sample

SAID = [
    (Kind.SYSTEM, "Be brief."),
    (Kind.USER, "Where is A1?"),
    (Kind.ASSISTANT, "I look."),
    (Kind.TOOL_CALL, 'bash(cmd="ls")'),
    (Kind.TOOL_RESULT, "a.txt"),
    (Kind.ASSISTANT, "At sea."),
]
LS = {"command": "ls"}
SYSTEM, USER = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is A1?"}
FUNCTION = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
OPENAI = [
    *(SYSTEM, USER),
    {"role": "assistant", "content": "I look.", "tool_calls": [FUNCTION]},
    {"role": "tool", "tool_call_id": "c1", "name": "bash", "content": "a.txt"},
    {"role": "assistant", "content": "At sea."},
]
USE = {"type": "tool_use", "id": "c1", "name": "bash", "input": LS}
ANTHROPIC = [
    USER,
    {"role": "assistant", "content": [{"type": "text", "text": "I look."}, USE]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a.txt"}]},
    {"role": "assistant", "content": "At sea."},
]
LANGCHAIN: list[tuple[str, Mapping[str, Any]]] = [
    ("system", {"content": "Be brief."}),
    ("human", {"content": "Where is A1?"}),
    ("ai", {"content": "I look.", "tool_calls": [{"name": "bash", "args": LS, "id": "c1"}], "invalid_tool_calls": []}),
    ("tool", {"content": "a.txt", "name": "bash", "tool_call_id": "c1", "status": "success"}),
    ("ai", {"content": [{"type": "text", "text": "At sea."}], "tool_calls": []}),
]
CLASSES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
AS_DICTS = [{"type": kind, "data": {**fields, "type": kind}} for kind, fields in LANGCHAIN]
AS_CONSTRUCTORS = [
    {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", CLASSES[kind]], "kwargs": fields}
    for kind, fields in LANGCHAIN
]
AS_MODELS = [{"additional_kwargs": {}, "response_metadata": {}, **fields, "type": kind} for kind, fields in LANGCHAIN]
SHAREGPT = [
    {"from": "system", "value": "Be brief."},
    {"from": "human", "value": "Where is A1?"},
    {"from": "gpt", "value": "I look."},
    {"from": "function_call", "value": '{"name": "bash", "arguments": {"command": "ls"}}'},
    {"from": "observation", "value": "a.txt"},
    {"from": "gpt", "value": "At sea."},
]
ITEMS: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "input_text", "text": "Where is A1?"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": '{"command":"ls"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
    {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "At sea."}]},
]
HISTORY = [
    *(SYSTEM, {**USER, "message_type": "observation"}),
    {"role": "assistant", "content": "I look.\n```\nls\n```", "thought": "I look.\n", "action": "ls\n"},
    {"role": "user", "content": "a.txt"},
    {"role": "assistant", "content": "At sea."},
]
PROMPT_VALUE = {"lc": 1, "type": "constructor", "id": ["ChatPromptValue"]}
DOCUMENTS: list[tuple[str, Any]] = [
    ("openai_chat", OPENAI),
    ("openai_chat", {"model": "gpt", "messages": OPENAI}),
    ("anthropic_messages", {"system": [{"type": "text", "text": "Be brief."}], "messages": ANTHROPIC}),
    ("anthropic_messages", [{"system": "Be brief.", "messages": ANTHROPIC}]),
    *(
        ("langchain", holder)
        for messages in (AS_DICTS, AS_CONSTRUCTORS, AS_MODELS)
        for holder in (
            *(messages, {"messages": messages}, {"messages": [messages]}, {"values": {"messages": messages}}),
            {**PROMPT_VALUE, "kwargs": {"messages": messages}},
        )
    ),
    ("sharegpt", SHAREGPT),
    ("sharegpt", {"conversations": SHAREGPT}),
    ("sharegpt", [{"conversations": SHAREGPT}]),
    ("openai_responses", ITEMS),
    ("openai_responses", {"model": "gpt", "input": ITEMS}),
    ("openai_responses", {"input": ITEMS[:2], "output": ITEMS[2:]}),
    ("openai_responses", {"object": "response", "instructions": "Be brief.", "input": ITEMS[1:2], "output": ITEMS[2:]}),
    ("sweagent", {"environment": "swe_main", "history": HISTORY}),
]
"""The same conversation in every format and every container."""


@pytest.mark.parametrize(("name", "document"), DOCUMENTS)
def test_the_same_is_read_from_every_format_and_container(name: str, document: Any) -> None:
    ways = [orjson.dumps(document), orjson.dumps(document, option=orjson.OPT_INDENT_2)]
    ways += [b"\n".join(map(orjson.dumps, document))] if isinstance(document, list) else []

    for content in ways:
        transcript = parse_transcript(content)
        _, _, _, call, result, _ = transcript.entries
        assert (transcript.format, said(transcript)) == (name, SAID)
        assert (call.tool, call.tool_input, result.tool) == ("bash", LS, "bash")
        assert call.call_id == result.call_id is not None


FAILURES = ("Error: no such flight", "ValueError: x", "Traceback (most recent call last):")


@pytest.mark.parametrize("text", FAILURES)
def test_a_result_that_begins_as_an_error_is_one_where_nothing_else_says_so(text: str) -> None:
    results = {
        "openai_chat": {"role": "tool", "tool_call_id": "c", "content": text},
        "langchain": {"type": "tool", "data": {"tool_call_id": "c", "content": text}},
        "sharegpt": {"from": "observation", "value": text},
        "openai_responses": {"type": "function_call_output", "call_id": "c", "output": text},
    }
    for name, record in results.items():
        [entry] = read_as(name, record).entries
        assert (entry.kind, entry.is_error) == (Kind.ERROR, True)


def test_several_sessions_in_one_file_are_told_apart() -> None:
    hi = {"openai_chat": {"messages": [USER]}, "sharegpt": {"conversations": [SHAREGPT[1]]}}
    for name, run in hi.items():
        transcript = read_as(name, {"id": "a", **run}, {"id": "b", **run})

        assert said(transcript) == [SAID[1], (Kind.SYSTEM, "Another session begins: b"), SAID[1]]


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("langchain", [{"type": "system", "content": "x"}, {"type": "user", "content": "y"}]),
        ("sharegpt", [{"messages": [USER]}]),
        ("openai_responses", [USER, {"role": "assistant", "content": "yes"}]),
        ("openai_responses", [{"input": "2 + 2", "output": "4", "instruction": "add"}]),
        ("openai_responses", [{"type": "reasoning", "id": "r", "summary": []}, {"type": "user", "content": "x"}]),
        ("openai_responses", [{"type": "turn.prompt", "input": [{"type": "text", "text": "hi"}]}]),
        ("openai_responses", [{"timestamp": "x", "type": "response_item", "payload": ITEMS[3]}]),
    ],
)
def test_what_others_wrote_is_left_alone(name: str, records: list[dict[str, Any]]) -> None:
    assert known_readers()[name].sniff(Sample("", tuple(records))) == 0


def test_bare_items_after_the_head_of_old_codex_are_not_taken_for_responses() -> None:
    meta = {"id": "s", "timestamp": "2025-07-01T00:00:00Z", "instructions": None}

    assert parse_transcript(orjson.dumps([meta, *ITEMS])).format == "codex"


@pytest.mark.parametrize(
    ("arguments", "given"),
    [("{bad", {"arguments": "{bad"}), ("[1]", {"arguments": [1]}), ("", None), (None, None), ({"a": 1}, {"a": 1})],
)
def test_arguments_that_are_no_object_are_kept_as_they_are(arguments: object, given: dict[str, Any] | None) -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}]}

    assert (read_as("openai_chat", message).entries[0].tool_input or None) == given


IMAGE = {"type": "image_url", "image_url": {}}


def test_what_is_no_text_or_no_message_is_counted() -> None:
    transcript = read_as("openai_chat", {"role": "user", "content": ["hi", IMAGE]}, {"kind": "note"})

    assert said(transcript) == [(Kind.USER, "hi")]
    assert transcript.skipped == {"image_url part": 1, "not a message": 1}


def test_messages_of_the_bare_api_are_read() -> None:
    history = [
        {"role": "user", "parts": [{"text": "Describe it"}, {"inlineData": {"data": "AAAA"}}], "ts": 1695000000},
        {"role": "model", "parts": [{"text": "A cat."}]},
    ]

    document = parse_transcript(orjson.dumps({"history": history, "summary": "Cats", "meta": {"model": "m"}}))

    assert document.format == "gemini"
    assert said(document) == [(Kind.USER, "Describe it"), (Kind.ASSISTANT, "A cat.")]
    assert (document.header.title, document.header.model, document.skipped) == ("Cats", "m", {"inlineData part": 1})
    assert said(parse_transcript(orjson.dumps(history))) == said(document)


TIME = "2026-02-03T00:25:13.595123456Z"


def event(kind: str, **fields: Any) -> Record:
    return {"_timestamp": TIME, "type": kind, **fields}


SESSION = [
    event("started", turn_id="t1"),
    event("user_message", content="List the files."),
    event("tool_request", tool_name="Bash", args={"command": "ls"}, request_id="r1", source={"type": "main"}),
    event("tool_result", tool_name="Bash", result="a.txt", success=True, request_id="r1", source={"type": "main"}),
    event("completed", response="One file.", input_tokens=200, output_tokens=100, duration_ms=5),
]


def as_array(*events: Record) -> bytes:
    return orjson.dumps(events, option=orjson.OPT_INDENT_2)


def as_legacy(*events: Record) -> bytes:
    return as_lines(*({**found, "_timestamp": 1_770_078_313_595} for found in events))


def as_array_with_lines(*events: Record) -> bytes:
    return as_array(*events[:2]) + b"\n" + as_lines(*events[2:])


@pytest.mark.parametrize("write", [as_lines, as_array, as_legacy, as_array_with_lines])
def test_all_forms_on_disk_say_the_same(write: Callable[..., bytes]) -> None:
    transcript = parse_transcript(write(*SESSION))

    assert transcript.format == "qbit"
    assert said(transcript) == [
        (Kind.USER, "List the files."),
        (Kind.TOOL_CALL, 'Bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.txt"),
        (Kind.ASSISTANT, "One file."),
    ]
    _, call, result, _ = transcript.entries
    assert call.call_id == result.call_id == "r1"
    assert call.tool_input == {"command": "ls"}
    assert all(entry.time and entry.time.isoformat().startswith("2026-02-03T00:25:13.595") for entry in transcript)
