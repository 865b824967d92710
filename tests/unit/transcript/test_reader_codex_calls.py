import orjson
import pytest
from builders.codex import LS, MADE, Record, called, done, event, item, line, message, output, read, said, typed

from nous.transcript import Kind

PATCH = "*** Update File: a.py\n"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (item("custom_tool_call", name="apply_patch", call_id="c", input=PATCH), "apply_patch(a.py)"),
        (item("custom_tool_call", name="shell", call_id="c", input='{"command":["ls"]}'), 'shell(cmd="ls")'),
        (item("local_shell_call", call_id="c", action={"command": ["bash", "-lc", "ls"]}), 'local_shell(cmd="ls")'),
        (item("function_call", namespace="mcp__web__", name="get", call_id="c", arguments="{}"), "mcp__web__get"),
        (item("image_generation_call", id="i", revised_prompt="a cat"), 'image_generation(prompt="a cat")'),
    ],
)
def test_calls_come_in_many_forms(made: Record, text: str) -> None:
    (entry,) = read(made).entries

    assert (entry.kind, entry.tool, entry.text) == (Kind.TOOL_CALL, text.partition("(")[0], text)


CAME, WRONG = Kind.TOOL_RESULT, Kind.ERROR
EXIT = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {}\nOutput:\nExit code: 1"


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ("a", CAME, "a"),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], CAME, "a\n\nb"),
        ('{"output":"a","metadata":{"exit_code":0}}', CAME, "a"),
        ('{"output":"no","metadata":{"exit_code":1}}', WRONG, "no"),
        ('[{"type":"text","text":"a"}]', CAME, "a"),
        ('[{"type":"fish"}]', CAME, '[{"type":"fish"}]'),
        ({"content": "a", "success": True}, CAME, "a"),
        ({"content": "no", "success": False}, WRONG, "no"),
        ({"stdout": "a\n", "stderr": "b", "exitCode": 0}, CAME, "a\nb"),
        ({"stdout": "", "stderr": "no", "exitCode": 1}, WRONG, "no"),
        (None, CAME, ""),
        (EXIT.format(0), CAME, EXIT.format(0)),
        *((text, WRONG, text) for text in (EXIT.format(127), "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno")),
        *((text, WRONG, text) for text in ("apply_patch verification failed: no such file", "unsupported call: fish")),
    ],
)
def test_results_come_in_many_forms_and_may_be_errors(given: object, kind: Kind, text: str) -> None:
    assert said(LS, output(given))[1] == (kind, text)


@pytest.mark.parametrize(
    "text",
    [
        "exec command rejected by user",
        'exec_command failed for `ls`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
    ],
)
def test_a_rejection_is_the_users_decision_if_the_user_is_asked_at_all(text: str) -> None:
    assert said(LS, output(text))[1] == (Kind.DECISION, 'Rejected exec_command(cmd="ls")')
    assert said(line("turn_context", approval_policy="never"), LS, output(text))[1] == (Kind.ERROR, text)


def test_an_interruption_is_a_decision_and_told_once() -> None:
    aborted = event("turn_aborted", reason="interrupted")
    marker = message("user", "<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>")

    assert said(marker, aborted) == said(aborted) == said(marker) == [(Kind.DECISION, "Interrupted the turn")]
    assert said(LS, output("aborted by user after 3.2s"), marker, aborted) == [
        MADE,
        (Kind.DECISION, 'Interrupted exec_command(cmd="ls")'),
    ]
    assert [kind for kind, _ in said(aborted, typed("a"), aborted)] == [Kind.DECISION, Kind.USER, Kind.DECISION]
    assert said(event("turn_aborted", reason="replaced")) == [(Kind.SYSTEM, "The turn was ended: replaced")]


def test_answers_to_questions_are_decisions() -> None:
    asked = called("request_user_input", {"questions": [{"id": "colour", "question": "Which?"}]})
    answers = {"answers": {"colour": {"answers": ["Red", "user_note: dark"]}}}

    assert said(asked, output(orjson.dumps(answers).decode()))[1] == (Kind.DECISION, "Answered: colour: Red, dark")
    assert said(asked, output("cancelled"))[1] == (Kind.TOOL_RESULT, "cancelled")


def test_the_end_of_a_command_does_not_repeat_its_result_but_tells_that_it_failed() -> None:
    ended = event("exec_command_end", call_id="c1", command=["ls"], exit_code=2, aggregated_output="no")

    assert said(LS, ended, output("no")) == [MADE, (Kind.ERROR, "no")]
    assert said(LS, output("no"), ended) == [MADE, (Kind.TOOL_RESULT, "no")]


PRINTED = {"Ok": {"content": [{"type": "text", "text": "a"}], "isError": False}}
MCP = {"call_id": "n", "invocation": {"server": "s", "tool": "t", "arguments": {}}}
FAILED = {"id": "n", "exit_code": 1, "status": "failed", "aggregated_output": "no"}
PATCHED = {"success": False, "stderr": "no", "changes": {"/a": {}, "/b": {}}}


@pytest.mark.parametrize(
    ("ended", "call", "result"),
    [
        (
            event("exec_command_end", call_id="n", command=["bash", "-lc", "ls"], exit_code=0, stdout="a\n"),
            'exec_command(cmd="ls")',
            (Kind.TOOL_RESULT, "a"),
        ),
        (event("patch_apply_end", call_id="n", **PATCHED), "apply_patch(/a, /b)", (Kind.ERROR, "no")),
        (event("mcp_tool_call_end", **MCP, result=PRINTED), "mcp__s__t", (Kind.TOOL_RESULT, "a")),
        (event("mcp_tool_call_end", **MCP, result={"Err": "no"}), "mcp__s__t", (Kind.ERROR, "no")),
        (done("CommandExecution", command=["ls"], **FAILED), 'exec_command(cmd="ls")', (Kind.ERROR, "no")),
    ],
)
def test_calls_that_only_events_tell_are_told_by_them_once(ended: Record, call: str, result: tuple[Kind, str]) -> None:
    assert said(ended) == said(ended, ended) == [(Kind.TOOL_CALL, call), result]
