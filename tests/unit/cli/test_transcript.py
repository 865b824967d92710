import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner

from nous.cli.transcripts import transcript

TEXT = "User: hi\n\nAssistant: hello\n"


@pytest.fixture
def path(tmp_path: Path) -> str:
    written = tmp_path / "session.txt"
    written.write_text(TEXT)
    return str(written)


@pytest.mark.parametrize(
    ("how", "shown"),
    [
        ((), "> hi\n    hello"),
        (("--json",), '"text":"hello"'),
        (("--turns",), "[User] hi\n\n[Assistant] hello\n"),
    ],
)
def test_a_session_is_shown_as_text_as_json_and_as_it_is_searched(path: str, how: tuple[str, ...], shown: str) -> None:
    assert shown in CliRunner().invoke(transcript, [path, *how]).output


def test_the_text_for_a_summarizer_is_printed_and_nothing_else(path: str) -> None:
    expected = "[turn 001] USER:\nhi\n\n[turn 001] ASSISTANT (0 in / 0 out tokens):\nhello\n\n"

    assert CliRunner().invoke(transcript, [path, "--summarizer"]).output == expected
    assert CliRunner().invoke(transcript, ["-", "--summarizer"], input=TEXT).output == expected
    assert "(completed, 0 in" in CliRunner().invoke(transcript, [path, "--summarizer", "--style", "2025"]).output


@pytest.mark.parametrize("how", [(), ("--summarizer",)])
def test_of_a_packed_file_that_was_cut_it_is_said_that_it_is_not_all_shown(
    tmp_path: Path, how: tuple[str, ...]
) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(TEXT.encode())[:-8])

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
