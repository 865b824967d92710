from collections.abc import Callable
from typing import Any

import orjson
import pytest
from builders.claude import REJECTED, assistant, only, queue, queued, read, result, text, use, user
from builders.transcripts import said

from nous.transcript import Kind, parse_transcript


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("hi", "hi"),
        ({"type": "text", "text": "hi"}, "hi"),
        ([text("look"), {"type": "image"}, text("here")], "look\n\nhere"),
        (
            "<command-name>/review</command-name><command-args></command-args>\nThe port is 9017",
            "/review The port is 9017",
        ),
    ],
)
def test_a_typed_prompt_is_the_users_in_every_form(content: object, words: str) -> None:
    assert said(read(user(content))) == [(Kind.USER, words)]


def test_records_of_one_message_are_one_answer() -> None:
    transcript = read(
        assistant(text("\n\n")),
        assistant({"type": "thinking", "thinking": "hm"}),
        assistant(text("a")),
        assistant(text("b")),
    )

    assert said(transcript) == [(Kind.ASSISTANT, "a\n\nb")]
    assert transcript.skipped == {"empty text": 1, "thinking": 1}


def test_usage_is_counted_once_a_message() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 10}
    partial, final = {**usage, "output_tokens": 1}, {**usage, "output_tokens": 30}

    header = read(
        assistant(text("a"), usage=partial), assistant(use(), usage=final), assistant(text("b"), own="n", usage=final)
    ).header

    assert (header.input_tokens, header.output_tokens) == (230, 60)


def test_a_record_that_is_repeated_counts_once() -> None:
    transcript = read(user("hi", uuid="same"), user("hi", uuid="same"))

    assert said(transcript) == [(Kind.USER, "hi")]
    assert transcript.skipped == {"repeated record": 1}


def test_meta_messages_and_sidechains_are_passed_over_and_counted() -> None:
    transcript = read(user("hi"), user("Caveat", isMeta=True), user("Warmup", isSidechain=True))

    assert said(transcript) == [(Kind.USER, "hi")]
    assert transcript.skipped == {"meta message": 1, "sidechain": 1}


def test_a_rejection_is_a_decision_with_its_reason() -> None:
    transcript = read(assistant(use("Edit", file_path="/a")), result(REJECTED, is_error=True))

    assert said(transcript)[1] == (Kind.DECISION, "Rejected Edit(/a): no, inline it")
    assert not transcript.entries[1].is_error
    named = {**result("not like this", is_error=True), "toolDenialKind": "user-rejected"}
    assert said(read(assistant(use("Edit", file_path="/a")), named))[1] == (
        Kind.DECISION,
        "Rejected Edit(/a): not like this",
    )


def test_a_failed_call_and_a_failed_request_are_errors() -> None:
    transcript = read(
        assistant(use()),
        result("Exit code 1\nboom", is_error=True),
        {**assistant(text("API Error: 500")), "isApiErrorMessage": True},
        {"type": "system", "subtype": "api_error", "error": {"status": 529}, "retryAttempt": 2},
    )

    errors = only(transcript, Kind.ERROR)
    assert [error.text for error in errors] == ["Exit code 1\nboom", "API Error: 500", "API error: 529 (attempt 2)"]
    assert all(error.is_error for error in errors)


def test_a_compaction_leaves_its_boundary_and_its_summary() -> None:
    transcript = read(
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 9}},
        user("What we did so far", isCompactSummary=True, isVisibleInTranscriptOnly=True),
    )

    assert said(transcript) == [
        (Kind.SYSTEM, "Conversation compacted (auto, 9 tokens)"),
        (Kind.SUMMARY, "What we did so far"),
    ]


@pytest.mark.parametrize(
    "said_elsewhere",
    [
        lambda: [queue("enqueue", "x y"), queue("remove"), queued("x y")],
        lambda: [queue("enqueue", "x y"), queue("remove"), queued([text("x y")])],
        lambda: [queue("enqueue", "x y"), queued("x y"), queue("remove")],
        lambda: [queue("enqueue", "x y"), queue("remove"), user("x y")],
        lambda: [queue("enqueue", "x y"), queue("dequeue"), user("x y")],
        lambda: [queue("enqueue", "x y"), queue("remove")],
        lambda: [queue("enqueue", "x y")],
        lambda: [queued("x y", commandMode="prompt")],
    ],
)
def test_what_the_queue_and_another_record_say_is_said_once(said_elsewhere: Callable[[], list[dict[str, Any]]]) -> None:
    assert said(read(user("go"), *said_elsewhere())) == [(Kind.USER, "go"), (Kind.USER, "x y")]


