from datetime import UTC, datetime
from typing import Any

import pytest

from nous.transcript.model import Entry, Kind, ReadNotes
from nous.transcript.parsing.sessions import UNKNOWN_CALL, ToolCall, call, outcome
from nous.transcript.parsing.turns import Finishing
from nous.transcript.parsing.user_text import said_by_user, without_colour
from nous.transcript.parsing.values import parse_time
from nous.transcript.reader import Draft


def draft(kind: Kind, text: str = "x", own: str = "1", **more: Any) -> Draft:
    return Draft(kind=kind, text=text, id=own, **more)


def finish(
    *drafts: Draft, notes: ReadNotes | None = None, include: tuple[str, ...] = (), limit: int = 4_000
) -> list[Entry]:
    finishing = Finishing(result_limit=limit, include=frozenset(include))
    return [*finishing.entries(drafts, notes or ReadNotes()), *finishing.conclude()]


def test_each_prompt_begins_a_turn_and_what_stands_before_is_turn_zero() -> None:
    kinds = (Kind.SYSTEM, Kind.USER, Kind.ASSISTANT, Kind.DECISION, Kind.USER, Kind.TOOL_CALL, Kind.TOOL_RESULT)

    assert [found.turn for found in finish(*map(draft, kinds))] == [0, 1, 1, 1, 2, 2, 2]


def test_ids_become_unique_in_the_same_way_each_time() -> None:
    drafts = [draft(Kind.USER), draft(Kind.TOOL_CALL), draft(Kind.USER)]

    assert [found.id for found in finish(*drafts)] == ["1", "1#2", "1#3"]
    assert finish(*drafts) == finish(*drafts)


def test_parts_of_one_answer_are_one_entry() -> None:
    found = finish(draft(Kind.ASSISTANT, "a"), draft(Kind.ASSISTANT, "b"), draft(Kind.ASSISTANT, "c", "2"))

    assert [(part.id, part.text) for part in found] == [("1", "a\n\nb"), ("2", "c")]


@pytest.mark.parametrize(
    ("left_out", "extra", "reason"),
    [
        (draft(Kind.USER, own="2", is_meta=True), "meta", "meta message"),
        (draft(Kind.USER, own="2", agent="a1"), "sidechains", "sidechain"),
        (draft(Kind.THINKING, own="2"), "thinking", "thinking"),
    ],
)
def test_what_no_person_typed_is_asked_for_by_name_and_begins_no_turn(left_out: Draft, extra: str, reason: str) -> None:
    drafts, notes = [draft(Kind.USER), left_out], ReadNotes()

    assert [found.id for found in finish(*drafts, notes=notes)] == ["1"]
    assert notes.skipped == {reason: 1}
    assert [found.turn for found in finish(*drafts, include=(extra,))] == [1, 1]


def test_arguments_nested_deeper_than_anyone_needs_are_cut_off() -> None:
    given: Any = "bottom"
    for _ in range(900):
        given = [given]

    (found,) = finish(draft(Kind.TOOL_CALL, tool_input={"edits": given}))

    assert "bottom" not in str(found.tool_input)


def test_arguments_of_calls_are_cut_however_deep_they_stand() -> None:
    given = {"file_path": "/a", "edits": [{"new_string": "n" * 100}], "count": 3}

    (found,) = finish(draft(Kind.TOOL_CALL, tool_input=given), limit=10)

    shortened = "n" * 7 + "\n\n... [truncated 90 chars] ...\n\n" + "n" * 3
    assert found.tool_input == {"file_path": "/a", "edits": [{"new_string": shortened}], "count": 3}


EDIT = call("Edit", {"file_path": "/a.go"})
PLAN = call("ExitPlanMode", {"plan": "..."})
QUESTION = call("AskUserQuestion", {})
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. ...). "


ANSWERED = 'User has answered your questions: "Where?"="Here". You can now continue with the user\'s answers in mind.'


@pytest.mark.parametrize(
    ("made", "text", "decision"),
    [
        (EDIT, f"{REFUSED}To tell you more, the user said:\nuse a switch", "Rejected Edit(/a.go): use a switch"),
        (EDIT, REFUSED + "STOP what you are doing and wait.", "Rejected Edit(/a.go)"),
        (EDIT, REFUSED + "The user provided the following reason for the rejection:  no", "Rejected Edit(/a.go): no"),
        (EDIT, "The user doesn't want to take this action right now. STOP", "Rejected Edit(/a.go)"),
        (EDIT, "[Request interrupted by user for tool use]", "Interrupted Edit(/a.go)"),
        (PLAN, REFUSED, "Rejected the plan"),
        (UNKNOWN_CALL, REFUSED, "Rejected a tool call"),
        (QUESTION, ANSWERED, 'Answered: "Where?"="Here"'),
        (QUESTION, "Here, please", "Answered: Here, please"),
        (PLAN, "User has approved your plan. You can now start coding.", "Approved the plan"),
        (PLAN, "Go.\n\n## Approved Plan:\n# Plan: Inline it\n\nText", "Approved the plan: Plan: Inline it"),
    ],
)
def test_a_rejection_an_answer_and_an_approval_are_decisions(made: ToolCall, text: str, decision: str) -> None:
    is_error = decision.startswith(("Rejected", "Interrupted"))

    assert outcome(text, of=made, is_error=is_error) == (Kind.DECISION, decision)


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ('Your questions have been answered: "Where?"="Here"', 'Answered: "Where?"="Here"'),
        ("User has approved exiting plan mode.", "Approved the plan"),
    ],
)
def test_what_reads_like_a_decision_is_one_only_if_the_program_says_so(text: str, decision: str) -> None:
    assert outcome(text, of=UNKNOWN_CALL, is_error=False, is_decided=True) == (Kind.DECISION, decision)
    assert outcome(text, of=UNKNOWN_CALL, is_error=False) == (Kind.TOOL_RESULT, text)
    assert outcome(text, of=ToolCall("Bash", "Bash"), is_error=False, is_decided=True) == (Kind.TOOL_RESULT, text)


