"""What is no fact although it was said: options, what was undone, and what nobody could tell which it is."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.episode import CandidateFact
from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts
from nous.summary.third_person import in_third_person
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]
Call = tuple[str, str, dict[str, Any]]

CAUSE = "`load_all` must hold the lock because pages are lost."


def call(tool: str, **given: Any) -> Call:
    return "tool_call", tool, {"tool": tool, "tool_input": given}


def facts(told: Told, *entries: tuple[Any, ...]) -> list[CandidateFact]:
    return list(candidate_facts(Evidence(told(*entries))))


def texts(told: Told, *entries: tuple[Any, ...]) -> list[str]:
    return [fact.text for fact in facts(told, *entries)]


@pytest.mark.parametrize(
    "reply",
    [
        f"The plan is simple:\n\n1. Mend the lock. {CAUSE}\n2. Test it.",
        f"## Options\n\nThere is a lock.\n\n- {CAUSE}",
        f"There are other approaches:\n\n**Option 2: Lock the cache** (simple)\n- {CAUSE}",
        f"Done. A few things could help:\n- {CAUSE}",
        "Use `load_all` with the lock because pages are always lost.",
    ],
)
def test_what_could_be_done_is_no_finding(told: Told, reply: str) -> None:
    assert texts(told, ("user", "Go on."), ("assistant", reply)) == []


@pytest.mark.parametrize(
    "reply",
    [
        f"The root cause:\n\n1. There is a cache.\n2. {CAUSE}",
        f"The plan is simple:\n\n1. Mend the lock.\n\nIt failed again.\n\n- {CAUSE}",
        f"## Plan\n\nMend the lock.\n\n## Findings\n\n- {CAUSE}",
        f"**Options:**\n- Mend the lock.\n\n**Causes:**\n- {CAUSE}",
    ],
)
def test_a_plan_ends_with_its_list_or_at_the_next_heading(told: Told, reply: str) -> None:
    assert texts(told, ("user", "Go on."), ("assistant", reply)) == [CAUSE]


def test_that_something_is_safe_to_share_is_a_lesson_by_any_name(told: Told) -> None:
    safe = "The page cache is not fork-safe, and it lives in `cache.py` of the store."

    assert texts(told, ("user", "Go on."), ("assistant", safe)) == [safe]


def test_code_that_a_later_turn_took_out_is_no_longer_told(told: Told) -> None:
    said = ("user", "Go on."), ("assistant", CAUSE), ("user", "Simplify it.")
    out = call("Edit", file_path="a.py", old_string="def load_all(): ...", new_string="def load(): ...")
    kept = call("Edit", file_path="a.py", old_string="def load_all():", new_string="def load_all(lock):")
    moved = call("Edit", file_path="b.py", old_string="", new_string="def load_all(): ...")
    longer = call("Edit", file_path="a.py", old_string="def load_all_pages():", new_string="def load():")
    use = call("Edit", file_path="b.py", old_string="from a import load_all\n", new_string="")

    assert texts(told, *said, out) == []
    assert texts(told, *said, kept) == [CAUSE]
    assert texts(told, *said, out, kept) == [CAUSE]
    assert texts(told, *said, moved, out) == [CAUSE]
    assert texts(told, *said, longer) == [CAUSE]
    assert texts(told, *said, use) == [CAUSE]


@pytest.mark.parametrize(
    ("command", "told_of"),
    [
        ("rm docs/geese.md", 0),
        ("cd docs && git rm -f geese.md", 1),
        ("rm -rf /home/me/site/docs", 1),
        ("rm -r docs/", 0),
        ("git mv docs/geese.md docs/birds.md", 0),
        ("mv notes.md docs/geese.md", 1),
        ("rm docs/geese.md.bak", 1),
        ("sudo rm docs/geese.md || true", 0),
        ("rm 'docs/geese.md' 2>/dev/null", 0),
        ("rm -f tmp.txt # docs/geese.md", 1),
        ("git rm --cached docs/geese.md", 1),
        ("echo 'rm docs/geese.md'", 1),
    ],
)
def test_a_file_that_a_later_turn_took_away_is_no_report(told: Told, command: str, told_of: int) -> None:
    report = "Created `docs/geese.md` with an overview of all the geese there are."
    said = ("user", "Write."), call("Write", file_path="docs/geese.md", content="x"), ("assistant", report)

    assert texts(told, *said, ("user", "Now."), call("Bash", command=command)) == [report] * told_of


def test_a_file_that_was_written_again_is_a_report(told: Told) -> None:
    report = "Created `docs/geese.md` with an overview of all the geese there are."
    write = call("Write", file_path="docs/geese.md", content="x")
    said = ("user", "Write."), write, ("assistant", report), ("user", "Now."), call("Bash", command="rm docs/geese.md")

    assert texts(told, *said, write) == [report]


def done(told: Told, report: str, *before: tuple[Any, ...]) -> list[tuple[str, str]]:
    return [(f.text, f.subject) for f in facts(told, ("user", "Go on."), *before, ("assistant", report))]


def test_what_was_done_for_the_user_has_the_numbers_of_the_calls(told: Told) -> None:
    calls = [call("update_reservation", reservation_id=number, cabin="economy") for number in ("AB12CD", "EF34GH")]
    one = "Your reservation has been successfully downgraded to economy class."
    both = "Your reservations have been successfully downgraded to economy class."

    assert done(told, one, *calls) == []
    assert done(told, one, calls[0]) == [
        ("The user's reservation has been successfully downgraded to economy class (AB12CD).", "AB12CD")
    ]
    assert done(told, both, *calls) == [
        (
            "The user's reservations have been successfully downgraded to economy class (AB12CD, EF34GH).",
            "AB12CD, EF34GH",
        )
    ]


def test_what_was_done_for_the_user_has_the_number_that_was_told_with_it(told: Told) -> None:
    report = "Your booking has been successfully completed to economy class seats.\n\n- **Reservation ID:** ABCDEF"

    assert [subject for _, subject in done(told, report)] == ["ABCDEF"]


def test_something_new_has_not_the_number_of_what_was_spoken_of_before(told: Told) -> None:
    old = ("assistant", "Your order #W123456 is here."), ("user", "Then go on.")
    moved = "The address of the order has been successfully changed to the one of the office."
    booked = "Your flight from Oslo to Rome has been successfully booked."

    assert [subject for _, subject in done(told, moved, *old)] == ["#W123456"]
    assert [subject for _, subject in done(told, booked, *old)] == ["user"]


def test_what_was_told_of_a_matter_is_dropped_where_it_was_changed_later(told: Told) -> None:
    said = ("user", "Which is it?"), ("assistant", "Your reservation AB12CD includes two checked bags of 20 kg.")
    change = call("update_reservation", reservation_id="AB12CD", date="2024-05-04")

    assert texts(told, *said) == ["The user's reservation AB12CD includes two checked bags of 20 kg."]
    assert texts(told, *said, ("user", "Move it."), change) == []


@pytest.mark.parametrize(
    ("given", "rejected", "fact"),
    [
        ({"plan": "# Plan: Mend the parser\n\nSteps"}, "the plan", "the plan “Mend the parser” as it was"),
        (
            {"command": 'git commit -m "Mend it"'},
            'Bash(desc="Commit the fix", cmd="git")',
            "the commit “Mend it” as it was",
        ),
        ({"plan": f"{'word ' * 300}"}, "the plan", f"the plan “{'word ' * 22}word…” as it was"),
        ({"plan": " \n\n"}, "the plan", None),
        ({}, "the plan", None),
        ({}, 'Bash(desc="Commit the fix", cmd="git")', None),
    ],
)
def test_what_was_rejected_is_told_by_its_title(
    told: Told, given: dict[str, str], rejected: str, fact: str | None
) -> None:
    put = "tool_call", "Ask", {"tool": "Ask", "tool_input": given, "call_id": "1"}
    verdict = "decision", f"Rejected {rejected}: use a switch instead", {"call_id": "1"}

    found = texts(told, ("user", "Go on."), put, verdict)

    assert found == ([f"The user rejected {fact}: “use a switch instead”"] if fact else [])


@pytest.mark.parametrize(
    ("first", "third"),
    [
        ("My sister is late and I'm from Vegas", "The user's sister is late and the user is from Vegas"),
        ("My sister took my car and I cried", "The user's sister took the user's car and the user cried"),
        ("I called my sister and I cried", "The user called their sister and they cried"),
    ],
)
def test_what_is_somebodys_does_not_name_them(first: str, third: str) -> None:
    assert in_third_person(first) == third
