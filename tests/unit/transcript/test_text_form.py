"""F1 to F4 and F6: the text that a summarizer is given, byte for byte."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from builders.agent_events import EVENTS, told
from hypothesis import given
from hypothesis import strategies as st

from nous.transcript import (
    Entry,
    Kind,
    Transcript,
    TranscriptWriter,
    build_summarizer_input,
    format_for_summarizer,
    group_into_turns,
    parse_transcript,
)
from nous.transcript.model import ReadNotes
from nous.transcript.parsing.turns import Finishing
from nous.transcript.reader import Draft
from nous.transcript.render.terminal import render, transcript_as_json
from nous.transcript.render.turns import chunk

LS = '{\n  "command": "ls"\n}'
BLOCKS = {
    "user_message": "[turn 001] USER:\nGrüß Gott 안녕\n\n",
    "completed": "[turn 001] ASSISTANT (200 in / 100 out tokens):\nDone.\n\n",
    "tool_request": f"[turn 001] TOOL_REQUEST (tool=bash, id=r1):\n{LS}\n\n",
    "tool_result": '[turn 001] TOOL_RESULT (tool=bash, success=true):\n{\n  "stdout": "x",\n  "code": 0\n}\n\n',
    "tool_approval_request": f"[turn 001] TOOL_APPROVAL_REQUEST (tool=bash, risk=High):\n{LS}\n\n",
    "tool_auto_approved": "[turn 001] TOOL_AUTO_APPROVED (tool=bash): always allowed\n\n",
    "tool_denied": "[turn 001] TOOL_DENIED (tool=bash): too risky\n\n",
    "error": "[turn 001] ERROR (auth): no key\n\n",
    "sub_agent_started": "[turn 001] SUB_AGENT_STARTED (agent=explorer):\nlook\n\n",
    "sub_agent_completed": "[turn 001] SUB_AGENT_COMPLETED (agent=a1):\nfound it\n\n",
    "sub_agent_error": "[turn 001] SUB_AGENT_ERROR (agent=a1): gone\n\n",
    "ask_human_request": "\n**[Ask Human - choice]** Which?\n",
    "ask_human_response": "\n**[User Response]** a\n",
    "task_progress": "\n**[Task running]** half\n",
    "subtask_created": "\n**[Subtask Created]** Look (agent: auto)\n",
    "subtask_completed": "\n**[Subtask Completed]** Look\nseen\n",
    "subtask_waiting_for_input": "\n**[Waiting for Input]** Look: Where?\n",
    "subtask_user_input": "\n**[User Input]** there\n",
    "task_resumed": "\n**[Task Resumed]** from subtask 1/3\n",
    "enricher_result": "\n**[Enricher]** names\n",
}
"""What each type adds after one `started`; all others add nothing."""


def shown(*events: dict[str, Any], **options: Any) -> str:
    return format_for_summarizer([told("started"), *events], **options)


@pytest.mark.parametrize("kind", EVENTS)
def test_each_type_has_its_lines_or_none(kind: str) -> None:
    if kind != "started":
        assert shown(told(kind)) == BLOCKS.get(kind, "")


@pytest.mark.parametrize(("started", "turn"), [(0, "000"), (1, "001"), (12, "012"), (999, "999"), (1000, "1000")])
def test_turns_are_counted_by_what_started(started: int, turn: str) -> None:
    text = format_for_summarizer([*[told("started")] * started, told("user_message", content="hi")])

    assert text == f"[turn {turn}] USER:\nhi\n\n"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("raw\ntext", "raw\ntext"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ([], "[]"),
        ({}, "{}"),
        (
            {"b": [1, {"한": "é"}], "a": None},
            '{\n  "b": [\n    1,\n    {\n      "한": "é"\n    }\n  ],\n  "a": null\n}',
        ),
        ({"big": 2**70}, '{\n  "big": 1180591620717411303424\n}'),
    ],
)
def test_a_result_is_raw_text_or_pretty_json(result: Any, text: str) -> None:
    assert shown(told("tool_result", result=result, success=False)) == (
        f"[turn 001] TOOL_RESULT (tool=bash, success=false):\n{text}\n\n"
    )


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (told("tool_approval_request", risk_level="critical"), "risk=Critical)"),
        (told("completed", input_tokens=None, output_tokens=None), "ASSISTANT (0 in / 0 out tokens):\n"),
        (told("ask_human_response", skipped=True), "*[User skipped the question]*"),
        (told("subtask_created", agent="explorer"), "(agent: explorer)"),
    ],
)
def test_values_are_written_as_qbit_writes_them(event: dict[str, Any], text: str) -> None:
    assert text in shown(event)


def test_the_older_spelling_is_asked_for_by_its_year() -> None:
    result = "x" * 2_500
    text = shown(told("tool_request"), told("completed"), told("tool_result", result=result), style="2025")

    assert f"TOOL_REQUEST (tool=bash, request_id=r1):\n{LS}\n\n" in text
    assert "ASSISTANT (completed, 200 in / 100 out tokens):\nDone.\n\n" in text
    assert f":\n{'x' * 2_000}...[truncated, 2500 chars total]\n\n" in text
    helper = told("sub_agent_completed", agent_name="Explorer", response="x" * 4_000)
    assert f"(agent=Explorer):\n{'x' * 3_000}...[truncated]\n\n" in shown(helper, style="2025")


def test_a_long_result_keeps_its_ends_and_says_what_is_missing() -> None:
    assert shown(told("tool_result", result="x" * 4_000)).count("x") == 4_000
    assert "x" * 2_800 + "\n\n... [truncated 1000 chars] ...\n\n" + "x" * 1_200 in shown(
        told("tool_result", result="x" * 5_000)
    )
    assert "x" * 4_200 + "\n\n... [truncated 1000 chars] ...\n\n" + "x" * 1_800 in shown(
        told("sub_agent_completed", response="x" * 7_000)
    )
    assert "[truncated 5 chars]" in shown(told("tool_result", result="x" * 15), result_limit=10)
    assert "[truncated 5 chars]" in shown(told("sub_agent_completed", response="x" * 15), response_limit=10)


@pytest.mark.parametrize(
    "cluster",
    ["한", "\u1112\u1161\u11ab", "स्ते", "क्षि", "👨\u200d👩\u200d👧\u200d👦", "🇩🇪", "e\u0301"],
    ids=["Hangul", "Hangul in parts", "Devanagari", "Devanagari joined", "a family", "a flag", "an accent"],
)
def test_no_sign_is_torn_in_any_script(cluster: str) -> None:
    text = "a" + cluster * 5_000
    found = shown(told("tool_result", result=text)).removeprefix("[turn 001] TOOL_RESULT (tool=bash, success=true):\n")

    head, _, rest = found.removesuffix("\n\n").partition("\n\n... [truncated ")
    missing, _, tail = rest.partition(" chars] ...\n\n")
    assert head == "a" + cluster * ((len(head) - 1) // len(cluster))
    assert tail == cluster * (len(tail) // len(cluster))
    assert len(head) + int(missing) + len(tail) == len(text)
    assert 2_800 - len(cluster) < len(head) <= 2_800  # no more is given up than the sign that would be torn
    assert 1_200 - len(cluster) < len(tail) <= 1_200


def test_results_name_their_request_when_that_is_asked_for() -> None:
    events = (told("tool_result"), told("sub_agent_started"), told("sub_agent_completed"), told("sub_agent_error"))
    text = shown(*events, paired=True)

    assert "TOOL_RESULT (tool=bash, id=r1, success=true)" in text
    assert "SUB_AGENT_STARTED (agent=explorer, id=r1)" in text
    assert "SUB_AGENT_COMPLETED (agent=a1, id=r1)" in text
    assert "SUB_AGENT_ERROR (agent=a1, id=r1)" in text
    assert "id=r1" not in shown(*events)


def test_what_was_written_is_read_and_told(tmp_path: Path) -> None:
    writer = TranscriptWriter("s1", base=tmp_path)
    request = told("tool_request", tool_name="read_file", args={"path": "/src/main.rs"})
    result = told("tool_result", tool_name="read_file", result="fn main() {}")
    for event in (told("started"), told("user_message", content="Read it"), request, result, told("completed")):
        writer.append(event)

    assert build_summarizer_input("s1", base=tmp_path) == (
        "[turn 001] USER:\nRead it\n\n"
        '[turn 001] TOOL_REQUEST (tool=read_file, id=r1):\n{\n  "path": "/src/main.rs"\n}\n\n'
        "[turn 001] TOOL_RESULT (tool=read_file, success=true):\nfn main() {}\n\n"
        "[turn 001] ASSISTANT (200 in / 100 out tokens):\nDone.\n\n"
    )


def test_a_transcript_of_any_format_has_a_text_form() -> None:
    call = {"id": "c1", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
    transcript = parse_transcript(
        [
            {"role": "user", "content": "Look"},
            {"role": "assistant", "content": "Looking", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
            {"role": "user", "content": "Thanks"},
        ]
    )

    assert format_for_summarizer(transcript) == (
        "[turn 001] USER:\nLook\n\n"
        "[turn 001] ASSISTANT (0 in / 0 out tokens):\nLooking\n\n"
        f"[turn 001] TOOL_REQUEST (tool=bash, id=c1):\n{LS}\n\n"
        "[turn 001] TOOL_RESULT (tool=bash, success=true):\na.txt\n\n"
        "[turn 002] USER:\nThanks\n\n"
    )


@pytest.mark.parametrize(
    ("tool", "decision"),
    [
        ("Bash", "Rejected Bash"),
        ("Bash", 'Rejected Bash(cmd="ls"): No (yet): ask'),
        ("Bash", "Interrupted Bash"),
        ("an mcp tool", "Rejected an mcp tool(x=1): too slow"),
        ("ExitPlanMode", "Rejected the plan: why?"),
        (None, "Rejected a tool call"),
        (None, "Interrupted the turn"),
        (None, "Approved the plan: tabs"),
        (None, "Answered: yes"),
        (None, "Declined to answer"),
    ],
)
def test_a_decision_of_the_user_is_read_back(tool: str | None, decision: str) -> None:
    call = Entry(Kind.TOOL_CALL, "Bash", "e1", turn=1, tool=tool or "Bash", call_id="c1")
    decided = call._replace(kind=Kind.DECISION, text=decision, id="e2", tool=tool)

    read_back = parse_transcript(
        format_for_summarizer(Transcript(format="any", entries=(call, decided), digest="", bytes=0))
    )

    assert [entry.text for entry in read_back if entry.kind is Kind.DECISION] == [decision]


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
openai_chat · 2026-02-03 10:00 to 2026-02-03 10:05 UTC · 2 turns · 7 entries

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


WORDS = " ".join(f"w{number}" for number in range(600))


def entries(*said: tuple[Kind, str]) -> list[Entry]:
    drafts = (
        Draft(kind=kind, text=text, id=str(number), tool=text if kind is Kind.TOOL_CALL else None)
        for number, (kind, text) in enumerate(said)
    )
    finishing = Finishing()
    return [*finishing.entries(drafts, ReadNotes()), *finishing.conclude()]


Q1, A1 = (Kind.USER, "Q1"), (Kind.ASSISTANT, "A1")
Q2, A2 = (Kind.USER, "Q2"), (Kind.ASSISTANT, "A2")
EDIT = (Kind.TOOL_CALL, "Edit")


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (
            [Q1, A1, (Kind.TOOL_CALL, "a"), (Kind.TOOL_CALL, "b"), Q2, A2],
            ["[User] Q1\n\n[Assistant] A1\n\n[Tools] a | b\n\n[User] Q2", "[User] Q2\n\n[Assistant] A2"],
        ),
        ([Q1, A1, Q2, (Kind.TOOL_CALL, "TodoWrite")], ["[User] Q1\n\n[Assistant] A1\n\n[User] Q2"]),
        ([Q1, EDIT, (Kind.DECISION, "Rejected Edit")], ["[User] Q1\n\n[Decision] Rejected Edit\n\n[Tools] Edit"]),
        ([Q1, EDIT], ["[User] Q1\n\n[Tools] Edit"]),
        ([], []),
    ],
    ids=["question, answer, tools, next question", "bookkeeping alone is dropped", "decision", "tools alone", "none"],
)
def test_a_turn_is_what_was_asked_said_and_done(said: list[tuple[Kind, str]], texts: list[str]) -> None:
    turns = group_into_turns(entries(*said))

    assert [turn.text for turn in turns] == texts


def test_a_long_turn_is_pieces_of_256_tokens_that_have_40_in_common() -> None:
    pieces = chunk(WORDS)

    assert [piece.index for piece in pieces] == [0, 1, 2]
    assert [len(piece.text.split()) for piece in pieces] == [256, 256, 168]
    assert pieces[0].text.split()[-40:] == pieces[1].text.split()[:40]
    assert pieces[1].text.split()[-40:] == pieces[2].text.split()[:40]


@pytest.mark.parametrize("count", [1, 255, 256, 257, 472, 473])
@pytest.mark.parametrize("token", ["w ", "漢", "x" * 16], ids=["words", "no spaces", "endless word"])
def test_no_piece_holds_nothing_but_what_the_last_one_had(token: str, count: int) -> None:
    pieces = chunk(token * count)

    assert len(pieces) == (1 if count <= 256 else 2 if count <= 472 else 3)


@given(
    text=st.text(alphabet="ab 漢.\n👨\u200d", max_size=200),
    sizes=st.integers(1, 9).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1))),
)
def test_no_text_is_lost_and_none_is_made_up(text: str, sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    pieces = chunk(text, size=size, overlap=overlap)

    assert (pieces[0].begin, pieces[-1].end) == (0, len(text))
    assert all(piece.text == text[piece.begin : piece.end] for piece in pieces)
    assert all(after.begin <= before.end for before, after in pairwise(pieces))
    assert [piece.index for piece in pieces] == list(range(len(pieces)))
