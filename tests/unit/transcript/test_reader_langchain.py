from typing import Any

import orjson
import pytest

from nous.transcript import Kind, Transcript, parse_transcript
from nous.transcript.reader import Sample
from nous.transcript.readers.langchain import READER

CALL = {"name": "bash", "args": {"command": "ls"}, "id": "c1", "type": "tool_call"}
FIELDS: list[tuple[str, dict[str, Any]]] = [
    ("system", {"content": "Be brief."}),
    ("human", {"content": "Where is A1?"}),
    ("ai", {"content": "Looking.", "tool_calls": [CALL], "invalid_tool_calls": []}),
    ("tool", {"content": "a.txt", "name": "bash", "tool_call_id": "c1", "status": "success"}),
    ("ai", {"content": [{"type": "text", "text": "Here."}], "tool_calls": []}),
]
SAID = [
    (Kind.SYSTEM, "Be brief."),
    (Kind.USER, "Where is A1?"),
    (Kind.ASSISTANT, "Looking."),
    (Kind.TOOL_CALL, 'bash(cmd="ls")'),
    (Kind.TOOL_RESULT, "a.txt"),
    (Kind.ASSISTANT, "Here."),
]
CLASSES = {"system": "SystemMessage", "human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}


def as_dict(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "data": {**fields, "type": kind}}


def as_constructor(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    path = ["langchain", "schema", "messages", CLASSES.get(kind, kind)]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}


def as_plain(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"additional_kwargs": {}, "response_metadata": {}, **fields, "type": kind}


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def read(*messages: tuple[str, dict[str, Any]]) -> Transcript:
    return parse_transcript([as_dict(kind, fields) for kind, fields in messages], format="langchain")


@pytest.mark.parametrize("write", [as_dict, as_constructor, as_plain])
def test_all_forms_say_the_same_in_every_container(write: Any) -> None:
    messages = [write(kind, fields) for kind, fields in FIELDS]
    containers = (
        orjson.dumps(messages),
        b"\n".join(map(orjson.dumps, messages)),
        orjson.dumps({"messages": messages}),
        orjson.dumps({"messages": [messages]}),
        orjson.dumps({"values": {"messages": messages}, "next": []}),
        orjson.dumps({"lc": 1, "type": "constructor", "id": ["ChatPromptValue"], "kwargs": {"messages": messages}}),
    )

    for content in containers:
        transcript = parse_transcript(content)
        assert transcript.format == "langchain"
        assert said(transcript) == SAID


def test_messages_of_others_are_left_alone() -> None:
    others = [{"type": "system", "content": "x"}, {"type": "user", "content": "y"}]

    assert parse_transcript([{"role": "user", "content": "hi"}]).format == "openai_chat"
    assert READER.sniff(Sample("", tuple(others))) == 0


def test_a_result_finds_its_call() -> None:
    call, result = read(*FIELDS).entries[3:5]

    assert (call.call_id, result.call_id, result.tool) == ("c1", "c1", "bash")
    assert call.tool_input == {"command": "ls"}


OF_OPENAI = {"name": "f", "arguments": '{"a":1}'}


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "", "additional_kwargs": {"tool_calls": [{"id": "c", "function": OF_OPENAI}]}},
        {"content": "", "additional_kwargs": {"function_call": OF_OPENAI}},
        {"content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}]},
        {"content": "", "invalid_tool_calls": [{"id": "c", "name": "f", "args": '{"a":1}', "error": "x"}]},
    ],
    ids=["additional_kwargs", "function_call", "block", "invalid"],
)
def test_calls_are_found_where_old_dumps_and_providers_keep_them(fields: dict[str, Any]) -> None:
    (call,) = read(("ai", fields)).entries

    assert (call.kind, call.tool, call.tool_input) == (Kind.TOOL_CALL, "f", {"a": 1})


def test_a_call_that_is_kept_twice_is_told_once() -> None:
    block = {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}}

    assert len(read(("ai", {"content": [block], "tool_calls": [CALL]})).entries) == 1


def test_the_result_of_a_function_is_paired_by_its_name() -> None:
    transcript = read(
        ("ai", {"content": "", "additional_kwargs": {"function_call": {"name": "f", "arguments": "{}"}}}),
        ("function", {"name": "f", "content": "done"}),
    )

    assert said(transcript) == [(Kind.TOOL_CALL, "f"), (Kind.TOOL_RESULT, "done")]
    assert transcript.entries[0].call_id == transcript.entries[1].call_id


@pytest.mark.parametrize("fields", [{"content": "boom", "status": "error"}, {"content": "Error: boom"}])
def test_a_failure_is_told_by_its_status_or_its_words(fields: dict[str, Any]) -> None:
    (entry,) = read(("tool", {"tool_call_id": "c", **fields})).entries

    assert (entry.kind, entry.is_error) == (Kind.ERROR, True)


