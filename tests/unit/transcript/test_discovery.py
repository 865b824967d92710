"""Which files in a folder are sessions, and which hold their sub-agents."""

import os
from pathlib import Path

import orjson
from builders.agent_events import told
from builders.claude import user

from nous.transcript import Kind, TranscriptWriter, read_transcript
from nous.transcript.discovery import below, parts_of_sessions
from nous.transcript.model import SubAgent


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

    assert seen(folder) == ["a/z.jsonl", "b.txt", "c/e/f.jsonl"]


def test_a_link_to_a_file_is_followed_but_circles_pipes_and_devices_are_no_files(tmp_path: Path) -> None:
    files(tmp_path, "a/one.txt")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "null").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a" / "one.txt")

    assert seen(tmp_path) == ["a/one.txt", "link.txt"]


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


def write(path: Path, *records: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    common = {"sessionId": "s1", "isSidechain": False}
    lines = (
        orjson.dumps({"uuid": f"{path.stem}{number}", **common, **record}) for number, record in enumerate(records)
    )
    path.write_bytes(b"\n".join(lines))


def test_claude_codes_sub_agents_are_found_beside_their_session(tmp_path: Path) -> None:
    session, apart = tmp_path / "s1.jsonl", tmp_path / "s1" / "subagents" / "agent-a37a9c9.jsonl"
    write(session, user("look"))
    write(apart, user("Find it", isSidechain=True, agentId="a37a9c9"))

    assert read_transcript(session).sub_agents == (SubAgent("a37a9c9", str(apart)),)
    [prompt] = read_transcript(apart)
    assert (prompt.kind, prompt.text) == (Kind.SUB_AGENT, "Find it")
    assert read_transcript(apart).sub_agents == ()


def test_qbits_sub_agents_are_called_after_their_calls(tmp_path: Path) -> None:
    writer = TranscriptWriter("s1", base=tmp_path)
    for kind in ("started", "user_message", "tool_request", "sub_agent_tool_request", "sub_agent_tool_result"):
        writer.append(told(kind))

    [sub_agent] = read_transcript("s1", base=tmp_path).sub_agents

    assert sub_agent.id == "a1-r1"
    assert [entry.kind for entry in read_transcript(sub_agent.path)] == [Kind.TOOL_CALL, Kind.ERROR]
