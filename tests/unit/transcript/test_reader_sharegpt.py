from typing import Any

import orjson
import pytest

from nous.transcript import Kind, Transcript, parse_transcript
from nous.transcript.readers.sharegpt import tagged

TURNS: list[dict[str, Any]] = [
    {"from": "system", "value": "Be brief."},
    {"from": "human", "value": "Where is A1?"},
    {"from": "function_call", "value": '{"name": "lookup", "arguments": {"id": "A1"}}'},
    {"from": "observation", "value": '{"at": "sea"}'},
    {"from": "gpt", "value": "At sea."},
]
SAID = [
    (Kind.SYSTEM, "Be brief."),
    (Kind.USER, "Where is A1?"),
    (Kind.TOOL_CALL, "lookup"),
    (Kind.TOOL_RESULT, '{"at": "sea"}'),
    (Kind.ASSISTANT, "At sea."),
]


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def read(*turns: dict[str, Any], **beside: Any) -> Transcript:
    return parse_transcript([{"conversations": list(turns), **beside}], format="sharegpt")


@pytest.mark.parametrize(
    "content",
    [
        orjson.dumps({"conversations": TURNS}),
        orjson.dumps({"conversations": TURNS}, option=orjson.OPT_INDENT_2),
        orjson.dumps([{"conversations": TURNS}]),
        orjson.dumps({"conversations": TURNS}) + b"\n",
        orjson.dumps(TURNS),
        b"\n".join(map(orjson.dumps, TURNS)),
    ],
    ids=["object", "pretty object", "list", "line", "turns", "lines of turns"],
)
def test_turns_are_found_in_every_container(content: bytes) -> None:
    transcript = parse_transcript(content)

    assert transcript.format == "sharegpt"
    assert said(transcript) == SAID


def test_a_conversation_may_name_its_speakers_by_role() -> None:
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]

    transcript = parse_transcript([{"conversations": turns}])

    assert transcript.format == "sharegpt"
    assert said(transcript) == [(Kind.USER, "hi"), (Kind.ASSISTANT, "hello")]


def test_messages_with_a_role_are_left_to_chats() -> None:
    assert parse_transcript([{"messages": [{"role": "user", "content": "hi"}]}]).format == "openai_chat"


def test_a_result_finds_its_call_without_an_id() -> None:
    _, _, call, result, _ = read(*TURNS).entries

    assert call.tool_input == {"id": "A1"}
    assert (result.call_id, result.tool) == (call.call_id, "lookup")


def test_results_come_in_the_order_of_the_calls_even_if_one_is_empty() -> None:
    both = '[{"name": "a", "arguments": {}}, {"name": "b", "arguments": "{\\"x\\": 1}"}]'

    transcript = read(
        {"from": "function_call", "value": both},
        {"from": "observation", "value": ""},
        {"from": "tool", "value": "of b"},
    )

    assert [(entry.kind, entry.tool, entry.text) for entry in transcript][2:] == [
        (Kind.TOOL_RESULT, "a", ""),
        (Kind.TOOL_RESULT, "b", "of b"),
    ]
    assert transcript.entries[1].tool_input == {"x": 1}


def test_a_call_without_a_result_is_forgotten_when_the_user_speaks() -> None:
    transcript = read(TURNS[2], {"from": "human", "value": "never mind"}, {"from": "observation", "value": "late"})

    assert transcript.entries[-1].call_id is None


def test_a_function_is_a_call_or_a_result_by_what_it_says() -> None:
    transcript = read(
        {"from": "function", "value": '{"name": "f", "arguments": {}}'},
        {"from": "function", "value": "done"},
    )

    assert said(transcript) == [(Kind.TOOL_CALL, "f"), (Kind.TOOL_RESULT, "done")]


def test_a_call_that_is_no_json_is_kept_as_it_is() -> None:
    (call,) = read({"from": "function_call", "value": "ls -l"}).entries

    assert (call.kind, call.tool_input) == (Kind.TOOL_CALL, {"arguments": "ls -l"})


def test_thoughts_calls_and_results_are_taken_out_of_their_tags() -> None:
    call = '{"name": "bash", "arguments": {"command": "ls"}}'
    answer = f"<think>\nhm\n</think>\nLooking.\n<tool_call>\n{call}\n</tool_call>"
    result = '<tool_response>\n{"tool_call_id": "t", "name": "bash", "content": "a.txt"}\n</tool_response>'

    transcript = read({"from": "gpt", "value": answer}, {"from": "tool", "value": result})

    assert said(transcript) == [
        (Kind.ASSISTANT, "Looking."),
        (Kind.TOOL_CALL, 'bash(cmd="ls")'),
        (Kind.TOOL_RESULT, "a.txt"),
    ]
    assert transcript.skipped == {"thinking": 1}
    assert transcript.entries[1].call_id == transcript.entries[2].call_id


def test_tags_in_what_the_user_says_or_a_tool_prints_are_text() -> None:
    turns = [{"from": "human", "value": "<think>x</think>"}, {"from": "tool", "value": "<think>y</think>"}]

    assert said(read(*turns)) == [(Kind.USER, "<think>x</think>"), (Kind.TOOL_RESULT, "<think>y</think>")]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a <think> b", [("", "a <think> b")]),
        ("b</think>c", [("think", "b"), ("", "c")]),
        ("<think>a <tool_call> b</think>c", [("think", "a <tool_call> b"), ("", "c")]),
        ("a</tool_call>b", [("", "a</tool_call>b")]),
        ("<think></think>", []),
    ],
)
def test_a_tag_that_is_not_closed_is_text_but_thoughts_need_not_be_opened(
    text: str, pieces: list[tuple[str, str]]
) -> None:
    assert list(tagged(text)) == pieces


def test_endless_tags_are_read_in_one_go() -> None:
    assert len(list(tagged("<think>" * 200_000 + "</tool_call>"))) == 1


def test_several_conversations_are_told_apart_and_the_first_names_the_session() -> None:
    turns = {"conversations": [{"from": "human", "value": "hi"}]}

    transcript = parse_transcript([{"id": "a", "model": "m", **turns}, {"id": "b", **turns}])

    assert said(transcript) == [(Kind.USER, "hi"), (Kind.SYSTEM, "Another session begins: b"), (Kind.USER, "hi")]
    assert (transcript.header.session_id, transcript.header.model) == ("a", "m")


def test_what_stands_beside_the_turns_is_told_or_counted() -> None:
    transcript = read(TURNS[1], {"from": "gpt", "value": ""}, {"from": "nobody", "value": "x"}, system="S", tools="[]")

    assert said(transcript) == [(Kind.SYSTEM, "S"), (Kind.USER, "Where is A1?")]
    assert transcript.skipped == {"tools": 1, "empty turn": 1, "not a turn": 1}


def test_a_result_that_begins_as_an_error_is_one() -> None:
    (entry,) = read({"from": "observation", "value": "Error: no such flight"}).entries

    assert (entry.kind, entry.is_error) == (Kind.ERROR, True)


def test_a_conversation_has_the_time_that_is_written_beside_it() -> None:
    (entry,) = read(TURNS[1], timestamp="2026-01-02T03:04:05Z").entries

    assert entry.time
    assert entry.time.isoformat() == "2026-01-02T03:04:05+00:00"


def test_values_of_any_type_are_borne() -> None:
    assert parse_transcript([{"conversations": [1, None, {"from": 1, "value": {}}]}], format="sharegpt").entries == ()
