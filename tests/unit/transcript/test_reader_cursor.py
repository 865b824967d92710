from functools import partial
from typing import Any

import pytest
from builders.transcripts import Record, outcome, read_as, said

from nous.transcript import Kind

read = partial(read_as, "cursor")


def line(role: str, *blocks: Record | str, **fields: Any) -> Record:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": role, "message": {"content": content}, **fields}


def used(tool: str = "Shell", **given: Any) -> Record:
    return {"type": "tool_use", "name": tool, "input": given or {"command": "ls"}}


def result(words: object, **fields: Any) -> Record:
    return {"type": "tool_result", "content": words, **fields}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (line("user", result("boom", is_error=True)), (Kind.ERROR, "boom")),
        (line("user", result("boom"), metadata={"toolResultStatus": "error"}), (Kind.ERROR, "boom")),
        (
            line("user", {"type": "tool-result", "name": "read_file", "content": "boom", "is_error": True}),
            (Kind.ERROR, "boom"),
        ),
        ({"type": "turn_ended", "status": "aborted", "error": "User aborted"}, (Kind.SYSTEM, "User aborted")),
        ({"type": "turn_ended", "status": "error", "error": "boom"}, (Kind.ERROR, "boom")),
        ({"type": "of_next_year"}, "of_next_year"),
        ({"x": 1}, "not a message"),
        (line("user", {"type": "image"}), "image block"),
        (line("user", " "), "empty message"),
        (line("user", "<user_info>\nShell: zsh\n</user_info>"), "inserted context"),
    ],
)
def test_a_line_becomes_an_entry_or_is_counted(found: Record, expected: tuple[Kind, str] | str) -> None:
    assert outcome(read(found)) == expected


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("<timestamp>Friday</timestamp>\n<user_query>\ncheck it\n</user_query>", "check it"),
        ("<attached_files>\nx\n</attached_files>\n<user_query>\ncheck it\n</user_query>\n[Image]", "check it"),
        ("<user_query>one</user_query><user_query>two</user_query>", "one\n\ntwo"),
        ("<user_query>\ncheck <b>it</b>", "check <b>it</b>"),
        ("<rules>\nBe brief.\n</rules>\n\n<git_status>\n## main\n</git_status>\ncheck it", "check it"),
        ("<div>is this valid?</div>", "<div>is this valid?</div>"),
        ("check it", "check it"),
    ],
)
def test_only_the_users_own_words_are_taken_from_a_prompt(prompt: str, words: str) -> None:
    assert said(read(line("user", prompt))) == [(Kind.USER, words)]
    assert said(read({"role": "user", "message": {"content": prompt}})) == [(Kind.USER, words)]


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("Friday, Sep 4, 2026, 2:21 AM (UTC+8)", "2026-09-03T18:21:00+00:00"),
        ("Wednesday, Jun 3, 2026, 12:30 PM (UTC-7)", "2026-06-03T19:30:00+00:00"),
        ("Sunday, Sep 27, 2026, 9:00 AM (UTC+5:30)", "2026-09-27T03:30:00+00:00"),
        ("Wed, May 6, 2026, 10:00 AM", "2026-05-06T10:00:00+00:00"),
        ("Saturday, Feb 31, 2026, 1:00 PM (UTC)", None),
        ("now", None),
    ],
)
def test_a_prompt_says_when_and_where_it_was_sent(stamp: str, expected: str | None) -> None:
    info = line("user", "<user_info>\nWorkspace Path: /home/ann/app\n</user_info>")

    transcript = read(info, line("user", f"<timestamp>{stamp}</timestamp>\n<user_query>\nhi\n</user_query>"))

    (entry,) = transcript.entries
    assert (entry.time and entry.time.isoformat()) == expected
    assert transcript.header.cwd == "/home/ann/app"


def test_the_mark_of_what_cursor_left_out_is_no_answer() -> None:
    transcript = read(line("assistant", "[REDACTED]", used()), line("assistant", "Done.\n\n[REDACTED]"))

    assert said(transcript) == [(Kind.TOOL_CALL, 'Shell(cmd="ls")'), (Kind.ASSISTANT, "Done.")]
    assert transcript.skipped == {"redacted text": 1}
