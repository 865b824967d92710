import json

from nous.transcript import parse_transcript
from nous.transcript.as_json import transcript_as_json


def test_a_transcript_is_one_json_object_with_only_the_fields_that_say_something() -> None:
    transcript = parse_transcript([{"role": "user", "content": "hi", "timestamp": 1_770_078_313_595}], source="inline")

    found = json.loads(transcript_as_json(transcript))

    assert found["format"] == "openai_chat"
    assert found["source"] == "inline"
    assert found["digest"] == transcript.digest
    assert found["turns"] == 1
    assert found["entries"] == [
        {
            "kind": "user",
            "text": "hi",
            "id": "message-1",
            "turn": 1,
            "time": "2026-02-03T00:25:13.595000Z",
            "line": 1,
            "offset": 1,
        }
    ]
    assert (found["skipped"], found["problems"]) == ({}, [])
