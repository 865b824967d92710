from io import BytesIO

import pytest
from builders.specstory import AGENT, HEAD, SEPARATOR, USER, read, said, tool, used

from nous.transcript import Kind, parse_transcript, read_transcript


def test_messages_go_from_one_heading_to_the_next() -> None:
    transcript = parse_transcript(f"{HEAD}{USER}Where is it?{SEPARATOR}{AGENT}In a.ts.\n\n{AGENT}Line 3.\n")

    assert transcript.format == "specstory"
    assert said(transcript) == [
        (Kind.USER, "Where is it?"),
        (Kind.ASSISTANT, "In a.ts."),
        (Kind.ASSISTANT, "Line 3."),
    ]
    assert [entry.line for entry in transcript] == [9, 15, 19]
    assert [entry.time.second for entry in transcript if entry.time] == [0, 5, 5]


def test_the_head_says_what_the_session_is() -> None:
    header = read(USER + "hi" + SEPARATOR + AGENT + "hello").header

    assert (header.session_id, header.agent, header.model, header.title) == (
        "3333-aa",
        "Claude Code",
        "claude-opus",
        None,
    )


def test_a_title_in_words_is_one() -> None:
    former = "## SpecStory\n\n## Adding colours (3/8/2025, 11:08:35 AM)\n\n_**User**_\n\nhi\n"

    assert parse_transcript(former).header.title == "Adding colours"


def test_a_rule_in_an_answer_is_text_and_a_separator_is_not() -> None:
    transcript = read(f"{USER}hi{SEPARATOR}{AGENT}Done.\n\n---\n\n# Report{SEPARATOR}{USER}thanks")

    assert said(transcript)[1:] == [(Kind.ASSISTANT, "Done.\n\n---\n\n# Report"), (Kind.USER, "thanks")]


def test_thoughts_are_apart_from_words() -> None:
    text = "<think><details><summary>Thought Process</summary>\nHm.\n</details></think>\n\nYes.\n"
    torn = "<think><details><summary>Thought Process</summary>\nHm</details></think>\n and so on.\n"

    for written, answer in ((text, "Yes."), (torn, "and so on.")):
        transcript = read_transcript(BytesIO((HEAD + AGENT + written).encode()), include=("thinking",))
        assert [(entry.kind, entry.text.rstrip(".")) for entry in transcript] == [
            (Kind.THINKING, "Hm"),
            (Kind.ASSISTANT, answer.rstrip(".")),
        ]


@pytest.mark.parametrize("fence", ["```", "~~~~", "````"])
def test_headings_in_fenced_code_are_text(fence: str) -> None:
    quoted = f"See:\n{fence}markdown\n{AGENT}no\n\n---\n\n{USER}no\n{fence}\nRight?"

    assert said(read(f"{USER}{quoted}{SEPARATOR}{AGENT}Yes.")) == [(Kind.USER, quoted), (Kind.ASSISTANT, "Yes.")]


def test_a_fence_that_is_never_closed_holds_nothing() -> None:
    for answer in ("Yes.", "Yes:\n\n```py\nx\n```\nOk."):
        transcript = read(f"{USER}See ```\n```\nfoo{SEPARATOR}{AGENT}{answer}{SEPARATOR}{USER}thanks")

        assert said(transcript) == [
            (Kind.USER, "See ```\n```\nfoo"),
            (Kind.ASSISTANT, answer),
            (Kind.USER, "thanks"),
        ]


def test_what_a_user_pastes_is_no_tool_use() -> None:
    assert said(read(USER + tool("`ls`"))) == [(Kind.USER, tool("`ls`").strip())]


def test_what_was_said_in_a_sub_agent_is_apart() -> None:
    sub = "_**User - sidechain (2026-05-10 09:00:01Z)**_\n\nGo.\n\n_**Agent (haiku) (sidechain)**_\n\nWent.\n\n"

    transcript = read(f"{USER}hi\n\n{sub}{AGENT}Done.")

    assert said(transcript) == [(Kind.USER, "hi"), (Kind.ASSISTANT, "Done.")]
    assert transcript.skipped == {"sidechain": 2}
    assert transcript.header.model == "claude-opus"


def test_a_message_is_called_by_the_id_that_the_export_gives() -> None:
    assert read(f"{USER.rstrip()}\n<!-- message-id: u-1 -->\n\nhi").entries[0].id == "u-1"


def test_inserted_words_are_not_the_users() -> None:
    transcript = read(f"{USER}<system-reminder>x</system-reminder>{SEPARATOR}{USER}Caveat: as\n{SEPARATOR}{AGENT}")

    assert said(transcript) == [(Kind.USER, "Caveat: as")]
    assert transcript.skipped == {"inserted context": 1, "empty message": 1}


@pytest.mark.parametrize("output", ["", "\n```text\nLaunching skill: review\n```"])
def test_the_instructions_of_a_skill_are_not_the_users(output: str) -> None:
    skill = tool(f"\n**Input:**\n\n- skill: `review`\n{output}", name="Skill", kind="generic")
    expansion = AGENT.replace("Agent (claude-opus", "User (").replace("( ", "(")

    transcript = read(
        f"{AGENT}{skill}{SEPARATOR}{expansion}Review this.{SEPARATOR}{AGENT}Ok.{SEPARATOR}{expansion}Thanks."
    )

    assert [entry.text for entry in transcript if entry.kind in {Kind.USER, Kind.ASSISTANT}] == ["Ok.", "Thanks."]
    assert transcript.skipped == {"meta message": 1}


def test_what_a_slash_command_stands_for_is_not_the_users() -> None:
    command = "<command-message>insights</command-message>\n<command-name>/insights</command-name>\n"

    transcript = read(f"{USER}{command}\n{USER}The user just ran /insights.\n\n{USER}hi")

    assert said(transcript) == [(Kind.SYSTEM, "/insights"), (Kind.USER, "hi")]


def test_exports_of_former_versions_are_read() -> None:
    former = (
        "_**User**_\n\nFix it.\n\n---\n\n_**Assistant**_\n\n---\n\nLooking.\n\n"
        '<details>\n            <summary>Grep search for "x" • **1** files</summary>\n        \n'
        "| File |\n|---|\n| `a` |\n\n</details>\n\n---\n\n_****_\n\nFixed.\n\n---\n\n"
    )

    transcript = parse_transcript(former)

    assert transcript.format == "specstory"
    assert said(transcript) == [
        (Kind.USER, "Fix it."),
        (Kind.ASSISTANT, "Looking."),
        (Kind.TOOL_CALL, 'Grep search for "x" • **1** files'),
        (Kind.TOOL_RESULT, "| File |\n|---|\n| `a` |"),
        (Kind.ASSISTANT, "Fixed."),
    ]


def test_a_torn_export_says_what_it_says_so_far() -> None:
    torn = tool("`ls`\n\n```text\na.txt").partition("</details>")[0]

    transcript = read(AGENT + torn)

    assert said(transcript) == [(Kind.TOOL_CALL, 'Bash(cmd="ls")')]
    assert transcript.skipped == {"torn tool use": 1}


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
