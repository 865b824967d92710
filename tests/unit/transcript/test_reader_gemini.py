from typing import Any

import orjson
import pytest
from builders.transcripts import Record, read_as, said

from nous.transcript import Kind, Transcript, parse_transcript

TIME = "2026-04-29T21:39:33.155Z"
HEADER: Record = {"sessionId": "s1", "projectHash": "0b7d", "startTime": TIME, "kind": "main"}
CONTEXT = "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/a/b\n</session_context>"


def message(own: str, kind: str, content: Any, **more: Any) -> Record:
    return {"id": own, "timestamp": TIME, "type": kind, "content": content, **more}


def call(own: str, tool: str, args: Record, status: str = "success", **more: Any) -> Record:
    return {"id": own, "name": tool, "args": args, "status": status, **more}


def came(own: str, **response: Any) -> list[Record]:
    return [{"functionResponse": {"id": own, "name": "t", "response": response}}]


def read(*messages: Record) -> Transcript:
    return read_as("gemini", HEADER, *messages)


def test_a_message_that_is_written_again_is_told_once_with_what_is_new() -> None:
    asked = call("c1", "read_file", {"file_path": "/a"}, "executing")
    done = call("c1", "read_file", {"file_path": "/a"}, result=came("c1", output="text of a"))
    next_one = call("c2", "read_file", {"file_path": "/b"}, result=came("c2", output="text of b"))
    thoughts = [{"subject": "One"}, {"subject": "Two"}]

    transcript = read(
        message("g1", "gemini", "Reading.", thoughts=thoughts[:1], toolCalls=[asked]),
        message("g1", "gemini", "Reading.", thoughts=thoughts, toolCalls=[done], tokens={"input": 5, "output": 1}),
        message("g1", "gemini", "Reading.", toolCalls=[done, next_one], tokens={"input": 5, "output": 2}),
    )

    assert said(transcript) == [
        (Kind.ASSISTANT, "Reading."),
        (Kind.TOOL_CALL, "read_file(/a)"),
        (Kind.TOOL_RESULT, "text of a"),
        (Kind.TOOL_CALL, "read_file(/b)"),
        (Kind.TOOL_RESULT, "text of b"),
    ]
    assert transcript.skipped == {"thinking": 2, "repeated message": 2}
    assert (transcript.header.input_tokens, transcript.header.output_tokens) == (5, 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("/help", None),
        ("/memory add use tabs", "/memory add use tabs"),
        (CONTEXT, None),
        ("System: Please continue.", None),
        ([{"text": "fix it"}, {"text": "<hook_context>by a hook</hook_context>"}], "fix it"),
        (
            [{"text": "read @a"}, {"text": "\n--- Content from referenced files ---"}, {"text": "secret of a"}],
            "read @a",
        ),
        ("I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n...", "! ls"),
        ("User steering update:\n<user_input>\nnot there\n</user_input>\nInternal instruction: x", "not there"),
    ],
)
def test_only_what_was_typed_is_the_users(content: Any, words: str | None) -> None:
    transcript = read(message("u", "user", content))

    assert [entry.text for entry in transcript if entry.kind is Kind.USER] == ([words] if words else [])


def test_what_was_shown_to_the_user_is_what_was_typed_and_a_bare_command_is_an_act() -> None:
    expanded = message("u", "user", [{"text": "long prompt of a command"}], displayContent="/review main")

    assert said(read(expanded, message("v", "user", "/compress"))) == [
        (Kind.USER, "/review main"),
        (Kind.SYSTEM, "/compress"),
    ]


def test_notices_are_told_if_they_matter() -> None:
    transcript = read(
        message("i1", "info", "Gemini CLI update available!"),
        message("i2", "info", "Request cancelled."),
        message("w", "warning", "Hook failed"),
        message("e", "error", [{"text": "[API Error: 429]"}]),
        message("e", "error", [{"text": "[API Error: 429]"}]),
        message("n", "novelty", "?"),
    )

    assert said(transcript) == [
        (Kind.SYSTEM, "Request cancelled."),
        (Kind.SYSTEM, "Hook failed"),
        (Kind.ERROR, "[API Error: 429]"),
    ]
    assert transcript.skipped == {"info": 1, "novelty": 1, "repeated message": 1}


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


def made(*calls: Record) -> Transcript:
    return read_as("gemini", {"id": "g", "type": "gemini", "toolCalls": calls})


EXITED = "Command: x\nOutput: y\nError: (none)\nExit Code: {}\nSignal: 0"
CANCELLED = "[Operation Cancelled] Reason:"
SHELL, RM = "run_shell_command", 'Rejected run_shell_command(cmd="rm a")'
OUTCOMES = [
    ((SHELL, "cancelled", f"{CANCELLED} User did not allow tool call"), (Kind.DECISION, RM)),
    ((SHELL, "cancelled", f"{CANCELLED} keep a"), (Kind.DECISION, f"{RM}: keep a")),
    (("read_file", "error", "File not found"), (Kind.ERROR, "File not found")),
    *(((SHELL, "", EXITED.format(code)), (Kind.TOOL_RESULT, EXITED.format(code))) for code in ("0", "(none)")),
    *(((SHELL, "", EXITED.format(code)), (Kind.ERROR, EXITED.format(code))) for code in ("1", "-1")),
    (("read_file", "", EXITED.format("1")), (Kind.TOOL_RESULT, EXITED.format("1"))),
    (("exit_plan_mode", "", "Plan approved. Switching to Default mode."), (Kind.DECISION, "Approved the plan")),
    (("exit_plan_mode", "", "Plan rejected: smaller"), (Kind.DECISION, "Rejected the plan: Plan rejected: smaller")),
    (("ask_user", "", "Postgres"), (Kind.DECISION, "Answered: Postgres")),
    (("ask_user", "cancelled", ""), (Kind.DECISION, "Rejected ask_user")),
]


@pytest.mark.parametrize(("called", "expected"), OUTCOMES)
def test_what_came_of_a_call_is_told(called: tuple[str, str, str], expected: tuple[Kind, str]) -> None:
    tool, status, text = called
    result = came("c", **{"error" if status else "output": text})

    entry = made(call("c", tool, {"command": "rm a"}, status or "success", result=result)).entries[-1]

    assert (entry.kind, entry.text, entry.is_error) == (*expected, expected[0] is Kind.ERROR)


def test_a_call_with_an_error_is_one_whatever_its_status() -> None:
    entry = made(call("c", "read_file", {}, result=came("c", error="File not found"))).entries[-1]

    assert (entry.kind, entry.text) == (Kind.ERROR, "File not found")


def test_a_result_is_taken_from_its_own_answer_or_else_from_what_was_shown() -> None:
    both = [*came("c2", output="other"), *came("c1", output="own")]
    transcript = made(
        call("c1", "glob", {"pattern": "*"}, result=both),
        call("c3", "glob", {"pattern": "*"}, result=[{"text": "as text"}]),
        call("c4", "glob", {"pattern": "*"}, resultDisplay="as shown"),
        call("c5", "glob", {"pattern": "*"}, "executing"),
    )

    results = [entry.text for entry in transcript if entry.kind is Kind.TOOL_RESULT]
    assert results == ["own", "as text", "as shown"]
