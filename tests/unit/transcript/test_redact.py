"""Redacted transcripts, and the content of session files before it is sent."""

from typing import Any

import orjson
import pytest
from conftest import Told

from nous.redaction.redactor import Redaction, Redactor
from nous.transcript import parse_transcript
from nous.transcript.model import Header, Transcript
from nous.transcript.redact import redact_content, redact_transcript
from nous.transcript.tool_summary import extract_tool_summary

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # noqa: S105


@pytest.fixture
def redaction() -> Redaction:
    return Redaction(Redactor())


def redacted(transcript: Transcript) -> Transcript:
    return redact_transcript(transcript, Redaction(Redactor()))


def test_every_text_of_a_transcript_is_redacted(told: Told) -> None:
    call = {"tool": "Bash", "tool_input": {"command": f"deploy --with {TOKEN}"}, "paths": (f"/r/{TOKEN}",)}
    session = told(
        ("user", f"use {TOKEN}"), ("tool_call", "Bash", call), ("error", f"401 for {TOKEN}"), header=Header(title=TOKEN)
    )

    clean = redacted(session)

    assert TOKEN not in str(clean)
    assert [entry.id for entry in clean] == [entry.id for entry in session]
    assert clean.digest == session.digest


def test_a_call_that_is_shown_shortened_is_shortened_again_without_its_secret(told: Told) -> None:
    given = {"command": f"curl -s https://api.example.dev/v1/things -H 'X: {TOKEN}{TOKEN}' | jq ."}
    shown = extract_tool_summary("Bash", given, ()) or ""

    [entry] = redacted(told(("tool_call", shown, {"tool": "Bash", "tool_input": given})))

    assert TOKEN[:20] in shown
    assert "ghp_" not in entry.text


def test_a_secret_is_replaced_where_it_is_repeated_bare_or_cut(told: Told) -> None:
    session = told(
        ("user", "The password is hunter2-Xk!9, use it."),
        ("decision", 'Rejected Bash(cmd="psql -W hunter2-X...")'),
        ("tool_result", "login: hunter2-Xk!9 accepted"),
        ("assistant", "hunter2-Yz is another word"),
    )

    texts = [entry.text for entry in redacted(session)]

    assert texts[1] == 'Rejected Bash(cmd="psql -W [secret:password]...")'
    assert texts[2] == "login: [secret:password] accepted"
    assert texts[3] == "hunter2-Yz is another word"


def test_a_secret_is_replaced_in_what_later_calls_are_given(told: Told) -> None:
    call = {"tool": "Bash", "tool_input": {"command": "seed app hunter2-Xk!9", "env": ["hunter2-Xk!9"]}}

    clean = redacted(told(("tool_result", "DB_PASSWORD=hunter2-Xk!9"), ("tool_call", "Bash", call)))

    assert "hunter2" not in str(clean)


def test_what_a_command_prints_of_a_secret_is_known_by_the_command(told: Told) -> None:
    call = {"tool": "Bash", "tool_input": {"command": "printenv API_TOKEN"}, "call_id": "c1"}

    clean = redacted(told(("tool_call", "Bash", call), ("tool_result", "abc123XYZ99\n", {"call_id": "c1"})))

    assert clean.entries[1].text == "[secret:printed-token]\n"


def test_the_numbers_and_the_form_of_json_stay_beside_a_secret(told: Told) -> None:
    written = '{ "id": 123456789012345678901234567890,\n  "name": "DB_PASSWORD", "value": "Wint3rmute9k" }'

    [entry] = redacted(told(("tool_result", written)))

    assert entry.text == written.replace("Wint3rmute9k", "[secret:password]")


def test_a_call_without_an_id_tells_nothing_of_other_texts(told: Told) -> None:
    call = {"tool": "Bash", "tool_input": {"command": "printenv API_TOKEN"}}
    session = told(("tool_call", "Bash", call), ("user", "abc123XYZ99"))

    assert redacted(session).entries[1].text == "abc123XYZ99"


def test_a_result_that_is_json_is_judged_by_its_names(told: Told) -> None:
    [entry] = redacted(told(("tool_result", '{"env":[{"name":"DB_PASSWORD","value":"Wint3rmute9k"}]}')))

    assert entry.text == '{"env":[{"name":"DB_PASSWORD","value":"[secret:password]"}]}'


