import pytest
from builders.specstory import AGENT, SEPARATOR, USER, read, said, tool, used

from nous.transcript import Kind


def test_a_tool_use_is_a_call_and_its_output_and_stands_between_words() -> None:
    body = "List all\n\n`ls -a`\n\n```text\na.txt\n```"

    transcript = read(f"{AGENT}Looking.\n\n{tool(body)}\nOne file.\n")

    assert said(transcript) == [
        (Kind.ASSISTANT, "Looking."),
        (Kind.TOOL_CALL, 'Bash(desc="List all", cmd="ls -a")'),
        (Kind.TOOL_RESULT, "a.txt"),
        (Kind.ASSISTANT, "One file."),
    ]
    _, call, result, _ = transcript.entries
    assert call.call_id == result.call_id
    assert result.tool == "Bash"
    assert len({entry.id for entry in transcript}) == 4


@pytest.mark.parametrize(
    ("kind", "name", "body", "given"),
    [
        ("shell", "Bash", "\n```bash\nnpm test\nnpm run lint\n```", {"command": "npm test\nnpm run lint"}),
        ("read", "Read", " `./a.ts`", {"file_path": "./a.ts"}),
        ("read", "Read", "Read file: `./a.ts`", {"file_path": "./a.ts"}),
        ("shell", "LS", " `./src`", {"path": "./src"}),
        ("search", "Grep", " path `./src` pattern `foo.*`", {"path": "./src", "pattern": "foo.*"}),
        ("search", "WebSearch", " `cats`", {"query": "cats"}),
        ("read", "WebFetch", " `https://x`", {"url": "https://x"}),
        ("shell", "run_command", "Directory: `/w`\n\n`ls`", {"workdir": "/w", "command": "ls"}),
        ("write", "write_file", "Path: `a.py`\n\n```py\nx = 1\n```", {"path": "a.py", "content": "x = 1"}),
        ("write", "Edit", "Path: `a.py`\n\n```diff\n+x\n```", {"path": "a.py", "diff": "+x"}),
        ("unknown", "exec", "Input: ```\nconst r = 1\n```", {"input": "const r = 1"}),
        ("generic", "x", "\n**Input:**\n\n- a: `1`\n- b:\n\n```\nc\nd\n```\n", {"a": "1", "b": "c\nd"}),
        ("generic", "x", '```json\n{"a": 1}\n```', {"a": 1}),
        ("task", "TodoWrite", "**Agent task list:**\n- [ ] one", {"description": "**Agent task list:**\n- [ ] one"}),
    ],
)
def test_what_is_shown_of_a_call_is_its_input(kind: str, name: str, body: str, given: dict[str, object]) -> None:
    (entry,) = used(body, name=name, kind=kind).entries

    assert entry.tool_input == given


def test_a_summary_says_what_a_call_is_for() -> None:
    commands = "<summary>Tool use: **exec_command** `ls \\`\n | cat`</summary>\n```\na\n```"
    reads = "<details><summary>Tool use: **read_file** • Read file: pkg/a.go</summary>\n\n</details>"
    shell = '<tool-use data-tool-type="shell" data-tool-name="exec_command"><details>\n'
    read_file = '<tool-use data-tool-type="read" data-tool-name="read_file">\n'

    first = read(f"{AGENT}{shell}{commands}\n</details></tool-use>\n")
    second = read(f"{AGENT}{read_file}{reads}\n</tool-use>\n")

    assert [entry.text for entry in first] == ['exec_command(cmd="ls \\`")', "a"]
    assert [entry.text for entry in second] == ["read_file(pkg/a.go)"]


def test_the_files_of_a_patch_are_those_that_its_diffs_change() -> None:
    body = "**Add: `a.md`**\n\n```diff\n+x\n```\n\n**Delete: `b.md`**\n"

    (entry,) = used(body, name="apply_patch", kind="write").entries

    assert entry.paths == ("a.md", "b.md")
    assert entry.text == "apply_patch(a.md, b.md)"


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("`x`\n\n```text\nExit code 1\nno\n```", Kind.ERROR, "Exit code 1\nno"),
        ("`x`\n```\nChunk ID: 1\nProcess exited with code 2\nno\n```", Kind.ERROR, None),
        ("**Error:**\n\n```\nno\n```", Kind.ERROR, "no"),
        ("**Result:**\n\n```\nyes\n```", Kind.TOOL_RESULT, "yes"),
        ("Output: clean", Kind.TOOL_RESULT, "clean"),
        ("`x`\n\nResult:\n```text\na\nb\n```", Kind.TOOL_RESULT, "a\nb"),
        (
            "```text\nThe user doesn't want to proceed with this tool use. the user said:\nnot now\n```",
            Kind.DECISION,
            "Rejected Bash: not now",
        ),
    ],
)
def test_what_came_of_a_call_is_told(body: str, kind: Kind, text: str | None) -> None:
    entry = used(body).entries[-1]

    assert entry.kind is kind
    assert text in {None, entry.text}
    assert entry.is_error == (kind is Kind.ERROR)


def test_an_answered_question_is_a_decision() -> None:
    body = "**Which one?**\n\nOptions:\n- **A** - first\n\n**Answer:** A"

    assert said(used(body, name="AskUserQuestion", kind="generic"))[1] == (Kind.DECISION, "Answered: A")


def test_what_was_found_needs_no_fence() -> None:
    assert said(used("Found 1 match\na.ts:3: foo", name="search_file_content", kind="search"))[1] == (
        Kind.TOOL_RESULT,
        "Found 1 match\na.ts:3: foo",
    )


def test_headings_and_tags_in_output_are_output() -> None:
    output = f"{USER}rm -rf /\n</details></tool-use>\n{AGENT}ok"

    block = tool(f"`cat a.md`\n\n```text\n{output}\n```")

    transcript = read(f"{AGENT}{block}\nDone.\n{SEPARATOR}{USER}thanks")

    assert [entry.kind for entry in transcript] == [Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.ASSISTANT, Kind.USER]
    assert transcript.entries[1].text == output


def test_output_with_fences_of_its_own_ends_where_the_tool_use_does() -> None:
    for inner in ("```json\n{}\n```\nb", "```json\n{}\n```\n```\nb\n```\nc", "```json\n{}"):
        block = tool(f"`cat a.md`\n```\na\n{inner}\n```")

        transcript = read(f"{AGENT}{block}\nDone.\n{SEPARATOR}{USER}thanks")

        assert said(transcript)[1:] == [
            (Kind.TOOL_RESULT, f"a\n{inner}"),
            (Kind.ASSISTANT, "Done."),
            (Kind.USER, "thanks"),
        ]
