import pytest
from builders.specstory import AGENT, HEAD, SEPARATOR, USER, read, said, tool, used

from nous.transcript import Kind, parse_transcript

SUB_AGENT = "_**User - sidechain (2026-05-10 09:00:01Z)**_\n\nGo.\n\n_**Agent (haiku) (sidechain)**_\n\nWent.\n\n"
COMMAND = "<command-message>insights</command-message>\n<command-name>/insights</command-name>\n"
THOUGHT = "<think><details><summary>Thought Process</summary>\nHm.\n</details></think>\n"
FORMER = "_**User**_\n\nFix it.\n\n---\n\n_**Assistant**_\n\n---\n\nLooking.\n\n---\n\n_****_\n\nFixed.\n\n---\n\n"
U, A, CALL, RESULT = Kind.USER, Kind.ASSISTANT, Kind.TOOL_CALL, Kind.TOOL_RESULT
LS = tool("List all\n\n`ls -a`\n\n```text\na.txt\n```")
SAID: dict[str, tuple[str, list[tuple[Kind, str]], dict[str, int]]] = {
    "rule in an answer": (
        f"{USER}hi{SEPARATOR}{AGENT}Done.\n\n---\n\n# Report{SEPARATOR}{USER}thanks",
        [(U, "hi"), (A, "Done.\n\n---\n\n# Report"), (U, "thanks")],
        {},
    ),
    "tool use between words": (
        f"{AGENT}Looking.\n\n{LS}\nOne file.\n",
        [(A, "Looking."), (CALL, 'Bash(desc="List all", cmd="ls -a")'), (RESULT, "a.txt"), (A, "One file.")],
        {},
    ),
    "pasted tool use": (USER + tool("`ls`"), [(U, tool("`ls`").strip())], {}),
    "output without a fence": (
        AGENT + tool("Found 1 match\na.ts:3: foo", name="search_file_content", kind="search"),
        [(CALL, "search_file_content"), (RESULT, "Found 1 match\na.ts:3: foo")],
        {},
    ),
    "thoughts": (f"{AGENT}{THOUGHT}\nYes.\n", [(A, "Yes.")], {"thinking": 1}),
    "thoughts and words on a line": (f"{AGENT}{THOUGHT.strip()} and so on.\n", [(A, "and so on.")], {"thinking": 1}),
    "sub-agent": (f"{USER}hi\n\n{SUB_AGENT}{AGENT}Done.", [(U, "hi"), (A, "Done.")], {"sidechain": 2}),
    "inserted words": (
        f"{USER}<system-reminder>x</system-reminder>{SEPARATOR}{USER}Caveat: as\n{SEPARATOR}{AGENT}",
        [(U, "Caveat: as")],
        {"inserted context": 1, "empty message": 1},
    ),
    "slash command": (
        f"{USER}{COMMAND}\n{USER}The user just ran /insights.\n\n{USER}hi",
        [(Kind.SYSTEM, "/insights"), (U, "hi")],
        {"meta message": 1},
    ),
    "torn": (
        AGENT + tool("`ls`\n\n```text\na.txt").partition("</details>")[0],
        [(CALL, 'Bash(cmd="ls")')],
        {"torn tool use": 1},
    ),
    "former version": (FORMER, [(U, "Fix it."), (A, "Looking."), (A, "Fixed.")], {}),
}


@pytest.mark.parametrize(("text", "expected", "skipped"), SAID.values(), ids=SAID)
def test_what_an_export_says(text: str, expected: list[tuple[Kind, str]], skipped: dict[str, int]) -> None:
    transcript = read(text)

    assert (said(transcript), transcript.skipped) == (expected, skipped)
    assert len({entry.call_id for entry in transcript if entry.call_id}) <= 1


