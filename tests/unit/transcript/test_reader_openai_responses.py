from typing import Any

import orjson
import pytest

from nous.transcript import Kind, Transcript, parse_transcript
from nous.transcript.reader import Sample
from nous.transcript.readers.openai_responses import READER

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
SAID = [
    (Kind.SYSTEM, "Be brief."),
    (Kind.USER, "Where is A1?"),
    (Kind.TOOL_CALL, 'bash(cmd="ls")'),
    (Kind.TOOL_RESULT, "a.txt"),
    (Kind.ASSISTANT, "At sea."),
]


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def read(*records: dict[str, Any]) -> Transcript:
    return parse_transcript(b"\n".join(map(orjson.dumps, records)), format="openai_responses")


@pytest.mark.parametrize(
    "content",
    [
        orjson.dumps(ITEMS),
        orjson.dumps(ITEMS, option=orjson.OPT_INDENT_2),
        b"\n".join(map(orjson.dumps, ITEMS)),
        orjson.dumps({"model": "gpt", "input": ITEMS}),
        orjson.dumps({"input": ITEMS[:2], "output": ITEMS[2:]}),
        orjson.dumps({"object": "response", "instructions": "Be brief.", "input": ITEMS[1:2], "output": ITEMS[2:]}),
    ],
    ids=["list", "pretty list", "lines", "request", "both", "answer"],
)
def test_items_are_found_in_every_container(content: bytes) -> None:
    transcript = parse_transcript(content)

    assert transcript.format == "openai_responses"
    assert said(transcript) == SAID


@pytest.mark.parametrize(
    "records",
    [
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}],
        [{"input": "2 + 2", "output": "4", "instruction": "add"}],
        [{"type": "reasoning", "id": "r", "summary": []}, {"type": "user", "content": "x"}, {"type": "assistant"}],
        [{"type": "turn.prompt", "input": [{"type": "text", "text": "hi"}]}],
        [{"timestamp": "x", "type": "response_item", "payload": CALL}],
    ],
    ids=["chat", "instruction", "grok", "kimi", "codex"],
)
def test_what_others_wrote_is_left_alone(records: list[dict[str, Any]]) -> None:
    assert READER.sniff(Sample("", tuple(records))) == 0


def test_bare_items_of_old_codex_are_left_to_whoever_is_surer() -> None:
    meta = {"id": "s", "timestamp": "2025-07-01T00:00:00Z", "instructions": None}

    assert 0.5 < READER.sniff(Sample("", (meta, *ITEMS))) < 0.7


def test_an_items_id_names_its_entry_and_pairs_the_call() -> None:
    _, _, call, result, answer = read(*ITEMS).entries

    assert (call.id, call.call_id, result.call_id, result.tool, answer.id) == ("fc_1", "c1", "c1", "bash", "msg_1")
    assert call.tool_input == {"command": "ls"}


def test_a_request_that_repeats_the_conversation_tells_only_what_is_new() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    first = {"model": "gpt", "id": "resp_1", "input": [USER], "output": [thought, CALL]}
    second = {"model": "gpt", "id": "resp_2", "input": [USER, {**CALL, "id": None}, OUTPUT], "output": [ANSWER]}

    transcript = read(first, second)

    assert said(transcript) == SAID[1:]
    assert transcript.skipped == {"empty reasoning": 1, "repeated item": 2}


def test_a_request_that_continues_by_id_holds_only_what_is_new() -> None:
    first = {"model": "gpt", "id": "resp_1", "input": "again", "output": [ANSWER]}
    second = {"model": "gpt", "id": "resp_2", "previous_response_id": "resp_1", "input": "again", "output": []}

    assert said(read(first, second)) == [(Kind.USER, "again"), (Kind.ASSISTANT, "At sea."), (Kind.USER, "again")]


def test_a_request_that_repeats_nothing_begins_another_session() -> None:
    transcript = read({"model": "gpt", "input": "one"}, {"model": "gpt", "input": "two"})

    assert said(transcript) == [(Kind.USER, "one"), (Kind.SYSTEM, "Another session begins"), (Kind.USER, "two")]


def test_an_answer_that_is_asked_for_twice_is_counted_once() -> None:
    usage = {"input_tokens": 7, "output_tokens": 3}
    answer = {"object": "response", "id": "resp_1", "model": "gpt", "output": [ANSWER], "usage": usage}

    transcript = read(answer, answer, {**answer, "id": "resp_2", "output": [], "conversation": {"id": "conv_1"}})

    header = transcript.header
    assert (header.model, header.session_id, header.input_tokens, header.output_tokens) == ("gpt", "conv_1", 14, 6)
    assert transcript.skipped == {"repeated response": 1}


def test_instructions_are_told_when_they_change() -> None:
    texts = ("a", "a", "b")

    transcript = read(*({"object": "response", "instructions": text, "output": []} for text in texts))

    assert said(transcript) == [(Kind.SYSTEM, "a"), (Kind.SYSTEM, "b")]


def test_an_answer_that_failed_or_is_incomplete_says_so() -> None:
    failed = {"object": "response", "status": "failed", "error": {"code": "x", "message": "boom"}, "output": []}
    cut = {"object": "response", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}

    transcript = read(failed, cut)

    assert said(transcript) == [
        (Kind.ERROR, "boom"),
        (Kind.SYSTEM, "The answer is incomplete: max_output_tokens"),
    ]


def test_what_a_program_says_in_the_users_place_is_not_the_users() -> None:
    transcript = read({"role": "user", "content": "<environment_context>cwd</environment_context>"})

    assert transcript.entries == ()
    assert transcript.skipped == {"meta message": 1}


def test_a_refusal_is_an_answer() -> None:
    parts = [{"type": "refusal", "refusal": "I cannot."}]

    assert said(read({"type": "message", "role": "assistant", "content": parts})) == [(Kind.ASSISTANT, "I cannot.")]


def test_times_are_those_of_the_item_or_of_its_answer() -> None:
    output = [ANSWER, {**CALL, "created_at": 1767000001}]

    transcript = read({"object": "response", "created_at": 1767000000, "output": output})

    assert [entry.time.timestamp() for entry in transcript if entry.time] == [1767000000, 1767000001]


@pytest.mark.parametrize(
    ("item", "reasons"),
    [
        ({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}, {"thinking": 1}),
        ({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}, {"empty reasoning": 1}),
        ({"type": "item_reference", "id": "m"}, {"item_reference": 1}),
        ({"type": "mcp_list_tools", "id": "m", "tools": []}, {"mcp_list_tools": 1}),
        ({"type": "of_next_year", "id": "m"}, {"of_next_year": 1}),
        ({"role": "user", "content": [{"type": "input_image"}]}, {"input_image part": 1}),
        ({"role": "assistant", "content": ""}, {"empty message": 1}),
        (
            {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}},
            {"computer_screenshot part": 1},
        ),
        ({"note": 1}, {"not an item": 1}),
    ],
)
def test_what_is_passed_over_is_counted(item: dict[str, Any], reasons: dict[str, int]) -> None:
    transcript = read(item)

    assert transcript.entries == ()
    assert transcript.skipped == reasons


def test_a_compaction_is_told() -> None:
    assert said(read({"type": "compaction", "id": "x", "encrypted_content": "y"})) == [
        (Kind.SYSTEM, "Conversation compacted")
    ]
