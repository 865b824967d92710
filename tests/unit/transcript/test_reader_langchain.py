"""What is LangChain's own; what it shares with other chats is in `test_reader_chats.py`."""

from typing import Any

import pytest
from builders.transcripts import outcome, read_as, said

from nous.transcript import Kind, Transcript

LS = {"name": "bash", "args": {"command": "ls"}, "id": "c1", "type": "tool_call"}
CALLED = ("ai", {"content": "", "tool_calls": [LS]})
OF_OPENAI = {"name": "f", "arguments": '{"a":1}'}


def as_dict(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "data": {**fields, "type": kind}}


def read(*messages: tuple[str, dict[str, Any]]) -> Transcript:
    return read_as("langchain", *(as_dict(kind, fields) for kind, fields in messages))


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "", "additional_kwargs": {"tool_calls": [{"id": "c", "function": OF_OPENAI}]}},
        {"content": "", "additional_kwargs": {"function_call": OF_OPENAI}},
        {"content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}]},
        {"content": [{"type": "tool_use", "name": "f"}], "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}]},
        {"content": "", "invalid_tool_calls": [{"id": "c", "name": "f", "args": '{"a":1}', "error": "x"}]},
    ],
    ids=["additional_kwargs", "function_call", "block", "block and call", "invalid"],
)
def test_calls_are_found_where_old_dumps_and_providers_keep_them(fields: dict[str, Any]) -> None:
    (call,) = read(("ai", fields)).entries

    assert (call.kind, call.tool, call.tool_input) == (Kind.TOOL_CALL, "f", {"a": 1})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"content": "boom", "status": "error"}, (Kind.ERROR, "boom")),
        ({"content": "User rejected the tool call for `bash`."}, (Kind.DECISION, 'Rejected bash(cmd="ls")')),
        (
            {"content": "User rejected the tool call for `bash` with reason: not now", "status": "error"},
            (Kind.DECISION, 'Rejected bash(cmd="ls"): not now'),
        ),
    ],
)
def test_what_came_of_a_call_is_told(fields: dict[str, Any], expected: tuple[Kind, str]) -> None:
    assert said(read(CALLED, ("tool", {"tool_call_id": "c1", **fields})))[-1] == expected


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

    pieces = [{"content": "one", "chunk_position": "last"}, {"content": "two"}]

    transcript = read(*(("AIMessageChunk", piece) for piece in pieces), ("human", {"content": "hi"}))

    assert [entry.text for entry in transcript] == ["one", "two", "hi"]


def test_states_of_a_graph_repeat_what_was_said() -> None:
    first, second = as_dict("human", {"content": "hi", "id": "m1"}), as_dict("ai", {"content": "yes", "id": "m2"})

    transcript = read_as("langchain", {"messages": [first]}, {"messages": [first, second]})

    assert said(transcript) == [(Kind.USER, "hi"), (Kind.ASSISTANT, "yes")]
    assert [entry.id for entry in transcript] == ["m1", "m2"]


def test_the_model_and_its_tokens_are_learned() -> None:
    usage = {"input_tokens": 10, "output_tokens": 2}

    header = read(
        ("ai", {"content": "a", "usage_metadata": usage, "response_metadata": {"model_name": "gpt"}}),
        ("ai", {"content": "b", "usage_metadata": usage}),
    ).header

    assert (header.model, header.input_tokens, header.output_tokens) == ("gpt", 20, 4)


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("human", {"additional_kwargs": {"lc_source": "summarization"}}, (Kind.SUMMARY, "So far")),
        ("function", {"name": "f"}, (Kind.TOOL_RESULT, "So far")),
        ("chat", {"role": "user"}, (Kind.USER, "So far")),
        ("chat", {"role": "assistant"}, (Kind.ASSISTANT, "So far")),
        ("chat", {"role": "critic"}, (Kind.SYSTEM, "So far")),
        ("remove", {"id": "m1"}, "remove"),
        ("human", {"content": [{"type": "image_url"}]}, "image_url part, empty message"),
        ("ai", {"content": [{"type": "reasoning", "reasoning": "hm"}]}, "thinking"),
        ("ai", {"content": "", "additional_kwargs": {"reasoning_content": "hm"}}, "thinking"),
        ("note", {}, "not a message"),
        ("system", {"content": ""}, "empty message"),
    ],
)
def test_a_message_becomes_an_entry_or_is_counted(
    kind: str, fields: dict[str, Any], expected: tuple[Kind, str] | str
) -> None:
    assert outcome(read((kind, {"content": "So far", **fields}))) == expected