def test_the_headings_say_what_the_session_and_its_messages_are() -> None:
    transcript = read(f"{USER.rstrip()}\n<!-- message-id: u-1 -->\n\nhi{SEPARATOR}{SUB_AGENT}{AGENT}hello")

    header = transcript.header
    assert (header.session_id, header.model, header.title) == ("3333-aa", "claude-opus", None)
    assert transcript.entries[0].id == "u-1"
    assert [entry.line for entry in transcript] == [10, 24]
    assert [entry.time.second for entry in transcript if entry.time] == [0, 5]
    former = "## SpecStory\n\n## Adding colours (3/8/2025, 11:08:35 AM)\n\n_**User**_\n\nhi\n"
    assert parse_transcript(former).header.title == "Adding colours"


@pytest.mark.parametrize("output", ["", "\n```text\nLaunching skill: review\n```"])
def test_the_instructions_of_a_skill_are_not_the_users(output: str) -> None:
    skill = tool(f"\n**Input:**\n\n- skill: `review`\n{output}", name="Skill", kind="generic")
    expansion = AGENT.replace("Agent (claude-opus", "User (").replace("( ", "(")

    transcript = read(
        f"{AGENT}{skill}{SEPARATOR}{expansion}Review this.{SEPARATOR}{AGENT}Ok.{SEPARATOR}{expansion}Thanks."
    )

    assert [entry.text for entry in transcript if entry.kind in {Kind.USER, Kind.ASSISTANT}] == ["Ok.", "Thanks."]
    assert transcript.skipped == {"meta message": 1}


def test_an_endless_message_is_cut_and_said_so() -> None:
    transcript = read(USER + ("x" * 999 + "\n") * 2_500 + SEPARATOR + AGENT + tool(("y" * 999 + "\n") * 2_500) + "ok")

    assert transcript.skipped["lines of an endless message"] > 0
    assert transcript.skipped["end of an endless tool use"] == 1
    assert transcript.entries[-1].text == "ok"


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        (HEAD + USER + "hi", 0.98),
        (HEAD, 0.9),
        (USER + "hi\n\n" + AGENT + "yes", 0.95),
        (USER + "hi", 0.92),
        (AGENT + "hi", 0.5),
    ],
)
def test_an_export_is_told_by_its_head_and_headings(text: str, confidence: float) -> None:
    transcript = parse_transcript(text)

    assert (transcript.format, transcript.confidence) == ("specstory", confidence)


@pytest.mark.parametrize(
    ("kind", "name", "body", "given"),
    [
        ("shell", "Bash", "\n```bash\nnpm test\nnpm run lint\n```", {"command": "npm test\nnpm run lint"}),
        ("read", "Read", " `./a.ts`", {"file_path": "./a.ts"}),
        ("read", "Read", "Read file: `./a.ts`", {"file_path": "./a.ts"}),
        ("shell", "LS", " `./src`", {"path": "./src"}),
        ("shell", "run_command", "Directory: `/w`\n\n`ls`", {"workdir": "/w", "command": "ls"}),
        ("write", "write_file", "Path: `a.py`\n\n```py\nx = 1\n```", {"path": "a.py", "content": "x = 1"}),
        ("write", "Edit", "Path: `a.py`\n\n```diff\n+x\n```", {"path": "a.py", "diff": "+x"}),
        ("generic", "x", '```json\n{"a": 1}\n```', {"a": 1}),
        ("write", "apply_patch", "**Delete: `b.md`**\n", {"patch": "*** Delete File: b.md"}),
        ("task", "TodoWrite", "**Agent task list:**\n- [ ] one", {"description": "**Agent task list:**\n- [ ] one"}),
    ],
)
def test_what_is_shown_of_a_call_is_its_input(kind: str, name: str, body: str, given: dict[str, object]) -> None:
    (entry,) = used(body, name=name, kind=kind).entries

    assert entry.tool_input == given


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("`x`\n\n```text\nExit code 1\nno\n```", Kind.ERROR, "Exit code 1\nno"),
        ("`x`\n```\nChunk ID: 1\nProcess exited with code 2\nno\n```", Kind.ERROR, None),
        ("**Error:**\n\n```\nno\n```", Kind.ERROR, "no"),
        ("**Result:**\n\n```\nyes\n```", Kind.TOOL_RESULT, "yes"),
        ("**Which?**\n\nOptions:\n- **A** - first\n\n**Answer:** A", Kind.DECISION, "Answered: A"),
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
