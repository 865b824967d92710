"""R5: a file that is still written is read on from where the last reading stopped."""

import gzip
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from builders.claude import assistant, result, text, use, user

from nous.transcript import Kind, read_transcript
from nous.transcript.follow import Growth, follow

FIRST = [user("go"), assistant(text("I look"), own="m1"), assistant(use("Bash", own="c1", command="ls"), own="m1")]
SECOND = [result("a.txt", own="c1"), user("and now?"), assistant(text("Done"), own="m2")]
THIRD = [user("thanks")]


def lines(*records: dict[str, object], first: int = 0) -> bytes:
    common = {"sessionId": "s", "isSidechain": False}
    return b"".join(
        orjson.dumps({"uuid": f"u{number}", **common, **record}) + b"\n" for number, record in enumerate(records, first)
    )


@pytest.fixture
def live(tmp_path: Path) -> Path:
    path = tmp_path / "live.jsonl"
    path.write_bytes(lines(*FIRST))
    return path


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(data)


def texts(growth: Growth) -> list[str]:
    return [entry.text for entry in growth.entries]


def test_the_last_turn_is_replaced_and_what_came_before_stays(live: Path) -> None:
    first = follow(live)
    append(live, lines(*SECOND, first=3))
    second = follow(live, first.resume)
    append(live, lines(*THIRD, first=6))
    third = follow(live, second.resume)

    assert (first.keep, texts(first)) == (0, ["go", "I look", 'Bash(cmd="ls")'])
    assert second.keep == 0
    assert texts(second) == ["go", "I look", 'Bash(cmd="ls")', "a.txt", "and now?", "Done"]
    assert (third.keep, texts(third)) == (4, ["and now?", "Done", "thanks"])
    assert third.applied_to(second.entries) == read_transcript(live).entries


def test_a_second_look_changes_nothing_and_begins_at_the_last_turn(live: Path) -> None:
    append(live, lines(*SECOND, first=3))
    first = follow(live)
    point = first.resume
    second = follow(live, point)

    assert (point.offset, point.line, point.kept) == (len(lines(*FIRST, SECOND[0])), 5, 4)
    assert (second.entries[0].text, second.entries[0].turn) == ("and now?", 2)
    assert second.applied_to(first.entries) == first.entries
    assert follow(live, second.resume) == second
    with pytest.raises(ValueError, match="are not those that were kept"):
        second.applied_to(())


def test_what_was_read_and_what_was_asked_for_is_remembered(live: Path) -> None:
    thinking = {"type": "thinking", "thinking": "hm"}
    append(live, lines(user("hurry"), user("now"), first=3))
    point = follow(live, include=["thinking"]).resume
    append(live, lines(result("no", own="c1", is_error=True), assistant(thinking, own="m3"), first=5))
    append(live, lines(FIRST[0], first=0))

    prompt, error, thought = follow(live, point).entries
    assert (error.kind, error.tool, error.call_id) == (Kind.ERROR, "Bash", "c1")
    assert thought.kind is Kind.THINKING
    assert prompt.text == "now", "a repetition of the first record is none of the entries"


def test_a_file_that_shrank_or_forked_is_read_anew(live: Path) -> None:
    append(live, lines(*SECOND, first=3))
    point = follow(live).resume

    live.write_bytes(lines(*FIRST))
    shrunk = follow(live, point)
    live.write_bytes(lines(user("stop"), *FIRST[1:], *SECOND, *THIRD))
    forked = follow(live, point)

    assert (shrunk.keep, len(shrunk.entries)) == (0, 3)
    assert (forked.keep, texts(forked)[0]) == (0, "stop")


def test_a_point_of_another_release_is_no_reason_to_fail(live: Path) -> None:
    append(live, lines(*SECOND, first=3))
    point = replace(follow(live).resume, state={"reading": {"calls": 7}, "finishing": None})

    growth = follow(live, point)

    assert growth.keep == 0
    assert growth.entries == read_transcript(live).entries


@pytest.mark.parametrize(
    "content",
    [
        b'[{"role":"user","content":"a"},{"role":"user","content":"b"}]',
        b'{"messages":[\n{"role":"user","content":"a"},\n{"role":"user","content":"b"}\n]}',
        gzip.compress(b'{"role":"user","content":"a"}\n{"role":"user","content":"b"}\n'),
    ],
    ids=["array", "object", "packed"],
)
def test_where_records_stand_on_no_lines_the_whole_is_read_each_time(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "whole"
    path.write_bytes(content)

    first = follow(path)
    second = follow(path, first.resume)

    assert (second.keep, texts(second)) == (0, ["a", "b"])
    assert second.entries == first.entries


def test_a_file_that_held_nothing_yet_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    path.touch()
    point = follow(path).resume
    path.write_bytes(lines(*FIRST))

    growth = follow(path, point)

    assert growth.resume.format == "claude_code"
    assert growth.entries == read_transcript(path).entries
