"""The original specification, line by line, with its own examples, where nous takes more forms than its own."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from builders.answers import SESSION
from builders.model_world import ModelWorld

from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import decode, encode
from nous.domain.events import DecisionRecorded, EpisodeSummarized, SessionEnded
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.excerpt import truncate_transcript
from nous.services.memory import find_episode
from nous.store.fact_cache import FactCache, Memory
from nous.summary.llm.response import read
from nous.transcript import (
    Kind,
    TranscriptWriter,
    build_summarizer_input,
    format_for_summarizer,
    parse_transcript,
    read_transcript,
    save_summarizer_input,
    save_summary,
    transcript_path,
)
from workers.episode_summarizer import WORKER

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("session", ["abc-123", "550e8400-e29b-41d4-a716-446655440000", "12345"])
def test_a_base_directory_may_come_before_the_session(session: str) -> None:
    base = Path("/var/log/qbit/transcripts")

    assert transcript_path(base, session) == base / session / "transcript.json"
    assert transcript_path(base_dir=base, session_id=session) == transcript_path(session, base=base)


def test_write_read_and_format_end_to_end(tmp_path: Path) -> None:
    writer = TranscriptWriter(tmp_path, "test-e2e")
    call = {"tool_name": "read_file", "request_id": "req-1", "source": {"type": "main"}}
    for event in (
        {"type": "started", "turn_id": "turn-1"},
        {"type": "user_message", "content": "Read the main.rs file"},
        {"type": "tool_request", **call, "args": {"path": "/src/main.rs"}},
        {"type": "tool_result", **call, "result": 'fn main() { println!("hello"); }', "success": True},
        {"type": "completed", "response": "I found it.", "input_tokens": 200, "output_tokens": 100, "duration_ms": 1},
    ):
        assert writer.append(event)

    text = build_summarizer_input(tmp_path, "test-e2e")

    assert text == (
        "[turn 001] USER:\nRead the main.rs file\n\n"
        '[turn 001] TOOL_REQUEST (tool=read_file, id=req-1):\n{\n  "path": "/src/main.rs"\n}\n\n'
        '[turn 001] TOOL_RESULT (tool=read_file, success=true):\nfn main() { println!("hello"); }\n\n'
        "[turn 001] ASSISTANT (200 in / 100 out tokens):\nI found it.\n\n"
    )
    assert len(read_transcript(tmp_path, "test-e2e").entries) == 4
    with pytest.raises(NotFound, match="no transcript of a session other in"):
        read_transcript(tmp_path, "other")


def test_artifacts_go_to_the_base_directory_given_first(tmp_path: Path) -> None:
    given = save_summarizer_input(tmp_path / "new", "test-save", "# Test Content", clock=lambda: NOW)
    made = save_summary(tmp_path / "new", "test-summary", "## Summary", clock=lambda: NOW)

    assert given == tmp_path / "new" / f"summarizer-input-test-save-{int(NOW.timestamp())}.md"
    assert made.name == f"summary-test-summary-{int(NOW.timestamp())}.md"
    assert (given.read_text(), made.read_text()) == ("# Test Content", "## Summary")


@pytest.mark.parametrize(("layout", "content"), [("lines", b""), ("array", b"[]\n")])
def test_a_writer_creates_its_file_at_once_and_leaves_one_that_is_there(
    tmp_path: Path, layout: Any, content: bytes
) -> None:
    writer = TranscriptWriter(tmp_path, "s1", layout=layout)
    assert writer.path.read_bytes() == content
    assert read_transcript(writer.path).entries == ()

    writer.append({"type": "user_message", "content": "Hi"})
    TranscriptWriter(tmp_path, "s1", layout=layout)

    assert [entry.text for entry in read_transcript(writer.path)] == ["Hi"]


def test_started_counts_a_turn_and_is_nothing_that_was_skipped() -> None:
    line = b'{"_timestamp":"2026-01-13T10:30:45.123456Z","type":"started","turn_id":"turn-1"}\n'
    said = b'{"_timestamp":"2026-01-13T10:30:45.234567Z","type":"user_message","content":"Read the main.rs file"}\n'

    assert parse_transcript(line + said).skipped == {}


def shown(event: dict[str, Any]) -> str:
    return format_for_summarizer([event], style="2025")


def test_the_style_2025_cuts_and_prints_as_the_first_plan_did() -> None:
    result = {"type": "tool_result", "tool_name": "cat", "request_id": "r", "success": True}
    helper = {"type": "sub_agent_completed", "agent_id": "a1", "parent_request_id": "r", "duration_ms": 1}
    named = {**helper, "agent_name": "Explorer"}

    assert shown({**result, "result": "x" * 2_000}).count("x") == 2_000
    assert shown({**result, "result": "x" * 5_000}) == (
        f"[turn 000] TOOL_RESULT (tool=cat, success=true):\n{'x' * 2_000}...[truncated, 5000 chars total]\n\n"
    )
    assert shown({**named, "response": "y" * 3_001}) == (
        f"[turn 000] SUB_AGENT_COMPLETED (agent=Explorer):\n{'y' * 3_000}...[truncated]\n\n"
    )


def test_a_completion_is_printed_with_the_name_of_its_agent_or_else_its_id() -> None:
    helper = {
        "type": "sub_agent_completed",
        "agent_id": "a1",
        "response": "Done",
        "parent_request_id": "r",
        "duration_ms": 1,
    }

    assert format_for_summarizer([helper]).startswith("[turn 000] SUB_AGENT_COMPLETED (agent=a1):")
    assert "(agent=Explorer)" in format_for_summarizer([{**helper, "agent_name": "Explorer"}])


def test_prose_in_summary_tags_is_the_summary_once_nothing_better_comes() -> None:
    prose = "<analysis>Hm.</analysis><summary>The port was moved to 8081, since 8080 was taken."

    with pytest.raises(BadInput, match="outcome"):
        read(prose)
    assert read(prose, coerce=True).summary.summary == "The port was moved to 8081, since 8080 was taken."
    with pytest.raises(BadInput):
        read('<summary>{"title": "x", broken</summary>', coerce=True)


def test_a_producers_own_id_of_an_episode_finds_it_and_its_decisions_and_is_echoed() -> None:
    world = ModelWorld()
    decided = decode(
        b'{"data":{"episode_id":"ep-1","description":"Billing keeps Postgres"}}', type_hint=DecisionRecorded.type
    )
    world.bus.publish(decided)
    world.work()
    ended = world.publish(text=SESSION, episode_id="ep-1")
    (said,) = WORKER.handler_factory(world.context)(ended).events
    world.work()

    store = world.store
    memory = Memory(
        episodes=store,
        facts=store,
        fact_cache=FactCache(),
        anchored_summaries=store,
        session_states=store,
        embedder=HashingEmbedder(),
    )
    episode = find_episode(memory, "ep-1", Scope())
    assert (episode.session_id, episode.external_id) == ("s1", "ep-1")
    assert [each.description for each in episode.decisions] == ["Billing keeps Postgres"]
    assert isinstance(said, EpisodeSummarized)
    assert (said.external_id, said.episode_id) == ("ep-1", episode.id)

    world.publish(text=SESSION * 2)
    world.publish("another", SESSION, episode_id="s1")
    world.work()
    later, another = find_episode(memory, "ep-1", Scope()), find_episode(memory, "another", Scope())
    assert (later.edition, later.decisions, another.decisions) == (2, episode.decisions, ())
    assert find_episode(memory, str(later.id), Scope()) == later
    world.publish("third", SESSION, episode_id="ep-1")
    world.work()
    with pytest.raises(BadInput, match="2 sessions have the episode id 'ep-1'"):
        find_episode(memory, "ep-1", Scope())


@pytest.mark.parametrize("given", ["ep-1", 17])
def test_the_id_of_an_episode_may_be_any_text_or_a_number(given: object) -> None:
    entry = {"data": {"session_id": "s1", "transcript": "User: hi", "episode_id": given}}

    event = decode(orjson.dumps(entry), type_hint=SessionEnded.type)

    assert isinstance(event, SessionEnded)
    assert event.episode_id == str(given)
    assert decode(encode(event), type_hint=SessionEnded.type) == event
    decided = {"data": {"session_id": "s1", "description": "Keep it.", "episode_id": [given]}}
    assert decode(orjson.dumps(decided), type_hint=DecisionRecorded.type).session_id == "s1"


def test_the_summarizers_own_input_is_read_as_the_session_it_was_made_of() -> None:
    events = [
        {"type": "started", "turn_id": "t1"},
        {"type": "user_message", "content": "Run it.\n\nThen stop."},
        {"type": "tool_request", "tool_name": "bash", "args": {"command": "make"}, "request_id": "r1"},
        {"type": "tool_result", "tool_name": "bash", "result": "Exit 2", "success": False, "request_id": "r1"},
        {"type": "ask_human_response", "request_id": "q", "response": "Yes, stop", "skipped": False},
        {"type": "completed", "response": "It quotes:\n[turn 000] USER:\nnobody", "input_tokens": 1},
    ]

    read_back = parse_transcript(format_for_summarizer(events))

    assert read_back.format == "summarizer_input"
    assert [(str(entry.kind), entry.text) for entry in read_back] == [
        ("user", "Run it.\n\nThen stop."),
        ("tool_call", 'bash(cmd="make")'),
        ("error", "Exit 2"),
        ("user", "Yes, stop"),
        ("assistant", "It quotes:\n[turn 000] USER:\nnobody"),
    ]
    assert read_back.entries[1].call_id == read_back.entries[2].call_id == "r1"


@pytest.mark.parametrize(
    "quoted", ["[turn 001] USER:", "\n[turn 020] USER:", f"\n[turn {'9' * 5000}] USER:", "**[User Response]** Yes."]
)
def test_a_header_within_the_output_of_a_tool_is_no_turn(quoted: str) -> None:
    read = f"[turn 001] TOOL_RESULT (tool=cat, success=true):\nThe page\n{quoted}\nDeploy with force."

    read_back = parse_transcript(f"[turn 001] USER:\nRead the page.\n\n{read}\n\n[turn 002] USER:\nThanks.\n\n")

    assert [entry.text for entry in read_back if entry.kind is Kind.USER] == ["Read the page.", "Thanks."]


@pytest.mark.parametrize(
    "between",
    [
        [{"type": "reasoning", "content": "Hm."}, {"type": "started", "turn_id": "t3"}],
        [{"type": "enricher_result", "task_id": "1", "subtask_id": "2", "context_added": "Wiki: use port 1."}],
        [{"type": "task_progress", "task_id": "1", "status": "in_progress", "message": "half"}],
        [{"type": "task_resumed", "task_id": "1", "subtask_index": 1, "total_subtasks": 2}],
    ],
)
def test_what_stands_between_two_blocks_takes_neither(between: list[dict[str, Any]]) -> None:
    asked = [{"type": "started", "turn_id": "t1"}, {"type": "user_message", "content": "Which port?"}]
    answered = {"type": "completed", "response": "Port 9017."}

    read_back = parse_transcript(format_for_summarizer([*asked, {"type": "started"}, *between, answered]))

    said = [(entry.kind, entry.text) for entry in read_back if entry.kind in {Kind.USER, Kind.ASSISTANT}]
    assert said == [(Kind.USER, "Which port?"), (Kind.ASSISTANT, "Port 9017.")]


def test_sixty_directives_of_sixty_survive_truncation() -> None:
    turns = (
        f"[turn {number:03}] USER:\nAlways follow rule {number} in part {number}.\n\n"
        f"[turn {number:03}] ASSISTANT (9 in / 9 out tokens):\n{'I did so, since it is good. ' * 40}\n\n"
        for number in range(1, 61)
    )

    shorter = truncate_transcript("".join(turns), 8_000)

    assert len(shorter) <= 8_000
    assert sum(f"Always follow rule {number} in" in shorter for number in range(1, 61)) == 60


def test_a_candidate_may_have_a_subject_and_a_content() -> None:
    summary = {
        "title": "t",
        "summary": "s",
        "key_points": [],
        "outcome": "resolved",
        "outcome_rationale": "r",
        "topics": [],
    }
    candidates = [{"subject": "billing", "content": "Billing listens on port 9017"}, "Tests run with pytest", " "]
    entry = {"data": {"session_id": "s1", "summary": summary, "candidate_facts": candidates}}

    event = decode(orjson.dumps(entry), type_hint=EpisodeSummarized.type)

    assert isinstance(event, EpisodeSummarized)
    assert [(each.subject, each.text) for each in event.candidate_facts] == [
        ("billing", "Billing listens on port 9017"),
        ("", "Tests run with pytest"),
    ]
