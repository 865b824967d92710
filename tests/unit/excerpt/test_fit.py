"""What an excerpt keeps, in which order, and how it shows what it leaves out."""

from collections.abc import Callable
from typing import Any

from nous.excerpt import fit
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]

REASONED = "We keep it because " + "the cache is warm and the path is hot " * 24


def call(tool: str, **given: Any) -> tuple[str, str, dict[str, Any]]:
    return "tool_call", tool, {"tool": tool, "tool_input": given}


def test_what_fits_is_laid_out_whole_with_roles_and_one_line_of_tools(told: Told) -> None:
    transcript = told(
        ("user", "Q1"),
        ("assistant", "A1"),
        call("Read", file_path="a.py"),
        ("tool_result", "the whole file"),
        call("Bash", command="cd /src && ls 2>&1 | tail -5", description="List"),
        ("user", "Q2"),
    )

    text = fit(transcript).text

    assert text == (
        "[User] Q1\n\n[Assistant] A1\n\n[Tools] Read(a.py) | Bash(List: ls)\n\n[Output] the whole file\n\n[User] Q2"
    )


def test_repeated_calls_are_counted_and_commits_told_by_their_subject(told: Told) -> None:
    commit = "git add . && git commit -m \"$(cat <<'EOF'\nFix the cache\n\nLong story\nEOF\n)\""

    text = fit(
        told(
            ("user", "go"), call("Edit", file_path="a.py"), call("Edit", file_path="a.py"), call("Bash", command=commit)
        )
    ).text

    assert text == '[User] go\n\n[Tools] Edit(a.py) x2 | git commit "Fix the cache"'


def test_user_directives_survive_long_reasoned_answers(told: Told) -> None:
    directives = ["Never touch main.", "Use tabs.", "Ship on Friday."]
    entries = [("assistant", f"{number} {REASONED}") for number in range(9)]
    transcript = told(*(pair for number, entry in enumerate(entries) for pair in _with(directives, number, entry)))

    text = fit(transcript, 2000).text

    assert all(directive in text for directive in directives)


def _with(directives: list[str], number: int, entry: tuple[str, str]) -> list[tuple[str, str]]:
    return [("user", directives[number // 3]), entry] if number % 3 == 0 else [entry]


def test_every_user_and_decision_turn_is_whole_when_together_they_fit(told: Told) -> None:
    asked = [f"Request {number}: " + "please do this carefully " * 12 for number in range(5)]
    decided = [f"Rejected Edit(f{number}.py): not like this, " + "really not " * 10 for number in range(3)]
    transcript = told(
        *(("user", text) for text in asked),
        *(("decision", text) for text in decided),
        *(("assistant", "word " * 800) for _ in range(4)),
    )

    text = fit(transcript, 2800).text

    assert all(said.strip() in text for said in (*asked, *decided))


def test_user_turns_that_do_not_fit_are_cut_but_visible(told: Told) -> None:
    transcript = told(*((kind, f"{kind} {n} " + "blah " * 400) for n in range(8) for kind in ("user", "assistant")))

    text = fit(transcript, 3000).text

    assert all(f"[User] user {number} " in text for number in range(8))
    assert "characters ...]" in text


def test_a_gap_says_what_is_missing(told: Told) -> None:
    middle = [entry for _ in range(7) for entry in (("assistant", "x" * 300), call("Glob", pattern="*.py"))]

    text = fit(told(("user", "go"), *middle, ("user", "stop")), 70, strategy="spec").text

    assert "[... 7 turns, 7 tool calls omitted ...]" in text


def test_edited_files_are_named_within_a_tenth_of_the_budget(told: Told) -> None:
    edits = [call("Edit", file_path=f"/repo/src/module_{number}.py") for number in range(40)]
    transcript = told(("user", "go"), *(e for edit in edits for e in (edit, ("assistant", "word " * 40))))

    line = fit(transcript, 2000).text.splitlines()[0]

    assert line.startswith("Files edited: module_0.py, module_1.py, ")
    assert line.endswith(" more")
    assert len(line) <= 200


def test_the_manifest_says_what_was_kept_cut_and_dropped_and_why(told: Told) -> None:
    transcript = told(("user", "go"), ("thinking", "hmm"), ("tool_result", "output"), ("assistant", "word " * 900))

    manifest = fit(transcript, 400).manifest

    assert [record.entries for record in manifest.kept] == [("e0",)]
    assert [(record.entries, record.chars) for record in manifest.cut] == [(("e3",), 4499)]
    assert {record.entries[0]: record.reason for record in manifest.dropped} == {"e1": "thinking", "e2": "tool output"}
