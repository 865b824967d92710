import pytest
from builders.codex import Record, called, done, event, item, line, message, read, said, typed
from builders.transcripts import as_lines

from nous.transcript import Kind, parse_transcript


def test_a_compaction_is_told_by_its_summary_once_and_without_the_history() -> None:
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]}]
    compacted = line("compacted", message="So far ...", replacement_history=history)

    assert said(compacted, compacted) == [(Kind.SUMMARY, "So far ...")]


def test_compactions_without_a_summary_are_passed_over_unparsed() -> None:
    payload = b'{"message":"","replacement_history":['
    torn = b'{"timestamp":"2026-08-03T10:48:56.000Z","ordinal":7,"type":"compacted","payload":' + payload + b"\n"

    transcript = parse_transcript(as_lines(typed("a")) + torn, format="codex")

    assert [entry.text for entry in transcript] == ["a"]
    assert transcript.skipped == {"compacted": 1}
    assert read(line("compacted", message="", replacement_history=[])).skipped == {"compacted": 1}


def test_the_thread_of_a_sub_agent_names_its_parent_and_has_no_user() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}
    task = typed("Count the files")

    transcript = read(line("session_meta", id="s2", source=source), task, message("user", "Count the files"))

    assert (transcript.header.session_id, transcript.header.parent_session_id) == ("s2", "p")
    assert [(entry.kind, entry.text) for entry in transcript] == [(Kind.SUB_AGENT, "Count the files")]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            message(
                "user", '<subagent_notification>{"agent_path":"a","status":{"completed":"ok"}}</subagent_notification>'
            ),
            (Kind.SUB_AGENT, "a: ok"),
        ),
        (
            item("agent_message", author="a", recipient="b", content=[{"type": "input_text", "text": "ok"}]),
            (Kind.SUB_AGENT, "a to b: ok"),
        ),
        (
            event("collab_agent_spawn_end", call_id="x", new_agent_nickname="Ada", prompt="Count"),
            (Kind.SUB_AGENT, "Started Ada: Count"),
        ),
        (
            event("collab_waiting_end", agent_statuses=[{"agent_nickname": "Ada", "status": {"completed": "2"}}]),
            (Kind.SUB_AGENT, "Ada: 2"),
        ),
        (
            event("exited_review_mode", review_output={"overall_explanation": "Good.", "findings": [{"title": "t"}]}),
            (Kind.SUB_AGENT, "Good.\n\nt"),
        ),
        (event("entered_review_mode", user_facing_hint="current changes"), (Kind.SYSTEM, "Review of current changes")),
        (event("error", message="quota"), (Kind.ERROR, "quota")),
        (event("error", error={"kind": "rate_limit", "message": "slow down"}), (Kind.ERROR, "slow down")),
        (event("task_complete", error={"message": "quota"}), (Kind.ERROR, "quota")),
        (event("thread_rolled_back", num_turns=2), (Kind.DECISION, "Took back the last 2 turns")),
        (event("undo_completed", success=True, message="restored"), (Kind.SYSTEM, "Undo: restored")),
        (
            event("thread_goal_updated", goal={"objective": "Ship", "status": "active"}),
            (Kind.SYSTEM, "Goal (active): Ship"),
        ),
        (event("context_compacted"), (Kind.SYSTEM, "Conversation compacted")),
        (
            event("guardian_assessment", status="denied", rationale="risky", action={"command": "rm"}),
            (Kind.SYSTEM, "Denied: rm: risky"),
        ),
        (
            event("guardian_assessment", status="approved", decision_source="user", action={"command": "rm"}),
            (Kind.DECISION, "Approved: rm"),
        ),
    ],
)
def test_events_that_somebody_brought_about_become_entries(record: Record, expected: tuple[Kind, str]) -> None:
    assert said(record) == [expected]


def test_a_review_that_the_model_repeats_is_told_once() -> None:
    reviewed = event("exited_review_mode", review_output={"overall_explanation": "Good.", "findings": []})

    assert said(reviewed, message("assistant", "Good.\n\nFull review comments: none")) == [(Kind.SUB_AGENT, "Good.")]


def test_delegation_that_the_conversation_tells_is_not_repeated() -> None:
    spawned = called("spawn_agent", {"message": "Count"})
    ended = event("collab_agent_spawn_end", call_id="c1", new_agent_nickname="Ada", prompt="Count")

    assert said(spawned, ended) == [(Kind.TOOL_CALL, 'spawn_agent(prompt="Count")')]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (event("task_started"), "task_started"),
        (event("of_next_year"), "of_next_year"),
        (event("guardian_assessment", status="in_progress"), "guardian_assessment"),
        (event("guardian_assessment", status="approved"), "guardian_assessment: approved"),
        (item("ghost_snapshot"), "ghost_snapshot"),
        (item("of_next_year"), "of_next_year"),
        (done("OfNextYear"), "item: OfNextYear"),
        (line("world_state", full=True), "world_state"),
        (line("of_next_year"), "of_next_year"),
        (typed(""), "empty message"),
        (message("assistant"), "empty message"),
        (item("reasoning", summary=[], encrypted_content="x"), "empty reasoning"),
        ({"record_type": "state"}, "record: state"),
        ({"payload": 7}, "no type"),
    ],
)
def test_others_are_passed_over_and_counted(record: Record, reason: str) -> None:
    transcript = read(record)

    assert transcript.entries == ()
    assert transcript.skipped == {reason: 1}
