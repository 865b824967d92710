from pathlib import Path
from typing import Any

import orjson

from nous.transcript import Kind, Transcript, parse_transcript
from nous.transcript.readers.grok import READER

SUMMARY: dict[str, Any] = {
    "info": {"id": "g1", "cwd": "/w"},
    "generated_title": "Read a file",
    "session_summary": "Read",
    "current_model_id": "grok-x",
    "chat_format_version": 1,
    "head_branch": "main",
    "head_commit": "abc",
    "num_messages": 4,
}
ASKED = {"type": "user", "content": [{"type": "text", "text": "Read it."}], "prompt_index": 0}
CALLED = {
    "type": "assistant",
    "content": "Reading.",
    "tool_calls": [{"id": "c1", "name": "read_file", "arguments": '{"target_file": "/w/a.py"}'}],
    "model_id": "grok-x",
    "model_fingerprint": "fp",
}
RESULT = {"type": "tool_result", "tool_call_id": "c1", "content": "print(1)"}


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(orjson.dumps(found) + b"\n" for found in records)


def read(*records: dict[str, Any]) -> Transcript:
    return parse_transcript(lines(*records), format="grok")


def said(transcript: Transcript) -> list[tuple[Kind, str]]:
    return [(entry.kind, entry.text) for entry in transcript]


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "user", "content": [{"type": "text", "text": text}], **more}


def test_a_history_is_recognised_and_read() -> None:
    transcript = parse_transcript(lines({"type": "system", "content": "You are."}, ASKED, CALLED, RESULT))

    assert transcript.format == "grok"
    assert said(transcript) == [
        (Kind.SYSTEM, "You are."),
        (Kind.USER, "Read it."),
        (Kind.ASSISTANT, "Reading."),
        (Kind.TOOL_CALL, "read_file(/w/a.py)"),
        (Kind.TOOL_RESULT, "print(1)"),
    ]
    assert transcript.entries[3].paths == ("/w/a.py",)
    assert transcript.header.model == "grok-x"


def test_what_the_program_says_in_the_users_place_is_passed_over() -> None:
    transcript = read(user("<user_info>\nmacos", synthetic_reason="environment_context"), user("<user_info>\nlinux"))

    assert not transcript.entries
    assert transcript.skipped == {"meta message": 2}


def test_the_users_words_are_taken_out_of_their_wrapper() -> None:
    wrapped = user("<user_info>\nmacos\n</user_info>\n<user_query>\nRead it.\n</user_query>")

    assert said(read(wrapped)) == [(Kind.USER, "Read it.")]


def test_a_compaction_is_a_summary() -> None:
    assert said(read(user("So far: nothing.", synthetic_reason="compaction_meta"))) == [
        (Kind.SUMMARY, "So far: nothing.")
    ]


def test_an_interruption_comes_before_the_prompt_that_tells_of_it() -> None:
    assert said(read({**ASKED, "prior_turn_interrupt": "mid_turn_abort"})) == [
        (Kind.SYSTEM, "Interrupted by the user"),
        (Kind.USER, "Read it."),
    ]


def test_images_are_counted() -> None:
    pictured = {"type": "user", "content": [{"type": "image", "url": "data:"}, {"type": "text", "text": "Look."}]}

    transcript = read(pictured)

    assert said(transcript) == [(Kind.USER, "Look.")]
    assert transcript.skipped == {"image block": 1}


def test_reasoning_is_thinking_under_its_own_id() -> None:
    thought = {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "Hm."}]}

    assert read(thought, {"type": "reasoning", "id": "r2", "summary": []}).skipped == {
        "thinking": 1,
        "reasoning without text": 1,
    }


def test_a_result_that_begins_like_an_error_is_one() -> None:
    kinds = [
        read(CALLED, {**RESULT, "content": text}).entries[-1].kind
        for text in ("Error: no such file", "exit: 1\nno", "exit: 0\nyes", "an Error in words")
    ]

    assert kinds == [Kind.ERROR, Kind.ERROR, Kind.TOOL_RESULT, Kind.TOOL_RESULT]


def test_a_search_of_the_provider_is_a_call_whose_result_is_where_it_looked() -> None:
    action = {"type": "search", "query": "python", "sources": [{"type": "url", "url": "https://a.test"}]}
    backend = {
        "type": "backend_tool_call",
        "kind": {"tool_type": "web_search", "action": action, "id": "w1", "status": "completed"},
    }

    made, came = read(backend).entries

    assert (made.kind, made.text, made.tool_input) == (
        Kind.TOOL_CALL,
        'web_search(query="python")',
        {"query": "python"},
    )
    assert (came.kind, came.text, came.call_id) == (Kind.TOOL_RESULT, "https://a.test", made.call_id)


def test_the_summary_beside_a_history_is_its_header(tmp_path: Path) -> None:
    history = tmp_path / "chat_history.jsonl"
    history.write_bytes(lines(ASKED, CALLED))
    (tmp_path / "summary.json").write_bytes(orjson.dumps(SUMMARY, option=orjson.OPT_INDENT_2))

    gathered = READER.gather(history)

    assert gathered is not None
    assert gathered == READER.gather(tmp_path / "summary.json")
    transcript = parse_transcript(gathered)
    header = transcript.header
    assert (header.session_id, header.title, header.cwd) == ("g1", "Read a file", "/w")
    assert (header.git_branch, header.git_commit, header.model) == ("main", "abc", "grok-x")
    assert said(transcript)[0] == (Kind.USER, "Read it.")


def test_a_summary_that_grows_with_the_session_does_not_change_what_is_gathered(tmp_path: Path) -> None:
    history, summary = tmp_path / "chat_history.jsonl", tmp_path / "summary.json"
    history.write_bytes(lines(ASKED))
    summary.write_bytes(orjson.dumps(SUMMARY))
    before = READER.gather(history)
    summary.write_bytes(orjson.dumps({**SUMMARY, "num_messages": 5}))

    assert READER.gather(history) == before


def test_a_history_alone_and_a_broken_summary_are_all_there_is(tmp_path: Path) -> None:
    history = tmp_path / "chat_history.jsonl"
    history.write_bytes(lines(ASKED))
    assert READER.gather(history) is None

    (tmp_path / "summary.json").write_bytes(b"{")

    assert READER.gather(history) is None
    assert READER.gather(tmp_path / "other.jsonl") is None


def test_in_the_session_of_a_sub_agent_its_caller_speaks() -> None:
    transcript = read({**SUMMARY, "session_kind": "subagent"}, ASKED)

    assert said(transcript) == [(Kind.SUB_AGENT, "Read it.")]


def test_a_summary_alone_is_recognised() -> None:
    transcript = parse_transcript(orjson.dumps(SUMMARY, option=orjson.OPT_INDENT_2))

    assert (transcript.format, transcript.header.session_id, transcript.entries) == ("grok", "g1", ())


def test_an_unknown_record_is_counted() -> None:
    assert read({"type": "news", "content": ""}, {"content": ""}).skipped == {"news": 1, "no type": 1}
