"""What is ShareGPT's own; what it shares with other chats is in `test_reader_chats.py`."""

from typing import Any

from builders.transcripts import read_as, said

from nous.transcript import Kind, Transcript
from nous.transcript.readers.sharegpt import tagged


def read(*turns: tuple[str, Any], **beside: Any) -> Transcript:
    named = [{"from": name, "value": value} for name, value in turns]
    return read_as("sharegpt", {"conversations": named, **beside})


def test_results_come_in_the_order_of_the_calls_even_if_one_is_empty() -> None:
    both = '[{"name": "a", "arguments": {}}, {"name": "b", "arguments": "{\\"x\\": 1}"}]'

    transcript = read(("function_call", both), ("observation", ""), ("tool", "of b"))

    assert [(entry.kind, entry.tool, entry.text) for entry in transcript][2:] == [
        (Kind.TOOL_RESULT, "a", ""),
        (Kind.TOOL_RESULT, "b", "of b"),
    ]
    assert transcript.entries[1].tool_input == {"x": 1}


def test_what_a_turn_is_depends_on_who_says_it_and_what() -> None:
    transcript = read(
        ("function", '{"name": "f", "arguments": {}}'),
        ("function", "done"),
        ("function_call", "ls -l"),
        ("human", "<think>x</think>"),
        ("tool", "<think>y</think>"),
    )

    assert said(transcript) == [
        (Kind.TOOL_CALL, "f"),
        (Kind.TOOL_RESULT, "done"),
        (Kind.TOOL_CALL, "a tool call"),
        (Kind.USER, "<think>x</think>"),
        (Kind.TOOL_RESULT, "<think>y</think>"),
    ]
    assert transcript.entries[2].tool_input == {"arguments": "ls -l"}


def test_thoughts_calls_and_results_are_taken_out_of_their_tags() -> None:
    call = '{"name": "bash", "arguments": {"command": "ls"}}'
    answer = f"<think>\nhm\n</think>\nLooking.\n<tool_call>\n{call}\n</tool_call>"
    result = '<tool_response>\n{"tool_call_id": "t", "name": "bash", "content": "a.txt"}\n</tool_response>'

    transcript = read(("gpt", answer), ("tool", result))

    assert said(transcript) == [
        (Kind.ASSISTANT, "Looking."),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.txt"),
    ]
    assert transcript.skipped == {"thinking": 1}
    assert transcript.entries[1].call_id == transcript.entries[2].call_id


def test_endless_tags_are_read_in_one_go() -> None:
    assert len(list(tagged("<think>" * 200_000 + "</tool_call>"))) == 1
