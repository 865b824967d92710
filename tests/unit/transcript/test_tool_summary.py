import pytest

from nous.transcript import extract_tool_summary

LONG_PATH = "/home/somebody/" + "directory/" * 30 + "file.rs"


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
