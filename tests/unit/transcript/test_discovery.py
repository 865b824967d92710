"""Which files in a folder are sessions, and which hold their sub-agents."""

import os
from pathlib import Path

import orjson
from builders.agent_events import told
from builders.claude import user

from nous.transcript import Kind, TranscriptWriter, read_transcript
from nous.transcript.discovery import below, parts_of_sessions


def files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("User: hi")


def complain(path: Path, why: str) -> None:
    raise AssertionError(f"{path}: {why}")


def seen(folder: Path) -> list[str]:
    found = below(folder, complain, left_out=parts_of_sessions)
    return [str(path.relative_to(folder)) for path in found]


def test_files_come_in_the_order_of_their_names_and_hidden_ones_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    files(folder, "b.txt", "a/z.jsonl", "a/.hidden.jsonl", ".cache/c.jsonl", "c/node_modules/d.json", "c/e/f.jsonl")

    assert seen(folder) == ["b.txt", "a/z.jsonl", "c/e/f.jsonl"]


def test_a_link_to_a_file_is_followed_but_circles_pipes_and_devices_are_no_files(tmp_path: Path) -> None:
    files(tmp_path, "a/one.txt")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "null").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a" / "one.txt")

    assert seen(tmp_path) == ["link.txt", "a/one.txt"]


def test_what_sub_agents_said_is_part_of_their_session(tmp_path: Path) -> None:
    files(tmp_path, "s1.jsonl", "s1/subagents/agent-a.jsonl", "s2/transcript.json", "s2/subagents/b/transcript.json")

    assert seen(tmp_path) == ["s1.jsonl", "s2/transcript.json"]
    assert len([*below(tmp_path, complain)]) == 4


def test_messages_in_files_of_their_own_are_parts_of_a_session_beside_them(tmp_path: Path) -> None:
    files(tmp_path / "storage", "session/p/s1.json", "message/s1/m1.json", "part/m1/p1.json", "todo/s1.json")
    files(tmp_path / "other", "message/note.txt")

    assert seen(tmp_path) == ["other/message/note.txt", "storage/session/p/s1.json", "storage/todo/s1.json"]


def test_a_folder_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    files(tmp_path, "a.txt")
    failed: list[Path] = []

    found = [
        *below(tmp_path, lambda path, _: failed.append(path)),
        *below(tmp_path / "gone", lambda p, _: failed.append(p)),
    ]

    assert (found, failed) == ([tmp_path / "a.txt"], [tmp_path / "gone"])


def test_the_prompt_in_a_file_of_claude_codes_sub_agent_is_no_persons(tmp_path: Path) -> None:
    apart = tmp_path / "agent-a37a9c9.jsonl"
    record = {"uuid": "u1", "sessionId": "s1", **user("Find it", isSidechain=True, agentId="a37a9c9")}
    apart.write_bytes(orjson.dumps(record))

    transcript = read_transcript(apart)

    assert [(entry.kind, entry.text) for entry in transcript] == [(Kind.SUB_AGENT, "Find it")]
    assert transcript.header.session_id == "agent-a37a9c9"


def test_the_file_of_qbits_sub_agent_can_be_read_by_itself(tmp_path: Path) -> None:
    writer = TranscriptWriter("s1", base=tmp_path)
    for kind in ("started", "user_message", "tool_request", "sub_agent_tool_request", "sub_agent_tool_result"):
        writer.append(told(kind))

    apart = read_transcript(tmp_path / "s1" / "subagents" / "a1-r1" / "transcript.json")

    assert [entry.kind for entry in apart] == [Kind.TOOL_CALL, Kind.ERROR]
