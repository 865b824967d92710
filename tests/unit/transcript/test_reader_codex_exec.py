from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, outcome, read_as

from nous.transcript import Kind

read = partial(read_as, "codex_exec")


def done(kind: str, own: str = "item_0", **fields: Any) -> Record:
    return {"type": "item.completed", "item": {"id": own, "type": kind, **fields}}


def begun(kind: str, own: str = "item_0", **fields: Any) -> Record:
    return {"type": "item.started", "item": {"id": own, "type": kind, "status": "in_progress", **fields}}


def msg(kind: str, **fields: Any) -> Record:
    return {"id": "0", "msg": {"type": kind, **fields}}


LS = {"command": "bash -lc ls"}
RAN = done("command_execution", **LS, aggregated_output="a\nb\n", exit_code=0, status="completed")


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (done("command_execution", **LS, aggregated_output="no", exit_code=1, status="failed"), (Kind.ERROR, "no")),
        (done("command_execution", **LS, aggregated_output="no", status="declined"), (Kind.ERROR, "no")),
        (done("mcp_tool_call", server="s", tool="t", error={"message": "no"}, status="failed"), (Kind.ERROR, "no")),
        (
            done("mcp_tool_call", server="s", tool="t", result={"content": [{"type": "text", "text": "a"}]}),
            (Kind.TOOL_RESULT, "a"),
        ),
        (RAN, (Kind.TOOL_RESULT, "a\nb")),
        (done("error", message="quota"), (Kind.ERROR, "quota")),
        ({"type": "error", "message": "quota"}, (Kind.ERROR, "quota")),
        ({"type": "turn.failed", "error": {"message": "quota"}}, (Kind.ERROR, "quota")),
        (done("web_search", query="x"), (Kind.TOOL_CALL, 'web_search(query="x")')),
        ({"type": "item.completed", "item": {"item_type": "assistant_message", "text": "a"}}, (Kind.ASSISTANT, "a")),
        ({"type": "item.updated", "item": {"type": "todo_list"}}, "item under way"),
        (begun("todo_list"), "item under way"),
        (done("todo_list", items=[]), "item: todo_list"),
        ({"type": "of.next.year"}, "of.next.year"),
        ({"x": 1}, "no type"),
        (msg("of_next_year"), "of_next_year"),
    ],
)
def test_a_record_becomes_an_entry_or_is_counted(record: Record, expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(record)) == expected


def test_files_that_were_changed_are_known() -> None:
    for status, kind in (("completed", Kind.TOOL_RESULT), ("failed", Kind.ERROR)):
        call, result = read(done("file_change", changes=[{"path": "/a", "kind": "add"}], status=status)).entries

        assert (call.tool, call.paths, result.kind) == ("apply_patch", ("/a",), kind)