@pytest.mark.parametrize(
    ("content", "decision"),
    [
        ("User rejected the tool call for `bash` with id c1. The tool was not executed.", 'Rejected bash(cmd="ls")'),
        ("User rejected the tool call for `bash` with reason: not now", 'Rejected bash(cmd="ls"): not now'),
    ],
)
def test_a_rejection_is_the_users_decision(content: str, decision: str) -> None:
    transcript = read(FIELDS[2], ("tool", {"content": content, "tool_call_id": "c1", "status": "error"}))

    assert said(transcript)[-1] == (Kind.DECISION, decision)


def test_a_summary_is_not_the_users_word() -> None:
    transcript = read(("human", {"content": "So far ...", "additional_kwargs": {"lc_source": "summarization"}}))

    assert said(transcript) == [(Kind.SUMMARY, "So far ...")]


def test_pieces_of_an_answer_become_one() -> None:
    calls = [
        {"name": "bash", "args": '{"comm', "id": "c1", "index": 0},
        {"name": None, "args": 'and":"ls"}', "id": None, "index": 0},
        {"name": "pwd", "args": "{}", "id": "c2", "index": 1},
    ]
    pieces = [
        {"content": "Loo", "id": "run-1"},
        {"content": [{"type": "text", "text": "king."}], "id": "run-1"},
        *({"content": "", "id": "run-1", "tool_call_chunks": [call]} for call in calls),
    ]

    transcript = read(*(("AIMessageChunk", piece) for piece in pieces), ("ai", {"content": "Looking.", "id": "run-1"}))

    assert said(transcript) == [
        (Kind.ASSISTANT, "Looking."),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_CALL, "pwd"),
    ]
    assert transcript.skipped == {"repeated message": 1}


def test_a_streamed_answer_ends_with_its_last_piece_or_with_the_next_message() -> None:
    transcript = read(
        ("AIMessageChunk", {"content": "one", "chunk_position": "last"}),
        ("AIMessageChunk", {"content": "two"}),
        ("human", {"content": "hi"}),
        ("AIMessageChunk", {"content": "three"}),
    )

    assert said(transcript) == [
        (Kind.ASSISTANT, "one"),
        (Kind.ASSISTANT, "two"),
        (Kind.USER, "hi"),
        (Kind.ASSISTANT, "three"),
    ]


def test_states_of_a_graph_repeat_what_was_said() -> None:
    first, second = as_dict("human", {"content": "hi", "id": "m1"}), as_dict("ai", {"content": "yes", "id": "m2"})
    other = as_dict("human", {"content": "new", "id": "m3"})
    states = [{"messages": [first]}, {"messages": [first, second]}, {"thread_id": "t2", "messages": [other]}]

    transcript = parse_transcript(b"\n".join(map(orjson.dumps, states)))

    assert said(transcript) == [
        (Kind.USER, "hi"),
        (Kind.ASSISTANT, "yes"),
        (Kind.SYSTEM, "Another session begins: t2"),
        (Kind.USER, "new"),
    ]
    assert [entry.id for entry in transcript][:2] == ["m1", "m2"]


def test_the_model_and_its_tokens_are_learned() -> None:
    usage = {"input_tokens": 10, "output_tokens": 2}

    transcript = read(
        ("ai", {"content": "a", "usage_metadata": usage, "response_metadata": {"model_name": "gpt"}}),
        ("ai", {"content": "b", "usage_metadata": usage}),
    )

    header = transcript.header
    assert (header.model, header.input_tokens, header.output_tokens) == ("gpt", 20, 4)


def test_roles_of_a_chat_message_are_understood() -> None:
    roles = ("user", "assistant", "critic")

    transcript = read(*(("chat", {"role": role, "content": role}) for role in roles))

    assert [entry.kind for entry in transcript] == [Kind.USER, Kind.ASSISTANT, Kind.SYSTEM]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (as_dict("remove", {"id": "m1"}), "remove"),
        (as_dict("human", {"content": [{"type": "image_url"}]}), "image_url part"),
        (as_dict("ai", {"content": [{"type": "reasoning", "reasoning": "hm"}]}), "thinking"),
        (as_dict("ai", {"content": "", "additional_kwargs": {"reasoning_content": "hm"}}), "thinking"),
        ({"kind": "note"}, "not a message"),
        (as_dict("system", {"content": ""}), "empty message"),
    ],
)
def test_what_is_passed_over_is_counted(message: dict[str, Any], reason: str) -> None:
    transcript = parse_transcript([message], format="langchain")

    assert transcript.entries == ()
    assert transcript.skipped[reason] == 1
