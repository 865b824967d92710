from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, Said, read_as, said

from nous.transcript import Kind

TIME = 1_785_612_803_281

read = partial(read_as, "kimi")


def record(kind: str, **fields: Any) -> Record:
    return {"type": kind, "time": TIME, **fields}


def event(kind: str, **fields: Any) -> Record:
    return record("context.append_loop_event", event={"type": kind, **fields})


def typed(text: str, record_type: str = "turn.prompt", **origin: Any) -> Record:
    return record(record_type, input=[{"type": "text", "text": text}], origin=origin or {"kind": "user"})


def given(text: str, **origin: Any) -> Record:
    content = [{"type": "text", "text": text}]
    return record("context.append_message", message={"role": "user", "content": content, "origin": origin or None})


def part(step: str, **held: Any) -> Record:
    return event("content.part", uuid=f"{step}-{held['type']}", stepUuid=step, part=held)


def result(output: str, **more: Any) -> Record:
    return event("tool.result", toolCallId="Bash_0", result={"output": output, **more})


def approval(decision: str, tool: str = "Bash", **more: Any) -> Record:
    about = {"toolCallId": "Bash_0", "toolName": tool}
    return record("permission.record_approval_result", **about, result={"decision": decision, **more})


CALL = event("tool.call", uuid="Bash_0", toolCallId="Bash_0", name="Bash", args={"command": "ls"})
RESULT = result("a.txt\n")
TASK = {"kind": "system_trigger", "name": "subagent"}
SKILL = {"kind": "skill_activation", "trigger": "user-slash", "skillName": "review"}


def test_what_is_typed_while_the_model_works_is_told_once_and_when_it_was_typed() -> None:
    transcript = read(
        typed("hi"), typed("stop", "turn.steer"), record("turn.cancel"), typed("hi"), given("hi"), given("stop")
    )

    assert said(transcript) == [
        (Kind.USER, "hi"),
        (Kind.USER, "stop"),
        (Kind.SYSTEM, "Interrupted by the user"),
        (Kind.USER, "hi"),
    ]
    assert len(read(typed("hi"), given("hi"), typed("hi"), given("hi")).entries) == 2


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([given("hi")], [(Kind.USER, "hi")]),
        ([typed("Count.", **TASK), given("Count.", **TASK)], [(Kind.SUB_AGENT, "Count.")]),
        ([typed("A long skill.", **SKILL, skillArgs="the diff")], [(Kind.USER, "/review the diff")]),
        ([typed("A long skill.", **SKILL)], [(Kind.SYSTEM, "/review")]),
        ([part("s1", type="text", text="1"), part("s1", type="text", text="2")], [(Kind.ASSISTANT, "1\n\n2")]),
        ([record("context.apply_compaction", summary="So far.", contextSummary="Old.")], [(Kind.SUMMARY, "So far.")]),
        ([record("context.clear")], [(Kind.SYSTEM, "Conversation cleared")]),
        ([record("context.undo", count=1)], [(Kind.SYSTEM, "Conversation wound back")]),
        ([record("turn.ended", reason="failed", error="no credit")], [(Kind.ERROR, "no credit")]),
        ([record("config.update", systemPrompt="You are.")] * 2, [(Kind.SYSTEM, "You are.")]),
    ],
)
def test_each_is_the_words_of_who_said_them(records: list[Record], expected: Said) -> None:
    assert said(read(*records)) == expected


@pytest.mark.parametrize(
    "origin", [{"kind": "injection"}, {"kind": "shell_command", "phase": "output"}, {**SKILL, "trigger": "model-tool"}]
)
def test_what_a_program_says_in_the_users_place_is_passed_over(origin: Record) -> None:
    transcript = read(given("Plan mode is active.", **origin))

    assert (transcript.entries, transcript.skipped) == ((), {"meta message": 1})


def test_an_approval_stands_behind_its_call_whichever_was_written_first() -> None:
    approved = (Kind.DECISION, 'Approved Bash(cmd="ls") for the session')

    assert said(read(approval("approved", scope="session"), CALL, RESULT))[1] == approved
    assert said(read(CALL, approval("approved", scope="session"), RESULT))[1] == approved


def test_a_refusal_is_a_decision_with_its_reason_and_no_error() -> None:
    transcript = read(approval("rejected", feedback="use eza"), CALL, result("Tool was rejected.", isError=True))

    assert said(transcript)[1:] == [(Kind.DECISION, 'Rejected Bash(cmd="ls"): use eza')]
    assert transcript.skipped["result of a refused call"] == 1
