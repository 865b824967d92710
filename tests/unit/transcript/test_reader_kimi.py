from typing import Any

import orjson
import pytest

from nous.transcript import Kind, Transcript, parse_transcript

TIME = 1_785_612_803_281
HEAD = {"type": "metadata", "protocol_version": "1.4", "created_at": TIME}


def record(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "time": TIME, **fields}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return record("context.append_loop_event", event={"type": kind, **fields})


def typed(text: str, record_type: str = "turn.prompt", **origin: Any) -> dict[str, Any]:
    return record(record_type, input=[{"type": "text", "text": text}], origin=origin or {"kind": "user"})


def given(text: str, **origin: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "content": content, "toolCalls": [], "origin": origin or {"kind": "user"}}
    return record("context.append_message", message=message)


def part(step: str, **held: Any) -> dict[str, Any]:
    return event("content.part", uuid=f"{step}-{held['type']}", stepUuid=step, part=held)


CALL = event("tool.call", uuid="Bash_0", toolCallId="Bash_0", name="Bash", args={"command": "ls"})
RESULT = event("tool.result", toolCallId="Bash_0", result={"output": "a.txt\n"})


def approval(decision: str, **more: Any) -> dict[str, Any]:
    return record(
        "permission.record_approval_result",
        toolCallId="Bash_0",
        toolName=more.pop("tool", "Bash"),
        result={"decision": decision, **more},
    )


