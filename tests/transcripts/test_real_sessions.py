"""Whole sessions of other programs, counted again by a second, simpler reading."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from nous.transcript import Kind, Transcript, UnknownFormat, parse_transcript, read_transcript, split_sessions

DATA = Path(__file__).parents[3] / "shared" / "data"
NOT_TYPED = (
    *("<local-command", "<command-message>", "<command-name>", "<bash-stdout>", "<bash-stderr>", "<task-notification>"),
    *("[Request interrupted by user", "Base directory for this skill:", "<ide_", "<system-reminder>", "<bash-input>"),
)
REJECTED = "The user doesn't want to proceed with this tool use"
Json = dict[str, Any]

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the shared sessions are not at {DATA}")


def files(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in DATA.glob(pattern) if path.name != "SOURCE.txt")


CLAUDE = files("claude_code/*.jsonl", "claude_code_large/*.jsonl.gz")
QBIT = files("qbit/*/transcript.json", "qbit/*.jsonl")
CHAT = files("openai_chat/*.jsonl")


def name(value: object) -> str | None:
    return f"{value.parent.name}/{value.name}" if isinstance(value, Path) else None


@cache
def read(path: Path) -> Transcript:
    """A session, read once for all tests."""
    return read_transcript(path)


def raw_lines(path: Path) -> list[bytes]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return content.splitlines()


@cache
def raw_records(path: Path) -> tuple[Json, ...]:
    """The records of a file, which nobody may change, read once for all tests."""
    return tuple(_raw_records(path))


def _raw_records(path: Path) -> Iterator[Json]:
    """The records of a file by the slow way: one JSON value after another on each line, each uuid once."""
    decoder = json.JSONDecoder()
    seen: set[str] = set()
    for line in raw_lines(path):
        text, position = line.decode(), 0
        while position < len(text):
            record, position = cast("tuple[Json, int]", decoder.raw_decode(text, position))
            if record.get("uuid") not in seen:
                yield record
            seen.update(filter(None, [record.get("uuid")]))


def blocks(record: Json) -> list[Json]:
    content = record["message"]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def texts(transcript: Transcript, *kinds: Kind) -> list[str]:
    return [entry.text for entry in transcript if entry.kind in kinds]


def prompts(path: Path) -> list[str]:
    """What was typed, by the rules of the format: text of `user` records that no program wrote."""
    return [
        block["text"].strip()
        for record in raw_records(path)
        if record.get("type") == "user" and not record.get("isMeta") and not record.get("isCompactSummary")
        for block in blocks(record)
        if block["type"] == "text" and not block["text"].lstrip().startswith(NOT_TYPED)
    ]


def tool_results(path: Path) -> list[Json]:
    return [
        block
        for record in raw_records(path)
        if record.get("type") == "user"
        for block in blocks(record)
        if block["type"] == "tool_result"
    ]


def rejected(path: Path) -> list[Json]:
    return [
        block for block in tool_results(path) if block.get("is_error") and str(block["content"]).startswith(REJECTED)
    ]


@pytest.mark.parametrize("path", CLAUDE, ids=name)
def test_no_prompt_is_missed_and_no_result_of_a_tool_is_taken_for_one(path: Path) -> None:
    said = texts(read(path), Kind.USER)

    assert prompts(path)
    assert [words for words in prompts(path) if not any(words in prompt for prompt in said)] == []
    assert not {str(block["content"]).strip() for block in tool_results(path)} & set(said)


@pytest.mark.parametrize("path", CLAUDE, ids=name)
def test_every_rejection_is_a_decision_and_none_is_an_error(path: Path) -> None:
    transcript = read(path)
    reasons = [str(block["content"]).partition("the user said:")[2].strip() for block in rejected(path)]

    decisions = texts(transcript, Kind.DECISION)
    assert len([decision for decision in decisions if decision.startswith("Rejected")]) == len(reasons)
    assert all(any(reason in decision for decision in decisions) for reason in reasons)
    assert not any(REJECTED in error for error in texts(transcript, Kind.ERROR))


@pytest.mark.parametrize("path", CLAUDE, ids=name)
def test_every_answer_and_every_call_is_there_once(path: Path) -> None:
    found = [record for record in raw_records(path) if record.get("type") == "assistant"]
    calls = [block["id"] for record in found for block in blocks(record) if block["type"] == "tool_use"]
    answers = [block["text"].strip() for record in found for block in blocks(record) if block["type"] == "text"]
    transcript = read(path)

    assert [entry.call_id for entry in transcript if entry.kind is Kind.TOOL_CALL] == calls
    said = "\n\n".join(texts(transcript, Kind.ASSISTANT, Kind.ERROR))
    assert [answer for answer in answers if answer not in said and answer != "No response requested."] == []


@pytest.mark.skipif(not QBIT, reason="no sessions of qbit")
def test_the_three_forms_of_one_qbit_session_say_the_same() -> None:
    array, lines, legacy = (
        read_transcript(DATA / "qbit" / place)
        for place in ("array_0/transcript.json", "jsonl_0/transcript.json", "transcript-legacy-ms.jsonl")
    )

    said = [(entry.kind, entry.text, entry.time) for entry in lines]
    assert said == [(entry.kind, entry.text, entry.time) for entry in array]
    assert said == [(entry.kind, entry.text, entry.time) for entry in legacy]
    assert [problem.reason for problem in legacy.problems] == ["broken line"]


@pytest.mark.parametrize("path", CHAT, ids=name)
def test_a_file_of_many_sessions_is_split_into_all_of_them(path: Path) -> None:
    runs = [cast("Json", json.loads(line)) for line in raw_lines(path)]

    sessions = list(split_sessions(path))

    assert len({session.id for session in sessions}) == len(runs)
    for session, run in zip(sessions, runs, strict=True):
        transcript = parse_transcript(session.content)
        prompts = [message["content"].strip() for message in run["messages"] if message["role"] == "user"]
        assert texts(transcript, Kind.USER) == prompts


@pytest.mark.parametrize("path", [path for path in files("**/*") if path.is_file()], ids=name)
def test_every_other_file_is_read_or_refused_with_what_is_in_it(path: Path) -> None:
    try:
        read(path)
    except UnknownFormat as refusal:
        assert "it holds" in str(refusal)  # noqa: PT017  a file may be read or refused; both are right
