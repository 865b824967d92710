"""What is SWE-agent's own; what it shares with other chats is in `test_reader_chats.py`."""

from typing import Any

import orjson
import pytest
from builders.transcripts import read_as, said

from nous.transcript import Kind, Transcript, parse_transcript


def message(role: str, content: object = "", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **more}


TASK = message("user", "Fix the bug.", message_type="observation")
TASK_SAID = (Kind.USER, "Fix the bug.")
STEP = {"action": "ls\n", "observation": "a.py", "response": "Look.\n```\nls\n```", "thought": "Look.\n"}


def read(*history: dict[str, Any], **more: Any) -> Transcript:
    return read_as("sweagent", {"environment": "swe_main", "history": list(history), **more})


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (message("user", "Here is a demonstration ...", is_demo=True), "demonstration"),
        ({**message("assistant", "Short."), "agent": "summarizer"}, "sidechain"),
    ],
)
def test_demonstrations_and_other_agents_are_apart(other: dict[str, Any], reason: str) -> None:
    transcript = read(TASK, other)

    assert said(transcript) == [TASK_SAID]
    assert transcript.skipped == {reason: 1}


def test_the_steps_stand_in_for_a_missing_history_and_do_not_repeat_one() -> None:
    transcript = parse_transcript(orjson.dumps({"trajectory": [STEP]}))

    assert transcript.format == "sweagent"
    assert said(transcript) == [
        (Kind.ASSISTANT, "Look."),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.py"),
    ]
    assert read(TASK, trajectory=[STEP]).skipped == {"step that the history tells": 1}


@pytest.mark.parametrize(
    "text", ["EXECUTION TIMED OUT\n", "Your proposed edit has introduced new syntax error(s).", "\nEXECUTION TIMED OUT"]
)
def test_what_could_not_be_done_is_an_error_and_thoughts_are_apart(text: str) -> None:
    answer = message("assistant", [{"type": "text", "text": "Run."}], thinking_blocks=[{"thinking": "hm"}], action="a")

    transcript = read(TASK, answer, message("user", text))

    assert said(transcript)[1:3] == [(Kind.ASSISTANT, "Run."), (Kind.TOOL_CALL, 'bash(cmd="a")')]
    assert transcript.entries[-1].kind is Kind.ERROR
    assert transcript.skipped == {"thinking": 1}
