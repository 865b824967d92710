import json
from pathlib import Path
from typing import Any

import pytest

from nous.transcript import parse_transcript, split_sessions

RUN: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_each_line_with_messages_is_a_session_called_after_file_and_line(tmp_path: Path) -> None:
    path = written(tmp_path / "runs.jsonl", RUN, RUN)

    sessions = list(split_sessions(path))

    assert [session.id for session in sessions] == ["runs-1", "runs-2"]
    assert [entry.text for entry in parse_transcript(sessions[1].content)] == ["hi", "hello"]


def test_long_sessions_are_split_too(tmp_path: Path) -> None:
    long = {"messages": [{"role": "user", "content": "x" * 500_000}]}

    assert len(list(split_sessions(written(tmp_path / "runs.jsonl", long, long, RUN)))) == 3


def test_a_session_keeps_a_name_of_its_own_if_it_is_a_safe_one(tmp_path: Path) -> None:
    path = written(tmp_path / "runs.jsonl", {"session_id": "mine", **RUN}, {"id": "../../etc", **RUN}, {"id": 7, **RUN})

    assert [session.id for session in split_sessions(path)] == ["mine", "runs-2", "runs-3"]


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


def test_a_broken_line_among_sessions_is_handed_on_so_that_it_is_accounted_for(tmp_path: Path) -> None:
    path = written(tmp_path / "runs.jsonl", RUN, RUN)
    path.write_text(path.read_text() + '{"messages": [{"ro')

    assert [session.id for session in split_sessions(path)] == ["runs-1", "runs-2", "runs-3"]
