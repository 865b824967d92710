"""What is the Responses API's own; what it shares with other chats is in `test_reader_chats.py`."""

from typing import Any

import pytest
from builders.transcripts import outcome, read_as, said

from nous.transcript import Kind, Transcript, known_readers
from nous.transcript.reader import Sample

USER = {"role": "user", "content": [{"type": "input_text", "text": "Where is A1?"}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": '{"command":"ls"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}
ANSWER = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "At sea.", "annotations": []}],
}
ITEMS: list[dict[str, Any]] = [{"role": "developer", "content": "Be brief."}, USER, CALL, OUTPUT, ANSWER]
SAID = [
    (Kind.SYSTEM, "Be brief."),
    (Kind.USER, "Where is A1?"),
    (Kind.TOOL_CALL, 'bash(cmd="ls")'),
    (Kind.TOOL_RESULT, "a.txt"),
    (Kind.ASSISTANT, "At sea."),
]


def read(*records: dict[str, Any]) -> Transcript:
    return read_as("openai_responses", *records)


def test_bare_items_of_old_codex_are_left_to_whoever_is_surer() -> None:
    meta = {"id": "s", "timestamp": "2025-07-01T00:00:00Z", "instructions": None}

    assert 0.5 < known_readers()["openai_responses"].sniff(Sample("", (meta, *ITEMS))) < 0.7


def test_a_request_that_repeats_the_conversation_tells_only_what_is_new() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    first = {"model": "gpt", "id": "resp_1", "input": [USER], "output": [thought, CALL]}
    second = {"model": "gpt", "id": "resp_2", "input": [USER, {**CALL, "id": None}, OUTPUT], "output": [ANSWER]}

    transcript = read(first, second)

    assert said(transcript) == SAID[1:]
    assert transcript.skipped == {"empty reasoning": 1, "repeated item": 2}


BODY = {"object": "response", "output": list[Any]()}
AGAIN = {"model": "gpt", "input": "again"}


@pytest.mark.parametrize(
    ("bodies", "expected"),
    [
        (
            [{**AGAIN, "output": [ANSWER]}, {**AGAIN, "previous_response_id": "resp_1"}],
            [(Kind.USER, "again"), SAID[-1], (Kind.USER, "again")],
        ),
        (
            [{"model": "gpt", "input": "one"}, {"model": "gpt", "input": "two"}],
            [(Kind.USER, "one"), (Kind.USER, "two")],
        ),
        ([{**BODY, "instructions": text} for text in ("a", "a", "b")], [(Kind.SYSTEM, "a"), (Kind.SYSTEM, "b")]),
        (
            [{**BODY, "error": {"message": "boom"}}, {**BODY, "incomplete_details": {"reason": "max_output_tokens"}}],
            [(Kind.ERROR, "boom"), (Kind.SYSTEM, "The answer is incomplete: max_output_tokens")],
        ),
    ],
    ids=["continued by id", "another session", "instructions", "failed and incomplete"],
)
def test_bodies_are_told_in_order(bodies: list[dict[str, Any]], expected: list[tuple[Kind, str]]) -> None:
    assert said(read(*bodies)) == expected


def test_ids_and_times_are_those_of_the_item() -> None:
    answer, call = read({**BODY, "created_at": 1767000000, "output": [ANSWER, CALL]}).entries

    assert (answer.id, call.id, call.call_id) == ("msg_1", "fc_1", "c1")
    assert answer.time is not None
    assert answer.time.timestamp() == 1767000000


def test_an_answer_that_is_asked_for_twice_is_counted_once() -> None:
    usage = {"input_tokens": 7, "output_tokens": 3}
    answer = {"object": "response", "id": "resp_1", "model": "gpt", "output": [ANSWER], "usage": usage}

    transcript = read(answer, answer, {**answer, "id": "resp_2", "output": [], "conversation": {"id": "conv_1"}})

    header = transcript.header
    assert (header.model, header.session_id, header.input_tokens, header.output_tokens) == ("gpt", "conv_1", 14, 6)
    assert transcript.skipped == {"repeated response": 1}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}, "thinking"),
        ({"type": "mcp_list_tools", "id": "m", "tools": []}, "mcp_list_tools"),
        ({"role": "user", "content": [{"type": "input_image"}]}, "input_image part"),
        ({"note": 1}, "not an item"),
        (
            {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no such file"},
            (Kind.ERROR, "no such file"),
        ),
    ],
)
def test_an_item_becomes_an_entry_or_is_counted(item: dict[str, Any], expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(item)) == expected


@pytest.mark.parametrize(
    ("kind", "fields", "came", "text"),
    [
        ("mcp_call", {"name": "f", "output": "fine", "error": None}, Kind.TOOL_RESULT, "fine"),
        ("mcp_call", {"name": "f", "error": {"message": "boom"}}, Kind.ERROR, "boom"),
        ("file_search_call", {"results": [{"filename": "a.md", "text": "x"}]}, Kind.TOOL_RESULT, "a.md\nx"),
        ("code_interpreter_call", {"outputs": [{"type": "logs", "logs": "2"}]}, Kind.TOOL_RESULT, "2"),
        ("web_search_call", {"status": "failed", "action": {"query": "x"}}, Kind.ERROR, "failed"),
    ],
)
def test_what_the_platform_ran_itself_tells_its_result(
    kind: str, fields: dict[str, Any], came: Kind, text: str
) -> None:
    call, result = read({"id": "x", "type": kind, **fields}).entries

    assert (result.kind, result.text, result.call_id) == (came, text, call.call_id)


@pytest.mark.parametrize(
    ("output", "kind", "text"),
    [
        ([{"type": "input_text", "text": "one"}, {"type": "input_image", "image_url": "x"}], Kind.TOOL_RESULT, "one"),
        ({"type": "computer_screenshot", "image_url": "x"}, Kind.TOOL_RESULT, ""),
        ("Error: boom", Kind.ERROR, "Error: boom"),
        ([{"stdout": "", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}}], Kind.ERROR, "b"),
        ("Tool execution was not approved.", Kind.DECISION, 'Rejected bash(cmd="ls")'),
    ],
)
def test_outputs_of_every_shape_are_understood(output: object, kind: Kind, text: str) -> None:
    _, result = read(CALL, {**OUTPUT, "output": output}).entries

    assert (result.kind, result.text) == (kind, text)


def test_an_approval_is_the_users_decision() -> None:
    asked = {"type": "mcp_approval_request", "id": "r1", "name": "post", "arguments": "{}"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "r1", "approve": False, "reason": "too early"}

    assert said(read(asked, answer)) == [(Kind.DECISION, "Rejected post: too early")]
    assert said(read(asked, {**answer, "approve": True})) == [(Kind.DECISION, "Approved post")]
