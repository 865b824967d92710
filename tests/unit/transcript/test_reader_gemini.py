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