def test_a_password_that_is_a_name_stays_elsewhere(told: Told) -> None:
    session = told(
        ("user", "postgres://shop2024:webshop24@localhost/webshop24"), ("assistant", "I read webshop24/a.ts.")
    )

    assert "[secret:url-password]@localhost" in redacted(session).entries[0].text
    assert redacted(session).entries[1].text == "I read webshop24/a.ts."
    assert "hunter222" not in str(redacted(told(("user", "password: hunter222"), ("assistant", "hunter222 works"))))


def test_entries_that_are_private_as_a_whole_are_skipped_and_counted(told: Told) -> None:
    session = told(("user", "<private>only mine"), ("assistant", "Yes. <private>no</private>"), ("user", "go on"))

    clean = redacted(session)

    assert [entry.text for entry in clean] == ["Yes. ", "go on"]
    assert clean.skipped == {"private part": 1}


LINES = [
    {"type": "user", "message": {"role": "user", "content": f"use {TOKEN}"}},
    {"type": "user", "message": {"role": "user", "content": "nothing special"}},
]


@pytest.mark.parametrize(
    "content",
    [
        b"\n".join(map(orjson.dumps, LINES)),
        orjson.dumps(LINES, option=orjson.OPT_INDENT_2).decode(),
        orjson.dumps({"id": "s1", "messages": LINES}),
        [{"role": "user", "content": f"use {TOKEN}"}],
        f"User: use {TOKEN}\n\nAssistant: done",
        f'{{"type": "user", "text": "torn {TOKEN}'.encode(),
        b"\xff\xfe " + TOKEN.encode(),
    ],
    ids=["lines", "a pretty list", "a document", "messages", "text", "a torn line", "bytes that are no text"],
)
def test_content_of_every_kind_is_redacted_and_keeps_its_type(content: Any, redaction: Redaction) -> None:
    clean = redact_content(content, redaction)

    assert type(clean) is type(content)
    assert TOKEN not in str(clean)
    assert "[secret:github-pat]" in str(clean)


@pytest.mark.parametrize(
    "content",
    [
        [
            {"role": "user", "content": "\ud800 The password is hunter2-Xk!9."},
            {"role": "tool", "content": ["hunter2-Xk!9"]},
        ],
        b'{"role": "user", "content": "The password is hunter2-Xk!9."}\n{"role": "tool", "content": "hunter2-Xk!9"}',
        "The password is hunter2-Xk!9.\nlogin: hunter2-Xk!9",
    ],
    ids=["messages", "lines", "text"],
)
def test_a_secret_that_content_repeats_bare_is_replaced_there_too(content: Any, redaction: Redaction) -> None:
    clean = redact_content(content, redaction)

    assert "hunter2" not in str(clean)
    assert str(clean).count("[secret:password]") == 2


def test_lines_without_a_secret_stay_byte_for_byte(redaction: Redaction) -> None:
    content = b'{ "a" : "token" }\r\n\n' + orjson.dumps(LINES[0]) + b"\n"

    clean = redact_content(content, redaction)

    assert clean.startswith(b'{ "a" : "token" }\r\n\n{"type":"user"')
    assert clean.endswith(b"\n")


def test_redacted_content_is_read_as_before(redaction: Redaction) -> None:
    content = b"\n".join(
        orjson.dumps({"role": role, "content": text})
        for role, text in (("user", f"use {TOKEN} <private>x"), ("assistant", "done"))
    )

    entries = parse_transcript(redact_content(content, redaction)).entries

    assert [entry.text for entry in entries] == ["use [secret:github-pat]", "done"]


def test_a_private_part_of_a_text_spans_lines_that_look_like_json(redaction: Redaction) -> None:
    text = 'User: note\n<private>\na\n{"plan": "merger"}\nlayoffs\n</private>\nUser: go on'

    assert redact_content(text, redaction) == "User: note\n\nUser: go on"


def test_content_that_is_nested_too_deeply_is_redacted_as_text(redaction: Redaction) -> None:
    deep = '{"a":' * 900 + f'"{TOKEN}"' + "}" * 900

    assert TOKEN not in redact_content(deep, redaction)
