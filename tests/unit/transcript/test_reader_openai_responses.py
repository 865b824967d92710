"""What is the Responses API's own; what it shares with other chats is in `test_reader_chats.py`."""

from typing import Any

from nous.transcript import known_readers
from nous.transcript.reader import Sample

USER = {"role": "user", "content": [{"type": "input_text", "text": "Where is A1?"}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": '{"command":"ls"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a.txt"}
ANSWER = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "At sea.", "annotations": []}],
}
ITEMS: list[dict[str, Any]] = [{"role": "developer", "content": "Be brief."}, USER, CALL, OUTPUT, ANSWER]


def test_bare_items_of_old_codex_are_left_to_whoever_is_surer() -> None:
    meta = {"id": "s", "timestamp": "2025-07-01T00:00:00Z", "instructions": None}

    assert 0.5 < known_readers()["openai_responses"].sniff(Sample("", (meta, *ITEMS))) < 0.7
