"""What a tool call does, told from its name and its input."""

from typing import Any

import pytest

from nous.transcript import extract_tool_summary
from nous.transcript.model import Entry, Kind
from nous.transcript.tool_actions import action_of, hands_over, removed_by, subject_of_commit, writes, written_files

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n*** End Patch"


def call(
    tool: str | None, given: dict[str, Any] | None = None, *, text: str = "", paths: tuple[str, ...] = ()
) -> Entry:
    return Entry(Kind.TOOL_CALL, text, "e0", tool=tool, tool_input=given, paths=paths)


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Edit", {"file_path": "/r/a.py"}, ["/r/a.py"]),
        ("Read", {"file_path": "/r/a.py"}, []),
        ("write_file", {"path": "/r/a.py"}, ["/r/a.py"]),
        ("apply_patch", {"input": PATCH}, ["src/a.py", "src/b.py"]),
        ("shell", {"command": ["apply_patch", PATCH]}, ["src/a.py", "src/b.py"]),
        ("Bash", {"command": "cat /r/a.py > /r/b.py"}, []),
        ("Grep", {"pattern": "x", "path": "/r/src"}, []),
        ("str_replace_editor", {"command": "str_replace", "path": "/r/a.py"}, ["/r/a.py"]),
        ("str_replace_editor", {"command": "create", "path": "/r/a.py"}, ["/r/a.py"]),
        ("str_replace_editor", {"command": "view", "path": "/r/a.py"}, []),
        ("update_profile", {"name": "Ana"}, []),
    ],
)
def test_a_call_writes_the_files_that_it_is_told_to_write(
    tool: str, given: dict[str, Any], expected: list[str]
) -> None:
    assert list(written_files(action_of(call(tool, given)))) == expected


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("book_flight", {"flight": "HAT1"}, True),
        ("get_flight", {"flight": "HAT1"}, False),
        ("TodoWrite", {"todos": []}, False),
        ("Bash", {"command": "git push"}, True),
        ("Bash", {"command": "git status"}, False),
        ("Bash", {"command": {"not": "text"}}, False),
    ],
)
def test_a_call_changes_something_if_its_command_or_its_name_says_so(
    tool: str, given: dict[str, Any], *, expected: bool
) -> None:
    assert writes(action_of(call(tool, given))) is expected
    assert hands_over(action_of(call("transfer_to_human_agents", {})))
    assert not hands_over(action_of(call("get_user", {})))
    assert action_of(call(None, text="book_flight(flight=HAT1)")).name == "book_flight"


@pytest.mark.parametrize(
    "command", ['git commit --dry-run -m "x"', 'git commit --help -m "x"', '# note; git commit -m "x"']
)
def test_a_commit_that_is_only_spoken_of_is_none(command: str) -> None:
    assert subject_of_commit(command) is None


@pytest.mark.parametrize(
    "command",
    [
        'git add . && git commit -m "Fix it"',
        "git commit -m \"$(cat <<'EOF'\nFix it\n\nbody\nEOF\n)\"",
        "bash -lc \"cd x; git commit -m 'Fix it'\"",
        'git commit -m "Fix it\n\n--dry-run is gone"',
        "out=\"$(git commit -m 'Fix it')\"",
        "git commit -m 'Fix it' -m 'Adds --help'",
        "echo it\\'s done; NAME=a git -C /x commit -qm 'Fix it' && git push",
    ],
)
def test_a_commit_is_told_by_its_subject(command: str) -> None:
    assert subject_of_commit(command) == "Fix it"


def test_what_a_command_removes_is_known_where_it_is_named() -> None:
    assert removed_by("git rm -q a.py b.py") == ["a.py", "b.py"]
    assert removed_by("rm a.py && rm -rf tmp") == ["a.py", "tmp", "tmp/"]


@pytest.mark.parametrize(
    "command",
    [
        "npm rm left-pad; echo rm a.py",
        "cat > clean.sh <<'EOF'\nrm a.py\nEOF",
        "cd sub && rm a.py",
        "git rm --cached a.py",
        "rm a.py && mv b.py a.py",
        "if false; then\nrm a.py\nfi",
        "git stash; rm a.py; git stash pop",
        "rm a.py && git checkout a.py",
    ],
)
def test_nothing_is_removed_by_a_command_that_may_mean_something_else(command: str) -> None:
    assert removed_by(command) == []


