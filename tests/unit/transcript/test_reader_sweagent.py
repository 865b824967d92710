from typing import Any

import orjson
import pytest

from nous.transcript import Kind, Transcript, parse_transcript


def message(role: str, content: object = "", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **more}


def called(tool: str, arguments: str = "{}", own: str = "c1") -> list[dict[str, Any]]:
    return [{"id": own, "type": "function", "function": {"name": tool, "arguments": arguments}}]


TASK = message("user", "Fix the bug.", message_type="observation")
STEP = {"action": "ls\n", "observation": "a.py", "response": "Look.\n```\nls\n```", "thought": "Look.\n"}


def run(*history: dict[str, Any], **more: Any) -> bytes:
    return orjson.dumps({"environment": "swe_main", "history": list(history), **more})


def read(*history: dict[str, Any], **more: Any) -> Transcript:
    return parse_transcript(run(*history, **more), format="sweagent")


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def test_the_task_is_the_users_and_what_the_environment_answers_is_not() -> None:
    transcript = parse_transcript(
        run(
            message("system", "You are a programmer."),
            TASK,
            message("assistant", "Look.\n```\nls\n```", thought="Look.\n", action="ls\n"),
            message("user", "a.py\n(Open file: n/a)"),
        )
    )

    assert transcript.format == "sweagent"
    assert said(transcript) == [
        (Kind.SYSTEM, "You are a programmer."),
        (Kind.USER, "Fix the bug."),
        (Kind.ASSISTANT, "Look."),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.py\n(Open file: n/a)"),
    ]
    *_, call, result = transcript.entries
    assert call.call_id == result.call_id


def test_a_call_of_a_function_counts_more_than_its_text() -> None:
    answer = message("assistant", "Open it.", thought="Open it.", action="open a.py", tool_calls=called("open", "{}"))
    result = message("tool", "[File: a.py]", tool_call_ids=["c1"])

    transcript = read(TASK, answer, result)

    assert said(transcript)[1:] == [
        (Kind.ASSISTANT, "Open it."),
        (Kind.TOOL_CALL, "open"),
        (Kind.TOOL_RESULT, "[File: a.py]"),
    ]
    assert transcript.entries[-1].tool == "open"


def test_a_demonstration_is_not_of_this_session() -> None:
    transcript = read(message("user", "Here is a demonstration ...", is_demo=True), TASK)

    assert said(transcript) == [(Kind.USER, "Fix the bug.")]
    assert transcript.skipped == {"demonstration": 1}


@pytest.mark.parametrize(
    "text", ["EXECUTION TIMED OUT\n", "Your proposed edit has introduced new syntax error(s).", "\nEXECUTION TIMED OUT"]
)
def test_what_could_not_be_done_is_an_error(text: str) -> None:
    answer = message("assistant", "", thought="", action="python a.py")

    assert read(TASK, answer, message("user", text)).entries[-1].kind is Kind.ERROR


def test_the_steps_stand_in_for_a_missing_history() -> None:
    transcript = parse_transcript(orjson.dumps({"trajectory": [STEP]}))

    assert transcript.format == "sweagent"
    assert said(transcript) == [
        (Kind.ASSISTANT, "Look."),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.py"),
    ]


def test_steps_that_the_history_tells_are_not_repeated() -> None:
    transcript = read(TASK, trajectory=[STEP])

    assert said(transcript) == [(Kind.USER, "Fix the bug.")]
    assert transcript.skipped == {"step that the history tells": 1}


@pytest.mark.parametrize(
    ("status", "kind"), [("submitted", Kind.SYSTEM), ("exit_cost", Kind.ERROR), ("submitted (exit_cost)", Kind.ERROR)]
)
def test_how_the_run_ended_is_told(status: str, kind: Kind) -> None:
    transcript = read(TASK, info={"exit_status": status})

    assert said(transcript)[-1] == (kind, f"The run ended: {status}")


def test_the_configuration_says_what_the_session_is() -> None:
    config = {
        "problem_statement": {"id": "proj-1", "text": "A bug\nIt fails."},
        "env": {"repo": {"base_commit": "abc"}},
        "agent": {"model": {"name": "gpt-4o"}},
    }
    stats = {"model_stats": {"tokens_sent": 10, "tokens_received": 2}}
    step = {**STEP, "state": '{"working_dir": "/testbed"}'}

    header = read(TASK, trajectory=[step], info=stats, replay_config=orjson.dumps(config).decode()).header

    assert (header.session_id, header.title, header.git_commit) == ("proj-1", "A bug", "abc")
    assert (header.model, header.cwd) == ("gpt-4o", "/testbed")
    assert (header.input_tokens, header.output_tokens) == (10, 2)


def test_what_another_agent_said_is_apart() -> None:
    transcript = read(TASK, {**message("assistant", "Short."), "agent": "summarizer"})

    assert said(transcript) == [(Kind.USER, "Fix the bug.")]
    assert transcript.skipped == {"sidechain": 1}


def test_what_the_model_thought_is_apart_from_what_it_said() -> None:
    answer = message("assistant", [{"type": "text", "text": "Done."}], thinking_blocks=[{"thinking": "hm"}])

    transcript = read(TASK, answer)

    assert said(transcript)[1:] == [(Kind.ASSISTANT, "Done.")]
    assert transcript.skipped == {"thinking": 1}


@pytest.mark.parametrize("value", [None, 3, "x", {}, [], [None, 3, {"role": 3}, {"role": []}]])
def test_values_of_other_types_are_passed_over(value: object) -> None:
    document = {"history": value, "trajectory": value, "info": value, "replay_config": value, "environment": value}

    assert said(parse_transcript(orjson.dumps(document), format="sweagent")) in ([], [(Kind.ASSISTANT, "")])


def test_a_history_of_bare_messages_is_a_weak_sign() -> None:
    transcript = parse_transcript(orjson.dumps({"history": [{"role": "user", "content": "hi"}]}))

    assert (transcript.format, transcript.confidence) == ("sweagent", 0.5)
