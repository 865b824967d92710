"""What of a session is not for a later one: what was meant for the moment, has been changed since, or is said twice."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.episode import CandidateFact, Category, Trust
from nous.summary.evidence import Evidence
from nous.summary.extractive import summarize
from nous.summary.facts import candidate_facts
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]


def edit(text: str) -> tuple[str, str, dict[str, Any]]:
    return "tool_call", "Edit(a.py)", {"tool": "Edit", "tool_input": {"file_path": "a.py", "new_string": text}}


def facts(told: Told, *entries: tuple[Any, ...]) -> list[CandidateFact]:
    return list(candidate_facts(Evidence(told(*entries))))


def texts(told: Told, *entries: tuple[Any, ...]) -> list[str]:
    return [fact.text for fact in facts(told, *entries)]


@pytest.mark.parametrize(
    "said",
    [
        "Don't write any code yet, just locate the mechanism.",
        "Don't use the network for now, please.",
        "Make sure to read the parser first.",
        "Never push anything in this session.",
        "Don't commit until I have heard from the others.",
        "Don't touch the file while the build runs.",
        "We need to make sure that with more agents this won't say the wrong name.",
        "Always super cheerful, that team of theirs.",
        "Never heard of such a thing in all my years.",
    ],
)
def test_what_is_meant_for_the_moment_is_no_standing_rule(told: Told, said: str) -> None:
    assert texts(told, ("user", said), edit("x")) == []


def test_what_is_meant_for_the_moment_is_a_key_point_of_its_session_all_the_same(told: Told) -> None:
    said = "Don't write any code yet, just locate the mechanism."

    assert summarize(told(("user", said), edit("x"))).summary.key_points == (said,)


@pytest.mark.parametrize(
    "said",
    [
        "Always run the linter first.",
        "Never merge until the build is green.",
        "Don't touch the file `schema.sql` by hand.",
        "Keep our working documentation in linear.",
    ],
)
def test_what_holds_each_time_is_a_standing_rule(told: Told, said: str) -> None:
    found = facts(told, ("user", said), edit("x"))

    assert [(fact.text, fact.category, fact.trust) for fact in found] == [(said, Category.RULE, Trust.USER)]


@pytest.mark.parametrize(
    "decision",
    [
        "Rejected Edit(/home/me/a.py): let's not make this change in this branch",
        "Rejected Edit(a.py): let's call it Transcript in both cases",
        "Rejected Edit(a.py): let's do it as a separate PR",
        "Rejected Edit(a.py): I think we should separate the hook types for clarity.",
        'Answered: "Which directory for this branch?"="The current one"',
    ],
)
def test_a_verdict_on_what_only_those_present_saw_is_no_fact(told: Told, decision: str) -> None:
    assert facts(told, ("user", "Go on."), ("decision", decision)) == []


@pytest.mark.parametrize(
    "said",
    ["I'll stick with my current flight then.", "Move it out, no need to keep two.", "I don't want to be transferred."],
)
def test_a_choice_for_the_one_matter_at_hand_is_no_fact(told: Told, said: str) -> None:
    assert facts(told, ("user", f"Hello there. {said}"), ("assistant", "Noted.")) == []


@pytest.mark.parametrize(
    "found",
    [
        "The issue is `StepCount` is 1 instead of 0, because of the condensation.",
        "The problem here is that `load_all` expects a header because of the cache.",
        "Let's remove the reproduce.py file since it is no longer needed.",
        "Without this, `load_all` would fail because of the missing header.",
        "Since it's an old `cache`, it can only be read when the lock is held.",
        "The new code must hold the lock because `load_all` reads the last page.",
        "The shadow diff is wrong at line 30 because `load_all` skips a page.",
    ],
)
def test_what_points_at_the_moment_is_no_finding(told: Told, found: str) -> None:
    assert facts(told, ("user", "Go on."), ("assistant", found)) == []


def test_a_fault_is_no_finding_once_what_it_names_was_changed(told: Told) -> None:
    fault = ("assistant", "`WithAgent` is never called when the context is made, because of the cache.")

    assert len(facts(told, ("user", "Go on."), fault)) == 1
    assert len(facts(told, ("user", "Go on."), fault, edit("other()"))) == 1
    assert facts(told, ("user", "Go on."), fault, edit("ctx = WithAgent(ctx)")) == []


@pytest.mark.parametrize(
    "echo",
    [
        "Understood: the ledger service is always deployed from the `release` branch.",
        "Noted: `release` is the branch the ledger service is always deployed from, because of the audit.",
    ],
)
def test_an_agent_that_repeats_a_rule_makes_no_second_fact(told: Told, echo: str) -> None:
    rule = "Remember that the ledger service is always deployed from the `release` branch because of the audit."

    found = facts(told, ("user", rule), ("assistant", echo), edit("x"))

    assert [(fact.text, fact.trust) for fact in found] == [(rule, Trust.USER)]


def test_of_two_facts_of_which_one_says_all_of_the_other_the_longer_is_kept(told: Told) -> None:
    short = "`load_all` must hold the lock because pages are lost."
    long = "`load_all` must hold the lock of the cache file because pages are lost."

    assert texts(told, ("user", "Go on."), ("assistant", short), ("assistant", long)) == [long]


def test_who_somebody_is_ends_where_they_go_on_with_something_else(told: Told) -> None:
    said = "Certainly, my user ID is mia_li_3668, and the zip code is 78712, and the reason is a change of plan."

    assert texts(told, ("user", f"Hello. {said}"), ("assistant", "Noted.")) == [
        "The user's user ID is mia_li_3668, and the zip code is 78712."
    ]


def test_a_service_tells_nothing_of_a_matter_without_saying_which(told: Told) -> None:
    one = "Since the reservation is without insurance, it cannot be cancelled for a change of plan."
    policy = "Basic economy flights can only be cancelled within 24 hours of the booking."

    found = texts(told, ("user", "Cancel it."), ("assistant", f"{one} {policy}"))

    assert found == [policy]


def test_what_a_program_reports_is_nothing_done_for_the_user(told: Told) -> None:
    ran = ("tool_call", "python3 a.py", {"tool": "Bash", "tool_input": {"command": "python3 a.py"}})

    assert facts(told, ("user", "Mend it."), ran, ("assistant", "The missing Colon has been added successfully.")) == []


@pytest.mark.parametrize(
    ("decision", "told_of"),
    [
        ('Answered: "Do Phase 0 in a worktree or here?"="Here"', 0),
        ('Answered: "Which database should orders use?"="Postgres"', 1),
        ("Approved the plan: Inline `load_all()`", 0),
    ],
)
def test_a_verdict_on_one_task_and_a_plan_that_was_committed_are_no_facts(
    told: Told, decision: str, told_of: int
) -> None:
    commit = ("tool_call", "git", {"tool": "Bash", "tool_input": {"command": 'git commit -m "Inline load_all"'}})

    assert len(texts(told, ("user", "Go on."), ("decision", decision), commit)) == told_of
