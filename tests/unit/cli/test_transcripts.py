"""`nous dev transcript` and `nous dev excerpt`: options, JSON, and what they say to a wrong value."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nous.cli import main
from nous.cli.transcripts import excerpt, transcript
from nous.domain.errors import BadInput
from nous.excerpt import fit, windows
from nous.transcript import read_transcript

TURNS = 40
TEXT = "".join(
    f"User: Please look at step {number} of the plan.\n\nAssistant: Step {number} is done, {'as told, ' * 12}yes.\n\n"
    for number in range(TURNS)
)

HELLO = "User: hi\n\nAssistant: hello\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    written = tmp_path / "session.txt"
    written.write_text(TEXT)
    return str(written)


@pytest.fixture
def short(tmp_path: Path) -> str:
    written = tmp_path / "short.txt"
    written.write_text(HELLO)
    return str(written)


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(excerpt, list(arguments), input=stdin)


def test_the_text_alone_is_printed_within_the_budget(path: str) -> None:
    result = run(path, "--budget", "500")

    assert result.exit_code == 0
    assert result.output == fit(read_transcript(path), 500).text + "\n"


def test_json_has_the_excerpt_and_a_reason_for_each_item(path: str) -> None:
    excerpts = windows(read_transcript(path), 500, most=2)

    result = run(path, "--budget", "500", "--windows", "2", "--json")

    printed = json.loads(result.stdout)
    assert [(each["text"], each["digest"]) for each in printed] == [
        (each.excerpt.text, each.excerpt.digest) for each in excerpts.windows
    ]
    for manifest in (each["manifest"] for each in printed):
        assert manifest["budget"] == 500
        assert all(record["reason"] for name in ("kept", "cut", "dropped") for record in manifest[name])
    assert result.stderr == f"nous: it would fill {excerpts.wanted} windows; in 2, less of it is kept\n"


def test_the_manifest_tells_the_budget_its_unit_and_what_became_of_each_turn(path: str) -> None:
    lines = run(path, "--budget", "200", "--unit", "tokens", "--manifest").output.splitlines()

    assert lines[0].startswith("about ")
    assert lines[0].endswith(" tokens for a budget of 200 tokens, by the strategy default")
    assert lines[1].split() == ["fate", "what", "shown", "of", "why", "entries"]
    assert {line.split()[0] for line in lines[2:]} == {"kept", "cut", "dropped"}
    assert len(lines[2:]) == 2 * TURNS


def test_a_full_disk_is_no_defect_of_ours(path: str) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "nous", "excerpt", path]
        ended = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE)

    assert ended.returncode == 1
    assert ended.stderr.decode() == "nous: the system could not read or write: No space left on device\n"


def test_a_session_in_which_nobody_says_anything_is_refused() -> None:
    result = run("-", "--format", "codex", stdin=f"{json.dumps({'type': 'session_meta', 'payload': {'id': 's1'}})}\n")

    assert isinstance(result.exception, BadInput)
    assert str(result.exception).startswith("standard input holds nothing that anybody said (skipped: 1 ")
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--windows", "0"], "0 is not in the range x>=1"),
        (["--strategy", "best"], "'best' is not a strategy: choose one of default, spec"),
        (["--format", "best"], "best"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_wrong(path: str, arguments: list[str], complaint: str) -> None:
    result = CliRunner().invoke(main, ["excerpt", path, *arguments])

    assert isinstance(result.exception, SystemExit)
    assert complaint in result.stderr


@pytest.mark.parametrize(("how", "shown"), [((), "> hi\n    hello"), (("--json",), '"text":"hello"')])
def test_a_session_is_shown_as_text_and_as_json(short: str, how: tuple[str, ...], shown: str) -> None:
    assert shown in CliRunner().invoke(transcript, [short, *how]).output


def test_the_text_for_a_summarizer_is_printed_and_nothing_else(short: str) -> None:
    expected = "[turn 001] USER:\nhi\n\n[turn 001] ASSISTANT (0 in / 0 out tokens):\nhello\n\n"

    assert CliRunner().invoke(transcript, [short, "--summarizer"]).output == expected
    assert CliRunner().invoke(transcript, ["-", "--summarizer"], input=HELLO).output == expected
    assert "(completed, 0 in" in CliRunner().invoke(transcript, [short, "--summarizer", "--style", "2025"]).output


@pytest.mark.parametrize("how", [(), ("--summarizer",)])
def test_of_a_packed_file_that_was_cut_it_is_said_that_it_is_not_all_shown(
    tmp_path: Path, how: tuple[str, ...]
) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(HELLO.encode())[:-8])

    shown = CliRunner().invoke(transcript, [str(cut), *how])

    assert "hello" in shown.stdout
    [line] = shown.stderr.splitlines()
    assert line.startswith(f"nous: {cut}: packed data damaged: ")
    assert line.endswith("; what comes before the damage is shown")


def test_what_is_passed_over_is_shown_when_it_is_asked_for(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    session.write_text(
        '{"uuid":"a","sessionId":"s","isSidechain":false,"type":"user","message":{"content":"go"}}\n'
        '{"uuid":"b","sessionId":"s","isSidechain":false,"type":"assistant","message":{"id":"m","content":'
        '[{"type":"thinking","thinking":"hm"}]}}\n'
    )

    assert "passed over: thinking" in CliRunner().invoke(transcript, [str(session)]).output
    shown = CliRunner().invoke(transcript, [str(session), "--with", "thinking"]).output
    assert "    hm\n" in shown
    assert "read: 1 user, 1 thinking\npassed over: nothing" in shown
