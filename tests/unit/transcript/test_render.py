import json

from nous.transcript import parse_transcript
from nous.transcript.render.terminal import render, transcript_as_json

SESSION = [
    {"role": "user", "content": "List the files.", "timestamp": "2026-02-03T10:00:00Z"},
    {
        "role": "assistant",
        "content": "One moment.",
        "tool_calls": [{"id": "1", "function": {"name": "ls", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Error: no\nmore\nlines\nthan\nneeded"},
    {"role": "assistant", "tool_calls": [{"id": str(n), "function": {"name": "pwd"}} for n in (2, 3)], "content": None},
    {"role": "user", "content": "Thanks.", "timestamp": "2026-02-03T10:05:00Z"},
    {"strange": True},
]
VIEW = """\
inline
openai_chat · 2026-02-03 10:00 to 10:05 UTC · 2 turns · 7 entries

[turn 1]  10:00:00
> List the files.
    One moment.
    → ls
    ✗ Error: no
      more
      lines
      ... 2 more lines
    → pwd x2

[turn 2]  10:05:00
> Thanks.

read: 3 tool_call, 2 user, 1 assistant, 1 error
passed over: not a message"""


def test_a_session_is_shown_turn_by_turn_with_what_was_passed_over() -> None:
    assert "\n".join(render(parse_transcript(SESSION, source="inline"))) == VIEW


def test_a_transcript_is_json_lines_with_only_the_fields_that_say_something() -> None:
    transcript = parse_transcript([{"role": "user", "content": "hi", "timestamp": 1_770_078_313_595}], source="inline")

    first, entry, last = map(json.loads, transcript_as_json(transcript).splitlines())

    file = {"format": "openai_chat", "source": "inline", "digest": transcript.digest, "bytes": transcript.bytes}
    assert first == {**file, "header": {}}
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