def test_who_declines_to_answer_has_decided_and_a_plan_that_nobody_approved_is_none() -> None:
    assert outcome("User declined to answer questions", of=QUESTION, is_error=True).kind is Kind.DECISION
    assert outcome("Plan rejected: too long", of=PLAN, is_error=False).text.startswith("Rejected the plan")
    assert outcome("Still planning", of=PLAN, is_error=False).kind is Kind.TOOL_RESULT


@pytest.mark.parametrize(
    ("text", "is_error", "shown"),
    [
        ("<tool_use_error>File does not exist.</tool_use_error>", True, "File does not exist."),
        ("<tool_use_error>No such tool</tool_use_error>", False, "No such tool"),
        ("Exit code 128\nfatal: bad", False, "Exit code 128\nfatal: bad"),
        ("EISDIR", True, "EISDIR"),
    ],
)
def test_a_failure_is_an_error(text: str, is_error: bool, shown: str) -> None:  # noqa: FBT001  a case of the table
    for made in (EDIT, QUESTION):
        assert outcome(text, of=made, is_error=is_error) == (Kind.ERROR, shown)


def test_output_loses_colours_and_reminders() -> None:
    text = "\x1b[1mdone\x1b[0m\n<system-reminder>Use the list.</system-reminder>"

    assert outcome(text, of=EDIT, is_error=False) == (Kind.TOOL_RESULT, "done")
    assert outcome(f"grep: {REFUSED}", of=EDIT, is_error=False).kind is Kind.TOOL_RESULT


CONTINUED = "This session is being continued from a previous conversation that ran out of context. ..."
NOBODYS = (
    *("<local-command-caveat>Caveat: The messages below were generated</local-command-caveat>", "  ", ""),
    *("<local-command-stdout>Bye!</local-command-stdout>", "<task-notification>done</task-notification>"),
    *("<command-message>pr</command-message>", "<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>"),
    *("Base directory for this skill: /home/x", "<system-reminder>Do not forget.</system-reminder>"),
    "<ide_opened_file>The user opened the file a.toml</ide_opened_file>",
)


@pytest.mark.parametrize("text", NOBODYS)
def test_what_a_program_put_in_the_place_of_a_message_is_nobodys(text: str) -> None:
    assert said_by_user(text).kind is None


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("fix the tests", Kind.USER, "fix the tests"),
        ("why?\n<system-reminder>Be brief.</system-reminder>", Kind.USER, "why?"),
        ("<command-name>/p</command-name>\n<command-args>keep it small</command-args>", Kind.USER, "/p keep it small"),
        (
            "<command-message>x</command-message>\n<command-name>/x</command-name><command-args>\n a b </command-args>",
            Kind.USER,
            "/x a b",
        ),
        ("<bash-input>git log -n 1</bash-input>", Kind.USER, "! git log -n 1"),
        ("I said <b>bold</b>", Kind.USER, "I said <b>bold</b>"),
        ("[Request interrupted by user]", Kind.SYSTEM, "[Request interrupted by user]"),
        ("<command-name>/exit</command-name><command-args></command-args>", Kind.SYSTEM, "/exit"),
        ("<command-message>pr</command-message>\n<command-name>/pr</command-name>", Kind.SYSTEM, "/pr"),
        (CONTINUED, Kind.SUMMARY, CONTINUED),
    ],
)
def test_words_are_the_users_and_acts_and_summaries_are_not(text: str, kind: Kind, words: str) -> None:
    assert said_by_user(text) == (kind, words)


def test_colours_are_taken_off() -> None:
    assert without_colour("Set \x1b[1mbold\x1b[22m \x1b]0;title\x07on") == "Set bold on"


MOMENT = datetime(2026, 2, 3, 0, 25, 13, 595_000, UTC)


@pytest.mark.parametrize(
    "written",
    [
        "2026-02-03T00:25:13.595Z",
        *(f"2026-02-03T00:25:13.595{'0' * digits}Z" for digits in range(1, 7)),
        "2026-02-03T01:25:13.595+01:00",
        "2026-02-03T00:25:13.595",
        1_770_078_313_595,
        1_770_078_313.595,
    ],
)
def test_every_spelling_of_a_moment_is_that_moment_in_utc(written: object) -> None:
    assert parse_time(written) == MOMENT


@pytest.mark.parametrize("written", [None, "", "yesterday", True, [], {}, 1e40, float("nan"), "9999-99-99T00:00:00Z"])
def test_what_is_no_time_is_none(written: object) -> None:
    assert parse_time(written) is None
