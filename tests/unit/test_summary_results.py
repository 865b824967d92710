"""What came of a call: what was refused or failed did not happen, and an approval says nothing yet."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.summary.evidence import Evidence
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]
Said = tuple[str, str, dict[str, Any]]

COMMIT = ("tool_call", "Bash", {"tool": "Bash", "call_id": "1", "tool_input": {"command": 'git commit -m "Mend it"'}})


def came(kind: str, text: str, **fields: Any) -> Said:
    return kind, text, {"call_id": "1", **fields}


@pytest.mark.parametrize(
    ("results", "told_of"),
    [
        ([came("decision", "Approved Bash(git commit)"), came("tool_result", "[main 1a2b3c4] Mend it")], 1),
        ([came("decision", "Approved Bash(git commit)")], 1),
        ([came("decision", "Approved Bash(git commit)"), came("error", "pre-commit hook failed", is_error=True)], 0),
        ([came("error", "pre-commit hook failed", is_error=True)], 0),
        ([came("tool_result", "Exit code 1: conflict", is_error=True)], 0),
        ([came("error", "Exit code 1\n[main 1a2b3c4] Mend it\n ! [rejected] main (fetch first)")], 1),
        ([came("decision", "Rejected Bash(git commit)")], 0),
        ([came("decision", "Interrupted Bash(git commit)")], 0),
    ],
)
def test_a_commit_is_told_if_it_was_made(told: Told, results: list[Said], told_of: int) -> None:
    evidence = Evidence(told(("user", "Commit it."), COMMIT, *results))

    assert [subject for subject, _ in evidence.commits] == ["Mend it"] * told_of


def test_what_was_approved_and_done_is_a_change(told: Told) -> None:
    edit = ("tool_call", "Edit", {"tool": "Edit", "call_id": "1", "tool_input": {"file_path": "a.py"}})
    yes, done = came("decision", "Approved Edit(a.py) for the session"), came("tool_result", "ok")

    evidence = Evidence(told(("user", "Mend it."), edit, yes, done))

    assert [call.tool for call in evidence.changes] == ["Edit"]
    assert evidence.failed_changes == []