LONG_PATH = "/home/ada/" + "directory/" * 30 + "file.rs"


@pytest.mark.parametrize(
    ("name", "given", "summary"),
    [
        ("Read", {"file_path": "/a/b.rs", "limit": 3}, "Read(/a/b.rs)"),
        ("Edit", {"file_path": LONG_PATH}, f"Edit({LONG_PATH})"),
        ("Write", {"file_path": '/with "quotes".md', "content": "x"}, 'Write(/with "quotes".md)'),
        ("NotebookEdit", {"notebook_path": "/n.ipynb"}, "NotebookEdit(/n.ipynb)"),
        (
            "NotebookEdit",
            {"notebook_path": "/n.ipynb", "cell_id": "c1", "edit_mode": "insert"},
            'NotebookEdit(/n.ipynb, cell_id="c1", edit_mode="insert")',
        ),
        ("NotebookEdit", {"edit_mode": "delete"}, 'NotebookEdit(edit_mode="delete")'),
        ("Grep", {"pattern": "fn main", "path": "src"}, 'Grep(pattern="fn main", path="src")'),
        ("Grep", {"path": "src"}, "Grep"),
        ("Glob", {"pattern": "**/*.rs"}, 'Glob(pattern="**/*.rs")'),
        ("Bash", {"description": "Test", "command": "cargo test\ncargo fmt"}, 'Bash(desc="Test", cmd="cargo test")'),
        ("Bash", {"command": 'echo "hi"'}, 'Bash(cmd="echo \\"hi\\"")'),
        ("Bash", {"command": "ls\r\npwd"}, 'Bash(cmd="ls")'),
        ("Task", {"description": "Look", "prompt": "Find it\nand more"}, 'Task(desc="Look", prompt="Find it")'),
        ("Skill", {"skill": "commit", "args": "-m x"}, 'Skill(skill="commit", args="-m x")'),
        ("WebFetch", {"url": "https://x.org", "prompt": "read"}, 'WebFetch(url="https://x.org")'),
        ("WebSearch", {"query": "valkey"}, 'WebSearch(query="valkey")'),
        ("mcp__server__tool", {"anything": 1}, "mcp__server__tool"),
        ("Bash", {"command": 7}, "Bash"),
        ("Read", {}, "Read"),
        ("Bash", None, "Bash"),
        ("", {"command": "ls"}, ""),
        (None, None, ""),
    ],
)
def test_a_call_is_told_in_one_line(name: str | None, given: dict[str, object] | None, summary: str) -> None:
    assert extract_tool_summary(name, given) == summary


@pytest.mark.parametrize("given", [None, {}, {"taskId": "1", "todos": []}])
def test_bookkeeping_is_not_worth_a_word(given: dict[str, object] | None) -> None:
    asking, tasks = "AskUserQuestion EnterPlanMode ExitPlanMode", "TaskCreate TaskGet TaskUpdate TaskList TaskOutput"

    for name in f"{asking} {tasks} TaskStop TodoWrite".split():
        assert extract_tool_summary(name, given) == ""


@pytest.mark.parametrize(
    "cluster", ["a", "한", "\u1112\u1161\u11ab", "स्ते", "क्षि", "👨‍👩‍👧‍👦", "e\u0301", "🇩🇪"], ids=range(8)
)
def test_a_value_is_cut_after_eighty_signs_as_people_count_them(cluster: str) -> None:
    assert extract_tool_summary("Bash", {"command": cluster * 80}) == f'Bash(cmd="{cluster * 80}")'
    assert extract_tool_summary("Bash", {"command": cluster * 81}) == f'Bash(cmd="{cluster * 80}...")'


def test_quotes_are_escaped_after_the_cut_so_that_they_do_not_count_twice() -> None:
    assert extract_tool_summary("Bash", {"command": '"' * 81}) == 'Bash(cmd="' + '\\"' * 80 + '...")'
