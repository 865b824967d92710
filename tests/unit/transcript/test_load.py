"""What can be read, from where, and what is refused."""

import gzip
import json
import os
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from builders.agent_events import told
from builders.claude import user

from nous.domain.errors import BadInput, NotFound
from nous.transcript import (
    Kind,
    TranscriptWriter,
    UnknownFormat,
    parse_transcript,
    read_transcript,
    save_summarizer_input,
    save_summary,
    split_sessions,
    transcript_path,
)
from nous.transcript.discovery import below, find_transcript, parts_of_sessions

TEXT = b"User: hi\n\nAssistant: hello\n"
RUN: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "session.txt"
    written.write_bytes(TEXT)
    return written


def test_where_damaged_packed_data_tells_no_format_it_is_the_packed_data_that_is_damaged(path: Path) -> None:
    packed = gzip.compress(b'[{"role": "user", "content": "hi"}]', compresslevel=0)
    path.write_bytes(packed[:40])

    with pytest.raises(UnknownFormat, match=r"^packed data damaged: .*; what comes before the damage is no transcript"):
        read_transcript(path)


def test_a_packed_file_that_was_cut_is_read_up_to_the_cut_and_says_so(path: Path) -> None:
    path.write_bytes(gzip.compress(TEXT * 1000)[:-8])

    transcript = read_transcript(path)

    assert transcript.entries
    assert any("damaged" in reason for reason in transcript.skipped)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"[]", b" [ ]\n", b"\xef\xbb\xbf", b"\0\0"])
def test_a_blank_file_is_a_transcript_without_entries(content: bytes, path: Path) -> None:
    path.write_bytes(content)

    assert read_transcript(path).entries == ()


def test_a_format_that_is_named_is_used_whatever_the_content_looks_like() -> None:
    assert read_transcript(BytesIO(TEXT), format="qbit").entries == ()


@pytest.mark.parametrize(
    ("source", "kind", "reason"),
    [
        ("abc", NotFound, "nor a transcript of a session"),
        *((source, NotFound, "no file") for source in ("../x", "a/b", "/no/such/file.jsonl")),
        *((source, BadInput, "names no transcript") for source in ("", "  ", "a\0b")),
        ("x" * 5_000, BadInput, "could not be read: File name too long"),
        ("..", BadInput, "is a directory"),
    ],
)
def test_what_is_no_source_is_refused_with_the_reason(
    source: str | Path, kind: type[Exception], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=reason):
        read_transcript(source, base=tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_refused(path: Path) -> None:
    path.chmod(0)

    with pytest.raises(BadInput, match="Permission denied"):
        read_transcript(path)


def test_messages_at_hand_are_read_as_a_file_of_them_would_be() -> None:
    transcript = parse_transcript([{"role": "user", "content": "hi"}], source="inline")

    assert [(entry.kind, entry.text) for entry in transcript] == [(Kind.USER, "hi")]
    assert transcript == parse_transcript('[{"role":"user","content":"hi"}]', source="inline")
    assert parse_transcript("User: a\ud83d\nAssistant: b").entries[0].text == "a?"
    with pytest.raises(BadInput, match="not JSON"):
        parse_transcript([{"role": "user", "content": object()}])


def test_how_much_output_is_kept_can_be_chosen() -> None:
    text = f"user: go\ntool: {'x' * 100}\n"

    assert len(parse_transcript(text).entries[1].text) == 100
    assert "[truncated 90 chars]" in parse_transcript(text, result_limit=10).entries[1].text


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_each_line_with_messages_is_a_session_called_after_itself_or_file_and_line(tmp_path: Path) -> None:
    own = ({"session_id": "mine", **RUN}, {"id": "../../etc", **RUN}, {"id": 7, **RUN})
    path = written(tmp_path / "runs.jsonl", RUN, RUN, *own)
    path.write_text(path.read_text() + '{"messages": [{"ro')

    sessions = list(split_sessions(path))

    assert [session.id for session in sessions] == ["runs-1", "runs-2", "mine", "runs-4", "runs-5", "runs-6"]
    assert [entry.text for entry in parse_transcript(sessions[1].content)] == ["hi", "hello"]


@pytest.mark.parametrize(
    "records",
    [
        [RUN],
        [RUN["messages"]],
        RUN["messages"],
        [{"type": "user", "uuid": "u", "sessionId": "s"}, {"type": "user", "uuid": "v", "sessionId": "s"}],
    ],
    ids=["one run", "a list", "a message a line", "claude code"],
)
def test_a_file_that_is_one_session_is_not_split(records: list[object], tmp_path: Path) -> None:
    assert list(split_sessions(written(tmp_path / "one.jsonl", *records))) == []


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


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("session", ["3f1c2f0e-8a77-4a4e-a8d7-0a4b5b1c9d10", "plain", "with space", "..."])
def test_a_plain_name_has_a_directory_of_its_own(session: str, tmp_path: Path) -> None:
    assert transcript_path(session, base=tmp_path) == tmp_path / session / "transcript.json"


@pytest.mark.parametrize("session", ["../x", "a/b", "", " ", "a\0b", "..", ".", "/etc", "a\\b", "a\nb", "x" * 300])
def test_a_name_that_could_lead_elsewhere_is_refused(session: str, tmp_path: Path) -> None:
    for refuse in (transcript_path, TranscriptWriter):
        with pytest.raises(BadInput):
            refuse(session, base=tmp_path)
    with pytest.raises(BadInput):
        save_summary(session, "x", base=tmp_path)


def test_without_a_base_the_place_is_that_of_qbit() -> None:
    assert transcript_path("s") == Path("~/.qbit/transcripts/s/transcript.json").expanduser()


@pytest.mark.parametrize("place", ["s/transcript.json", "transcript-s.jsonl", "s/transcript-s.jsonl"])
def test_a_transcript_is_found_where_any_release_wrote_it(place: str, tmp_path: Path) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.touch()

    assert find_transcript("s", base=tmp_path) == path


def test_files_are_called_after_session_and_second(tmp_path: Path) -> None:
    base = tmp_path / "not" / "there" / "yet"

    given = save_summarizer_input("s1", "Grüß\r\nGott\n", base=base, clock=lambda: NOW)
    made = save_summary("s1", "안녕", base=base, clock=lambda: NOW)

    assert (given.name, given.read_bytes()) == ("summarizer-input-s1-1767225600.md", "Grüß\r\nGott\n".encode())
    assert (made.name, made.read_text()) == ("summary-s1-1767225600.md", "안녕")


def test_two_in_one_second_are_two_files(tmp_path: Path) -> None:
    paths = [save_summary("s1", text, base=tmp_path, clock=lambda: NOW) for text in ("one", "two", "three")]

    assert [path.read_text() for path in paths] == ["one", "two", "three"]
