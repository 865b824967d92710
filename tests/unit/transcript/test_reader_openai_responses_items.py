"""The calls of the Responses API, whose items are many."""

from typing import Any

import orjson
import pytest

from nous.transcript import Kind, Transcript, parse_transcript

CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": '{"command":"ls"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def read(*records: dict[str, Any]) -> Transcript:
    return parse_transcript(b"\n".join(map(orjson.dumps, records)), format="openai_responses")


@pytest.mark.parametrize(
    ("kind", "fields", "tool", "given"),
    [
        ("custom_tool_call", {"name": "exec", "input": "1+1"}, "exec", {"input": "1+1"}),
        ("local_shell_call", {"action": {"type": "exec", "command": ["ls"]}}, "local_shell", None),
        ("shell_call", {"action": {"commands": ["ls"]}}, "shell", None),
        ("computer_call", {"action": {"type": "click", "x": 1}}, "computer", None),
        ("of_next_year_call", {"action": {"a": 1}}, "of_next_year", None),
        ("apply_patch_call", {"operation": {"path": "a"}}, "apply_patch", {"path": "a"}),
        (
            "web_search_call",
            {"action": {"queries": ["x", "y"]}},
            "web_search",
            {"queries": ["x", "y"], "query": "x; y"},
        ),
        ("code_interpreter_call", {"code": "1+1", "outputs": None}, "code_interpreter", {"code": "1+1"}),
        ("image_generation_call", {"revised_prompt": "a cat"}, "image_generation", {"prompt": "a cat"}),
        ("tool_search_call", {"arguments": {"query": "x"}}, "tool_search", {"query": "x"}),
    ],
)
def test_calls_of_every_sort_name_their_tool(
    kind: str, fields: dict[str, Any], tool: str, given: dict[str, Any] | None
) -> None:
    (entry,) = read({"id": "x", "call_id": "c", "type": kind, **fields}).entries

    assert (entry.kind, entry.tool, entry.call_id) == (Kind.TOOL_CALL, tool, "c")
    assert entry.tool_input == (given or fields["action"])


@pytest.mark.parametrize(
    ("kind", "fields", "came", "text"),
    [
        ("mcp_call", {"name": "f", "output": "fine", "error": None}, Kind.TOOL_RESULT, "fine"),
        ("mcp_call", {"name": "f", "error": {"message": "boom"}}, Kind.ERROR, "boom"),
        ("file_search_call", {"results": [{"filename": "a.md", "text": "x"}]}, Kind.TOOL_RESULT, "a.md\nx"),
        ("code_interpreter_call", {"outputs": [{"type": "logs", "logs": "2"}]}, Kind.TOOL_RESULT, "2"),
        ("web_search_call", {"action": {"sources": [{"url": "u"}]}}, Kind.TOOL_RESULT, "u"),
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
        ("Error: boom", Kind.ERROR, "Error: boom"),
        ('{"output":"sea"}', Kind.TOOL_RESULT, '{"output":"sea"}'),
        ({"content": "x"}, Kind.TOOL_RESULT, '{\n  "content": "x"\n}'),
        ([{"stdout": "a\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}], Kind.TOOL_RESULT, "a"),
        ([{"stdout": "", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}}], Kind.ERROR, "b\nexit code 1"),
        ([{"stdout": "a", "outcome": {"type": "timeout"}}], Kind.ERROR, "a\ntimeout"),
        ("Tool execution was not approved.", Kind.DECISION, 'Rejected bash(cmd="ls")'),
    ],
)
def test_outputs_of_every_shape_are_understood(output: object, kind: Kind, text: str) -> None:
    _, result = read(CALL, {**OUTPUT, "output": output}).entries

    assert (result.kind, result.text) == (kind, text)


def test_a_patch_that_failed_is_an_error() -> None:
    item = {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no such file"}

    assert said(read(item)) == [(Kind.ERROR, "no such file")]


def test_an_output_of_the_first_shells_names_its_call_as_its_id() -> None:
    call = {"type": "local_shell_call", "id": "l1", "action": {"type": "exec", "command": ["ls"]}}

    transcript = read(call, {"type": "local_shell_call_output", "id": "l1", "output": "a.txt"})

    assert [entry.call_id for entry in transcript] == ["l1", "l1"]
    assert transcript.entries[1].text == "a.txt"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"approve": True}, "Approved post"),
        ({"approve": False}, "Rejected post"),
        ({"approve": False, "reason": "too early"}, "Rejected post: too early"),
    ],
)
def test_an_approval_is_the_users_decision(fields: dict[str, Any], text: str) -> None:
    asked = {"type": "mcp_approval_request", "id": "r1", "name": "post", "arguments": "{}"}

    transcript = read(asked, {"type": "mcp_approval_response", "approval_request_id": "r1", **fields})

    assert said(transcript) == [(Kind.DECISION, text)]
