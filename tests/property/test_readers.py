"""Whatever bytes a file holds, it is read or refused: no crash, no hang, and the laws of a transcript hold."""

from functools import cache
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from nous.domain.errors import BadInput
from nous.samples import bundled_sessions
from nous.transcript import Kind, Transcript, group_into_turns, known_readers, read_transcript
from nous.transcript.io.byte_source import ReadPosition, is_packed
from nous.transcript.io.records import records
from nous.transcript.model import ReadNotes
from nous.transcript.parsing.values import cut
from nous.transcript.render.terminal import render, transcript_as_json

FORMATS = sorted(known_readers())
MORE = settings().max_examples * 2
ALIKE = st.sampled_from(
    ["user", "assistant", "tool", "system", "text", "tool_use", "tool_result", "queue-operation", "id"]
)
KEYS = ALIKE | st.sampled_from(
    [
        *("type", "role", "content", "message", "messages", "uuid", "sessionId", "isMeta", "isSidechain", "attachment"),
        *("operation", "subtype", "prompt", "tool_calls", "function", "arguments", "_timestamp", "args", "request_id"),
        *("mapping", "conversations", "from", "value", "data", "kwargs", "lc", "output", "payload", "parts", "history"),
        *("toolCalls", "functionCall", "functionResponse", "systemPayload", "$set", "step_index", "item", "thread_id"),
        *("session", "parentId", "call_id", "result", "status", "state", "info", "trajectory", "kind", "skipped"),
        *("input", "name", "tool_use_id", "is_error", "usage", "summary", "leafUuid", "error", "origin", "timestamp"),
    ]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | ALIKE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
RECORDS = st.lists(st.dictionaries(KEYS, JSON, max_size=6), max_size=3)


def check(transcript: Transcript, content: bytes) -> None:
    ids = [entry.id for entry in transcript]
    assert len(ids) == len(set(ids))
    prompts = 0
    for entry in transcript:
        prompts += entry.kind is Kind.USER
        assert entry.turn == prompts
        assert 0 <= entry.offset <= len(content)
    assert all(before.number < after.number for before, after in pairwise(transcript.turns))
    assert (transcript.bytes, transcript.digest) == (len(content), sha256(content).hexdigest())
    assert transcript_as_json(transcript)
    assert list(render(transcript))
    assert {entry.id for turn in group_into_turns(transcript) for entry in turn.entries} <= set(ids)


@cache
def undamaged(path: Path) -> Transcript:
    return read_transcript(path)


def check_as_any_format(content: bytes) -> None:
    """What was drawn is read as every format, because drawing it takes longer than reading it does."""
    for name in FORMATS:
        note(f"read as {name}")
        check(read_transcript(BytesIO(content), format=name), content)


@settings(max_examples=MORE, deadline=None)
@given(content=st.binary(max_size=400))
def test_any_bytes_can_be_read_as_any_format(content: bytes) -> None:
    if not is_packed(content):
        check_as_any_format(content)


@settings(max_examples=2 * MORE, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # slow to draw
@given(found=RECORDS)
def test_any_json_can_be_read_as_any_format(found: list[dict[str, Any]]) -> None:
    for content in (b"\n".join(map(orjson.dumps, found)), orjson.dumps(found, option=orjson.OPT_INDENT_2)):
        check_as_any_format(content)


@settings(deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        read_transcript(BytesIO(content))
    except BadInput:
        return


@settings(max_examples=25, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("path", bundled_sessions(), ids=lambda path: cast("Path", path).name)
def test_a_damaged_session_is_still_read(path: Path, data: st.DataObject) -> None:
    whole = path.read_bytes()
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4), label="damages")):
        start = data.draw(st.integers(0, len(content)), label="start")
        content[start : start + data.draw(st.integers(0, 300))] = data.draw(st.binary(max_size=30), label="put there")
    damaged = bytes(content)
    assume(not is_packed(damaged))

    check(read_transcript(BytesIO(damaged), format=undamaged(path).format), damaged)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # as above
@given(found=st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=4), max_size=6), data=st.data())
def test_records_survive_every_way_of_writing_them_down(found: list[dict[str, Any]], data: st.DataObject) -> None:
    split = data.draw(st.integers(0, len(found)))
    ways = (
        b"\n".join(map(orjson.dumps, found)),
        b"".join(map(orjson.dumps, found)),
        b"\xef\xbb\xbf" + b"\r\n\r\n".join(map(orjson.dumps, found)),
        orjson.dumps(found),
        orjson.dumps(found, option=orjson.OPT_INDENT_2),
        orjson.dumps(found[:split], option=orjson.OPT_INDENT_2) + b"\n" + b"\n".join(map(orjson.dumps, found[split:])),
    )

    for way in ways:
        notes = ReadNotes()
        assert [record.value for record in records(BytesIO(way), notes, ReadPosition())] == found
        assert not notes.problems


@given(text=st.text(), limit=st.integers(0, 50))
def test_a_cut_text_keeps_its_ends_and_says_how_much_is_missing(text: str, limit: int) -> None:
    shown = cut(text, limit)

    if len(text) <= limit:
        assert shown == text
        return
    head, _, rest = shown.partition("\n\n... [truncated ")
    missing, _, tail = rest.partition(" chars] ...\n\n")
    assert len(head) + len(tail) <= limit
    assert len(head) + int(missing) + len(tail) == len(text)
    assert text.startswith(head)
    assert text.endswith(tail)
