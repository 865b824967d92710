from typing import Any

from nous.transcript import Kind, Transcript, parse_transcript

BODY: dict[str, Any] = {
    "model": "claude-x",
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [
        {"role": "user", "content": "Fix it."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}},
                {"type": "tool_use", "id": "t2", "name": "Edit", "input": {"file_path": "/a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "text of a"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "is_error": True,
                    "content": [{"type": "text", "text": "File has not been read"}],
                },
                {"type": "text", "text": "Read it first!"},
            ],
        },
        {"role": "assistant", "content": "Done."},
    ],
}


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def test_a_body_is_read_block_by_block() -> None:
    transcript = parse_transcript([BODY])

    assert transcript.format == "anthropic_messages"
    assert said(transcript) == [
        (Kind.SYSTEM, "Be brief."),
        (Kind.USER, "Fix it."),
        (Kind.ASSISTANT, "Looking."),
        (Kind.TOOL_CALL, "Read(/a)"),
        (Kind.TOOL_CALL, "Edit(/a)"),
        (Kind.TOOL_RESULT, "text of a"),
        (Kind.ERROR, "File has not been read"),
        (Kind.USER, "Read it first!"),
        (Kind.ASSISTANT, "Done."),
    ]
    assert transcript.header.model == "claude-x"


def test_a_list_of_messages_is_enough() -> None:
    assert said(parse_transcript(BODY["messages"])) == said(parse_transcript([BODY]))[1:]


def test_calls_and_results_are_paired_by_id() -> None:
    paired = [entry.call_id for entry in parse_transcript([BODY]) if entry.call_id]

    assert paired == ["t1", "t2", "t1", "t2"]


def test_two_answers_in_a_row_stay_two() -> None:
    answers = [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]

    transcript = parse_transcript(answers, format="anthropic_messages")

    assert said(transcript) == [(Kind.ASSISTANT, "a"), (Kind.ASSISTANT, "b")]
