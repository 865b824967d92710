from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, read_as, said

from nous.transcript import Kind

TIME = "2025-12-18T21:32:05.000Z"

read = partial(read_as, "copilot")


def event(kind: str, /, *, own: str = "", agent: str = "", **data: Any) -> Record:
    made = {"type": kind, "data": data, "timestamp": TIME}
    return {**made, **({"id": own} if own else {}), **({"agentId": agent} if agent else {})}


@pytest.mark.parametrize(
    "counts",
    [
        {"tokenDetails": {"input": {"tokenCount": 100}, "output": {"tokenCount": 9}, "cache_read": {"tokenCount": 5}}},
        {"modelMetrics": {"m-1": {"usage": {"inputTokens": 105, "cacheReadTokens": 5}}}},
    ],
)
def test_tokens_are_counted_once_and_the_last_title_counts(counts: Record) -> None:
    piece = event("assistant.message", messageId="m1", content="a", outputTokens=7)
    titles = [event("session.title_changed", title=title) for title in ("First", "Files")]

    header = read(piece, piece, *titles, event("session.shutdown", **counts, currentModel="m-2")).header

    assert (header.input_tokens, header.output_tokens) == (105, 7)
    assert (header.model, header.title) == ("m-2", "Files")


@pytest.mark.parametrize(
    "sent",
    [
        event("user.message", content="Go on.", source="skill-pdf"),
        event("user.message", content="Go on.", isAutopilotContinuation=True),
        event("system.notification", content="Agent done", kind={"type": "agent_completed"}),
    ],
)
def test_what_a_program_sends_in_the_users_place_is_nobodys(sent: Record) -> None:

    assert said(read(sent)) == []
    assert [(entry.kind, entry.is_meta) for entry in read(sent, include=("meta",))] == [(Kind.SYSTEM, True)]


@pytest.mark.parametrize("inside", [{"parentToolCallId": "t1"}, {"agent": "t1"}])
def test_what_happens_inside_of_a_sub_agent_is_its_own(inside: Record) -> None:
    begun = event("subagent.started", toolCallId="t1", agentName="explore", agentDescription="Looks around", agent="t1")
    told = event("assistant.message", content="Found it.", outputTokens=5, model="m-9", **inside)
    ended = event("subagent.completed", toolCallId="t1", agentName="explore", agentDisplayName="Explorer")

    transcript = read(begun, told, ended)

    assert said(transcript) == [
        (Kind.SUB_AGENT, "Started explore: Looks around"),
        (Kind.SUB_AGENT, "Explorer has completed"),
    ]
    assert transcript.skipped == {"sidechain": 1}
    assert (transcript.header.output_tokens, transcript.header.model) == (None, None)
    assert [entry.agent for entry in read(begun, told, include=("sidechains",))] == [None, "t1"]


def test_the_system_prompt_comes_once_unless_it_changes() -> None:
    prompts = [event("system.message", content=words, role="system") for words in ("A", "A", "B")]

    assert said(read(*prompts)) == [(Kind.SYSTEM, "A"), (Kind.SYSTEM, "B")]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (event("session.compaction_complete", success=True, summaryContent="So far"), (Kind.SUMMARY, "So far")),
        (event("session.compaction_complete", success=True), (Kind.SYSTEM, "Conversation compacted")),
        (event("session.compaction_complete", success=False, error="boom"), (Kind.ERROR, "Compaction failed: boom")),
        (event("session.error", message="boom", errorType="query"), (Kind.ERROR, "boom")),
        (event("session.info", infoType="folder_trust", message="Trusted."), (Kind.SYSTEM, "Trusted.")),
        (event("session.task_complete", summary="All is done."), (Kind.ASSISTANT, "All is done.")),
        (event("session.snapshot_rewind", eventsRemoved=3), (Kind.SYSTEM, "Went back to an earlier point")),
        (event("subagent.failed", agentName="explore", error="boom"), (Kind.ERROR, "Sub-agent explore: boom")),
        (event("skill.invoked", name="pdf", content="long"), (Kind.SYSTEM, "Skill pdf")),
        (event("abort", reason="user_initiated"), (Kind.SYSTEM, "Aborted: user_initiated")),
    ],
)
def test_events_that_say_something_become_entries(found: Record, expected: tuple[Kind, str]) -> None:
    assert said(read(found)) == [expected]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (event("hook.start", hookType="preToolUse"), "hook.start"),
        (event("session.truncation", performedBy="x"), "session.truncation"),
        (event("session.info", infoType="mcp", message="Connected"), "session.info: mcp"),
        (event("of.next_year"), "of.next_year"),
        (event("user.message", content="", attachments=[{"type": "file", "path": "/a"}]), "attached file"),
        (event("user.message", content=""), "empty message"),
        (event("system.message", content=""), "empty system.message"),
        (event("session.task_complete", success=False, summary="x"), "session.task_complete"),
        ({"data": {}}, "no type"),
    ],
)
def test_other_events_are_passed_over_and_counted(found: Record, reason: str) -> None:
    transcript = read(found)

    assert transcript.entries == ()
    assert transcript.skipped[reason] == 1
