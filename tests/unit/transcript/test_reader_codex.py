import pytest
from builders.codex import LS, TIME, Record, answered, done, event, item, line, message, read, read_all, said, typed
from builders.transcripts import as_lines, outcome

from nous.transcript import Kind, parse_transcript
from nous.transcript.reader import Sample
from nous.transcript.readers.codex import READER

OLD_HEAD = {"id": "old", "timestamp": TIME, "instructions": None, "git": {"branch": "main"}}
"""The first line of a file from before October 2025."""


def test_running_sums_of_tokens_are_not_added_up_and_go_on_where_they_begin_anew() -> None:
    def count(read_so_far: int, written: int) -> Record:
        total = {"input_tokens": read_so_far, "output_tokens": written}
        return event("token_count", info={"total_token_usage": total})

    header = read(count(100, 10), count(100, 10), event("token_count", info=None), count(300, 15), count(50, 5)).header

    assert (header.input_tokens, header.output_tokens) == (350, 20)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (typed("Go on"), message("user", "Go on")),
        (typed("Go on"), done("UserMessage", content=[{"type": "text", "text": "Go on"}])),
        (message("assistant", "Done."), answered("Done.")),
        (message("assistant", "Done."), done("AgentMessage", content=[{"type": "Text", "text": "Done."}])),
        (message("assistant", "Done."), event("task_complete", last_agent_message="Done.")),
        (message("assistant", "Done.<oai-mem-citation>a.md</oai-mem-citation>"), answered("Done.")),
        (event("agent_reasoning", text="Hm."), item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}])),
    ],
)
def test_what_is_said_in_two_ways_is_told_once(first: Record, second: Record) -> None:
    transcript = read_all(first, second)

    assert len(transcript.entries) == 1
    assert transcript.skipped["repeated message"] == 1


def test_the_same_words_in_another_turn_are_said_anew() -> None:
    alone = [typed("a"), message("user", "b"), answered("c"), message("assistant", "d")]
    batches = [answered("a"), answered("b"), message("assistant", "a"), message("assistant", "b")]
    turn = [typed("again"), message("user", "again"), answered("Ok"), message("assistant", "Ok")]

    assert [text for _, text in said(*turn, *turn)] == ["again", "Ok", "again", "Ok"]
    assert [text for _, text in said(message("assistant", "Ok"), message("assistant", "Ok"))] == ["Ok", "Ok"]
    assert [text for _, text in said(*alone)] == ["a", "b", "c", "d"]
    assert [text for _, text in said(*batches)] == ["a", "b"]
    assert said(event("task_complete", last_agent_message="e")) == [(Kind.ASSISTANT, "e")]


@pytest.mark.parametrize(
    "found",
    [
        "<environment_context><cwd>/repo</cwd></environment_context>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<skill>\n<name>x</name>\n</skill>",
    ],
)
def test_what_codex_puts_in_the_users_place_is_nobodys(found: str) -> None:
    for role in ("user", "developer"):
        (entry,) = read_all(message(role, found)).entries

        assert (entry.kind, entry.is_meta) == (Kind.SYSTEM, True)
        assert read(message(role, found)).entries == ()


def test_what_stands_before_the_request_of_an_editors_user_is_left_out() -> None:
    whole = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nFix it\n"

    assert said(message("user", whole), typed("Fix it")) == [(Kind.USER, "Fix it")]
    assert said(typed("# Title\nFix it")) == [(Kind.USER, "# Title\nFix it")]


def test_a_command_of_the_user_is_told_with_what_it_printed_once() -> None:
    inside = "<command>\nls\n</command>\n<result>\nExit code: 2\nOutput:\nno\n</result>"
    ran = f"<user_shell_command>\n{inside}\n</user_shell_command>"
    ended = event("exec_command_end", call_id="u", source="user_shell", command=["bash", "-lc", "ls"], exit_code=0)

    assert said(message("user", ran)) == [(Kind.USER, "! ls"), (Kind.ERROR, "Exit code: 2\nOutput:\nno")]
    assert said(ended, message("user", ran)) == [(Kind.USER, "! ls")]


def test_a_proposed_plan_is_told_by_itself_and_once() -> None:
    proposed = message("assistant", "Here:\n<proposed_plan>\n1. Count\n</proposed_plan>")

    assert said(answered("Here:"), done("Plan", text="1. Count"), proposed) == [
        (Kind.ASSISTANT, "Here:"),
        (Kind.ASSISTANT, "1. Count"),
    ]


def sniff(*found: Record) -> float:
    return READER.sniff(Sample(text="", records=found))


def test_it_is_told_from_others_by_its_envelope() -> None:
    chat = {"timestamp": TIME, "role": "user", "content": "hi"}
    foreign = {"type": "tool_call", "timestamp": TIME, "session_id": "s", "toolName": "x"}

    assert sniff(line("session_meta"), typed("a"), LS) > 0.9
    assert 0.5 < sniff(chat, {"timestamp": TIME, "type": "tool_call", "function": {"name": "git"}}) < 0.9
    assert sniff(OLD_HEAD, chat) == 0.8
    assert sniff() == sniff(chat) == sniff(chat, foreign) == sniff({"type": "response_item"}) == 0


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
            (Kind.SUB_AGENT, '{"agent_path":"a","status":{"completed":"ok"}}'),
        ),
        (
            item("agent_message", author="a", recipient="b", content=[{"type": "input_text", "text": "ok"}]),
            (Kind.SUB_AGENT, "a to b: ok"),
        ),
        (
            event("exited_review_mode", review_output={"overall_explanation": "Good.", "findings": [{"title": "t"}]}),
            (Kind.SUB_AGENT, "Good.\n\nt"),
        ),
        (event("entered_review_mode", user_facing_hint="current changes"), (Kind.SYSTEM, "Review of current changes")),
        (event("error", message="quota"), (Kind.ERROR, "quota")),
        (event("task_complete", error={"message": "quota"}), (Kind.ERROR, "quota")),
        (event("thread_rolled_back", num_turns=2), (Kind.DECISION, "Took back the last 2 turns")),
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
        (event("of_next_year"), "of_next_year"),
        (event("guardian_assessment", status="approved"), "guardian_assessment: approved"),
        (item("of_next_year"), "of_next_year"),
        (typed(""), "empty message"),
        (item("reasoning", summary=[], encrypted_content="x"), "empty reasoning"),
        ({"record_type": "state"}, "record: state"),
    ],
)
def test_a_record_becomes_an_entry_or_is_counted(record: Record, expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(record)) == expected


def test_a_review_that_the_model_repeats_is_told_once() -> None:
    reviewed = event("exited_review_mode", review_output={"overall_explanation": "Good.", "findings": []})

    assert said(reviewed, message("assistant", "Good.\n\nFull review comments: none")) == [(Kind.SUB_AGENT, "Good.")]