def read(*records: dict[str, Any]) -> Transcript:
    return parse_transcript(b"".join(orjson.dumps(found) + b"\n" for found in records), format="kimi")


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def test_a_journal_is_recognised_and_read() -> None:
    journal = (HEAD, typed("List them."), given("List them."), CALL, RESULT, part("s1", type="text", text="One."))

    transcript = parse_transcript(b"".join(orjson.dumps(found) + b"\n" for found in journal))

    assert transcript.format == "kimi"
    assert said(transcript) == [
        (Kind.USER, "List them."),
        (Kind.TOOL_CALL, 'Bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.txt"),
        (Kind.ASSISTANT, "One."),
    ]
    assert transcript.skipped["repeated prompt"] == 1
    assert transcript.started_at


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


def test_the_same_prompt_twice_is_two_prompts() -> None:
    assert len(read(typed("hi"), given("hi"), typed("hi"), given("hi")).entries) == 2


def test_a_prompt_that_only_the_model_was_given_is_the_users_too() -> None:
    assert said(read(given("hi"))) == [(Kind.USER, "hi")]


@pytest.mark.parametrize("kind", ["injection", "hook_result", "cron_job", "task", "retry"])
def test_what_a_program_says_in_the_users_place_is_passed_over(kind: str) -> None:
    transcript = read(given("Plan mode is active.", kind=kind))

    assert not transcript.entries
    assert transcript.skipped == {"meta message": 1}


def test_the_task_of_a_sub_agent_is_its_callers() -> None:
    task = {"kind": "system_trigger", "name": "subagent"}

    assert said(read(typed("Count.", **task), given("Count.", **task))) == [(Kind.SUB_AGENT, "Count.")]


def test_a_slash_command_is_what_was_typed_and_not_what_it_stands_for() -> None:
    skill = {"kind": "skill_activation", "trigger": "user-slash", "skillName": "review"}

    assert said(read(typed("A long skill.", **skill, skillArgs="the diff"))) == [(Kind.USER, "/review the diff")]
    assert said(read(typed("A long skill.", **skill))) == [(Kind.SYSTEM, "/review")]
    assert not read(typed("A long skill.", **{**skill, "trigger": "model-tool"})).entries


def test_a_shell_command_of_the_user_is_their_words_but_not_its_output() -> None:
    ran = given("ls", kind="shell_command", phase="input")
    printed = given("a.txt", kind="shell_command", phase="output")

    assert said(read(ran, printed)) == [(Kind.USER, "! ls")]


def test_parts_of_one_step_are_one_answer() -> None:
    transcript = read(part("s1", type="text", text="One."), part("s1", type="text", text="Two."))

    assert [(entry.id, entry.text) for entry in transcript] == [("s1", "One.\n\nTwo.")]


def test_thoughts_are_thinking() -> None:
    assert read(part("s1", type="think", think="Hm.")).skipped == {"thinking": 1}


def test_a_failed_result_is_an_error() -> None:
    failed = event("tool.result", toolCallId="Bash_0", result={"output": "no such file", "isError": True})

    assert said(read(CALL, failed))[1] == (Kind.ERROR, "no such file")


def test_an_approval_stands_behind_its_call_whichever_was_written_first() -> None:
    approved = (Kind.DECISION, 'Approved Bash(cmd="ls") for the session')

    assert said(read(approval("approved", scope="session"), CALL, RESULT))[1] == approved
    assert said(read(CALL, approval("approved", scope="session"), RESULT))[1] == approved


def test_a_refusal_is_a_decision_with_its_reason_and_no_error() -> None:
    refused = event("tool.result", toolCallId="Bash_0", result={"output": "Tool was rejected.", "isError": True})

    transcript = read(approval("rejected", feedback="use eza"), CALL, refused)

    assert said(transcript)[1:] == [(Kind.DECISION, 'Rejected Bash(cmd="ls"): use eza')]
    assert transcript.skipped["result of a refused call"] == 1


def test_a_decision_on_a_call_that_never_came_is_counted() -> None:
    assert read(approval("approved")).skipped == {"decision on a call that was not made": 1}


def test_an_approved_plan_is_told_once_by_its_result() -> None:
    call = event("tool.call", toolCallId="Bash_0", name="ExitPlanMode", args={})
    result = event("tool.result", toolCallId="Bash_0", result={"output": "Done.\n\n## Approved Plan:\n# Count them"})

    decisions = [entry.text for entry in read(approval("approved", tool="ExitPlanMode"), call, result)][1:]

    assert decisions == ["Approved the plan: Count them"]


def test_a_compaction_is_a_summary() -> None:
    compacted = record("context.apply_compaction", summary="So far: nothing.", contextSummary="You said: nothing.")

    assert said(read(compacted)) == [(Kind.SUMMARY, "So far: nothing.")]


def test_what_becomes_of_the_conversation_is_told() -> None:
    transcript = read(
        record("context.clear"),
        record("context.undo", count=1),
        record("turn.ended", reason="failed", error="no credit"),
        record("turn.ended", reason="completed"),
    )

    assert said(transcript) == [
        (Kind.SYSTEM, "Conversation cleared"),
        (Kind.SYSTEM, "Conversation wound back"),
        (Kind.ERROR, "no credit"),
    ]
    assert transcript.skipped == {"turn.ended": 1}


def test_the_header_is_learned_from_requests_and_settings() -> None:
    header = read(
        record("config.update", cwd="/w", modelAlias="moonshot/kimi-x", systemPrompt="You are."),
        record("config.update", systemPrompt="You are."),
        record("llm.request", model="kimi-x"),
    ).header

    assert (header.cwd, header.model) == ("/w", "kimi-x")


def test_the_system_prompt_is_told_once() -> None:
    transcript = read(*[record("config.update", systemPrompt="You are.")] * 2)

    assert said(transcript) == [(Kind.SYSTEM, "You are.")]
    assert transcript.skipped == {"repeated system prompt": 1}


def test_tokens_are_counted_once_though_steps_and_books_tell_them() -> None:
    usage = {"inputOther": 3, "inputCacheRead": 2, "inputCacheCreation": 1, "output": 4}
    step, book = event("step.end", uuid="s1", usage=usage), record("usage.record", usage=usage, usageScope="turn")
    compaction = record("usage.record", usage=usage, usageScope="session")

    for records, times in (((step,), 1), ((step, book), 1), ((step, book, compaction), 2)):
        header = read(*records).header
        assert (header.input_tokens, header.output_tokens) == (6 * times, 4 * times)


def test_the_descriptions_of_tools_are_passed_over_unread() -> None:
    assert read(record("llm.tools_snapshot", tools=[])).skipped == {"llm.tools_snapshot": 1}
