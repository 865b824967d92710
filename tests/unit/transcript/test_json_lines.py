import json

from nous.transcript import parse_transcript
from nous.transcript.render.terminal import transcript_as_json


def test_a_transcript_is_json_lines_with_only_the_fields_that_say_something() -> None:
    transcript = parse_transcript([{"role": "user", "content": "hi", "timestamp": 1_770_078_313_595}], source="inline")

    first, entry, last = map(json.loads, transcript_as_json(transcript).splitlines())

    origin = {"format": "openai_chat", "source": "inline", "digest": transcript.digest, "bytes": transcript.bytes}
    assert first == {"nous_transcript": 1, "header": {"read_from": origin}}
    assert entry == {
        "kind": "user",
        "text": "hi",
        "id": "message-1",
        "turn": 1,
        "time": "2026-02-03T00:25:13.595000Z",
        "line": 1,
        "offset": 1,
    }
    assert last == {"skipped": {}, "problems": []}


def test_what_was_written_is_read_again_and_written_the_same() -> None:
    transcript = parse_transcript(
        b'{"role":"user","content":"hi"}\n{torn\n{"role":"assistant","content":"yes","tool_calls":'
        b'[{"id":"c","function":{"name":"bash","arguments":"{\\"command\\":\\"ls\\"}"}}]}\n'
        b'{"role":"tool","tool_call_id":"c","content":"' + b"x" * 9_000 + b'"}\n'
    )

    written = transcript_as_json(transcript)
    again = parse_transcript(written)

    assert (again.format, again.confidence) == ("nous", 1.0)
    assert (again.entries, again.skipped, again.problems) == (
        transcript.entries,
        transcript.skipped,
        transcript.problems,
    )
    assert transcript_as_json(again) == written
