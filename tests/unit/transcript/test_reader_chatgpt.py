from typing import Any

import orjson
import pytest
from builders.transcripts import outcome, said

from nous.transcript import Kind, Transcript, parse_transcript


def text(*parts: Any) -> dict[str, Any]:
    return {"content_type": "text", "parts": list(parts)}


def message(role: str, content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    name = fields.pop("name", None)
    return {"author": {"role": role, "name": name}, "content": content, "recipient": "all", "metadata": {}, **fields}


def chain(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A conversation without branches: a root, and each message below the one before."""
    mapping: dict[str, Any] = {"n0": {"id": "n0", "message": None, "parent": None, "children": ["n1"]}}
    for number, each in enumerate(messages, 1):
        children = [f"n{number + 1}"] if number < len(messages) else []
        own = {**each, "id": each.get("id", f"m{number}")}
        mapping[f"n{number}"] = {"id": f"n{number}", "message": own, "parent": f"n{number - 1}", "children": children}
    return {"title": "T", "mapping": mapping, "current_node": f"n{len(messages)}", **fields}


def read(*messages: dict[str, Any], **fields: Any) -> Transcript:
    return parse_transcript([chain(*messages, **fields)], format="chatgpt")


TALK = (message("user", text("Hello"), create_time=1755000000.25), message("assistant", text("Hi, there"), id="a"))


@pytest.mark.parametrize("in_list", [True, False])
def test_a_conversation_is_recognised_and_read_from_its_beginning(*, in_list: bool) -> None:
    conversation = chain(*TALK, conversation_id="c1", default_model_slug="gpt-5")

    transcript = parse_transcript(orjson.dumps([conversation] if in_list else conversation))

    assert transcript.format == "chatgpt"
    assert said(transcript) == [(Kind.USER, "Hello"), (Kind.ASSISTANT, "Hi, there")]
    assert [entry.id for entry in transcript] == ["m1", "a"]
    header = transcript.header
    assert (header.session_id, header.title, header.model) == ("c1", "T", "gpt-5")
    assert transcript.started_at
    assert transcript.started_at.timestamp() == 1755000000.25


def branched() -> dict[str, Any]:
    conversation = chain(*TALK)
    again = {**message("assistant", text("Good day"), create_time=1755000009), "id": "b"}
    conversation["mapping"]["n3"] = {"id": "n3", "message": again, "parent": "n1", "children": []}
    conversation["mapping"]["n1"]["children"].append("n3")
    return conversation


@pytest.mark.parametrize(("current", "answer"), [("n2", "Hi, there"), ("n3", "Good day"), ("gone", "Good day")])
def test_only_the_branch_that_the_user_sees_is_told(current: str, answer: str) -> None:
    transcript = parse_transcript([{**branched(), "current_node": current}])

    assert said(transcript) == [(Kind.USER, "Hello"), (Kind.ASSISTANT, answer)]
    assert transcript.skipped == {"another branch": 1}


def test_a_circle_is_walked_once() -> None:
    conversation = chain(*TALK)
    conversation["mapping"]["n1"]["parent"] = "n2"

    assert len(parse_transcript([conversation]).entries) == 2


def test_a_message_to_a_tool_is_a_call_that_may_be_answered_twice_and_under_another_name() -> None:
    code = {"content_type": "code", "language": "python", "text": "1 + 1"}
    search = {"content_type": "code", "text": '{"search_query": [{"q": "x"}]}'}
    quote = {"content_type": "tether_quote", "title": "T", "url": "https://example.org", "text": "body"}

    transcript = read(
        message("assistant", code, recipient="python"),
        message("assistant", search, recipient="web"),
        message("tool", {"content_type": "tether_browsing_display", "result": "found", "summary": ""}, name="web"),
        message("tool", quote, name="web.quote"),
        message("tool", {"content_type": "execution_output", "text": "2"}, name="python"),
        message("assistant", text("Likes tea"), recipient="bio"),
        TALK[0],
        message("tool", text("file"), name="myfiles_browser"),
    )

    given = [entry.tool_input for entry in transcript if entry.kind is Kind.TOOL_CALL]
    assert given == [{"code": "1 + 1"}, {"search_query": [{"q": "x"}]}, {"text": "Likes tea"}]
    assert [(entry.text, entry.tool, entry.call_id) for entry in transcript if entry.kind is Kind.TOOL_RESULT] == [
        ("found", "web", "m2"),
        ("body", "web.quote", "m2"),
        ("2", "python", "m1"),
        ("file", "myfiles_browser", None),
    ]


SETTINGS = {"content_type": "user_editable_context", "user_profile": "I bake.", "user_instructions": "Be kind."}
KILLED = {"aggregate_result": {"status": "failed_with_kernel_death"}}


def ran(kind: str, words: str, **more: Any) -> dict[str, Any]:
    return message("tool", {"content_type": kind, "text": words, "name": "tool_error"}, name="python", **more)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (ran("execution_output", "x", metadata=KILLED), (Kind.ERROR, "x")),
        (ran("execution_output", "Traceback\n..."), (Kind.ERROR, "Traceback\n...")),
        (ran("system_error", "no connection"), (Kind.ERROR, "no connection")),
        (message("user", SETTINGS), "custom instructions"),
        (message("system", text(""), metadata={"is_user_system_message": True}), "custom instructions"),
        (
            message("assistant", {"content_type": "model_editable_context", "model_set_context": "1. Likes tea"}),
            (Kind.SYSTEM, "1. Likes tea"),
        ),
        (message("assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}), "thinking"),
        (message("assistant", {"content_type": "reasoning_recap", "content": "Thought"}), "reasoning_recap"),
        (message("system", text("")), "empty message"),
        (message("user", text("x"), metadata={"is_visually_hidden_from_conversation": True}), "meta message"),
        (message("tool", text(""), name="dalle"), "empty message"),
        (message("critic", text("x")), "critic message"),
        (message("assistant", {"content_type": "of_next_year", "x": 1}), "of_next_year content, empty message"),
    ],
)
def test_a_message_becomes_an_entry_or_is_counted(told: dict[str, Any], expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(told)) == expected


def test_what_is_said_beside_plain_words_is_told_or_counted() -> None:
    parts = [{"content_type": "image_asset_pointer"}, "Look", {"content_type": "audio_transcription", "text": "spoken"}]
    stopped = message("assistant", text("I thi"), metadata={"finish_details": {"type": "interrupted"}})
    first = chain(message("user", {"content_type": "multimodal_text", "parts": parts}), stopped)

    transcript = parse_transcript([first, chain(TALK[0], title="Second"), {"mapping": 3}], format="chatgpt")

    assert said(transcript) == [
        (Kind.USER, "Look\n\nspoken"),
        (Kind.ASSISTANT, "I thi"),
        (Kind.SYSTEM, "Interrupted by the user"),
        (Kind.SYSTEM, "Another session begins: Second"),
        (Kind.USER, "Hello"),
    ]
    assert transcript.skipped == {"image_asset_pointer part": 1, "not a conversation": 1}