@pytest.mark.parametrize(
    "records",
    [
        [queue("enqueue", "never mind"), queue("popAll", "never mind")],
        [queue("enqueue", '{"task_id":"b1","description":"lint"}'), queue("remove")],
        [queue("enqueue", "<task-notification>x</task-notification>"), queue("remove")],
        [queue("enqueue", "/model"), queue("remove")],
        [queue("enqueue", None), queue("remove"), queue("remove"), queue("dequeue")],
        [queued("<task-notification>x</task-notification>", commandMode="task-notification")],
        [queued("from an agent", origin={"kind": "coordinator"})],
        [user("Task done", origin={"kind": "task-notification"})],
        [{"type": "attachment", "attachment": {"type": "todo_reminder"}}, {"type": "attachment", "attachment": None}],
    ],
)
def test_what_was_taken_back_or_no_person_typed_is_not_said(records: list[dict[str, Any]]) -> None:
    assert said(read(*records)) == []


def test_the_same_words_in_two_prompts_are_two_prompts() -> None:
    transcript = read(queue("enqueue", "yes"), queue("remove"), user("no"), user("yes"))

    assert [entry.text for entry in transcript] == ["yes", "no", "yes"]


def test_the_header_tells_session_place_model_and_title() -> None:
    header = read(
        user("hi", sessionId="mine"),
        assistant(text("-"), model="<synthetic>"),
        assistant(text("a"), own="n", model="claude-x"),
        {"type": "ai-title", "aiTitle": "By a model"},
        {"type": "custom-title", "customTitle": "By a person"},
    ).header

    assert (header.session_id, header.cwd, header.git_branch) == ("mine", "/w", "main")
    assert (header.model, header.title) == ("claude-x", "By a person")


def test_a_summary_is_the_title_only_of_the_session_that_its_leaf_belongs_to() -> None:
    foreign = {"type": "summary", "summary": "Of another", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "Of this one", "leafUuid": "u2"}

    transcript = read(foreign, user("hi"), own)

    assert said(transcript) == [(Kind.SYSTEM, "An earlier session: Of another"), (Kind.USER, "hi")]
    assert transcript.header.title == "Of this one"


def test_a_pull_request_is_told_once() -> None:
    link = {"type": "pr-link", "prNumber": 7, "prUrl": "https://x/7"}

    assert said(read({**link}, {**link})) == [(Kind.SYSTEM, "Pull request #7: https://x/7")]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"type": "progress", "data": {"type": "hook_progress"}}, "progress"),
        ({"type": "system", "subtype": "turn_duration"}, "system: turn_duration"),
        ({"type": "system", "subtype": "stop_hook_summary"}, "system: stop_hook_summary"),
        ({"type": "of-next-year"}, "of-next-year"),
        ({"no": "type"}, "no type"),
        (user(None), "empty message"),
        (assistant({"type": "fallback"}), "fallback block"),
        (assistant(text("No response requested.")), "no response requested"),
    ],
)
def test_noise_is_passed_over_and_counted_by_reason(record: dict[str, Any], reason: str) -> None:
    assert read(record).skipped == {reason: 1}


def test_a_message_that_quotes_a_progress_record_is_no_noise() -> None:
    quoted = '{"parentUuid":"p","type":"progress","data":{}}'
    call = {"message": {"content": [use("x", type="progress")]}, "type": "assistant"}

    assert said(read(user(quoted))) == [(Kind.USER, quoted)]
    assert [entry.tool for entry in parse_transcript(orjson.dumps(call), format="claude_code")] == ["x"]


def test_a_session_that_begins_with_a_sub_agents_words_is_still_the_users() -> None:
    side = {"isSidechain": True, "agentId": "a"}

    transcript = read(user("Explore", **side), user("Never use tabs", sessionId="mine"), assistant(text("ok")))

    assert said(transcript)[-2:] == [(Kind.USER, "Never use tabs"), (Kind.ASSISTANT, "ok")]
    assert (transcript.header.session_id, transcript.header.parent_session_id) == ("mine", None)


@pytest.mark.parametrize("noise", [{"type": "progress", "data": {}}, {"type": "file-history-snapshot"}])
def test_a_record_that_is_glued_to_noise_is_recovered(noise: dict[str, Any]) -> None:
    glued = orjson.dumps(noise) + orjson.dumps({"uuid": "u", "sessionId": "s", **user("keep this")})

    assert said(parse_transcript(glued, format="claude_code")) == [(Kind.USER, "keep this")]


def test_the_queue_gives_what_a_record_names_and_not_what_waits_longest() -> None:
    transcript = read(
        user("a"), queue("enqueue", "do B"), queue("enqueue", "not prod"), queue("remove", "not prod"), user("do B")
    )

    assert [entry.text for entry in transcript] == ["a", "not prod", "do B"]
