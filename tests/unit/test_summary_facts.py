"""What a session may teach, and what it must not."""

from collections.abc import Callable
from typing import Any

import pytest

from nous.caps import MOST_CANDIDATES as MOST
from nous.episode import CandidateFact, Category, Trust
from nous.secrets import looks_secret
from nous.summary.evidence import Evidence
from nous.summary.extractive import summarize
from nous.summary.facts import candidate_facts
from nous.summary.third_person import in_third_person, of_the_user
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]

EDIT = ("tool_call", "Edit", {"tool": "Edit", "tool_input": {"file_path": "a.py"}})


def bash(command: str, **fields: Any) -> tuple[str, str, dict[str, Any]]:
    return "tool_call", command, {"tool": "Bash", "tool_input": {"command": command}, **fields}


def facts(told: Told, *entries: tuple[Any, ...]) -> list[CandidateFact]:
    return list(candidate_facts(Evidence(told(*entries))))


def said(told: Told, *entries: tuple[Any, ...]) -> list[tuple[str, Category, tuple[int, ...]]]:
    return [(fact.text, fact.category, fact.turns) for fact in facts(told, *entries)]


def test_a_standing_rule_of_the_user_is_a_rule(told: Told) -> None:
    found = said(told, ("user", "Fix the build. From now on, never push to main without asking me."), EDIT)

    assert found == [("From now on, never push to main without asking me.", Category.RULE, (1,))]


def test_an_agent_never_makes_a_rule(told: Told) -> None:
    found = facts(
        told, ("user", "Go on."), ("assistant", "Always call `close_all()` because the pool never frees itself.")
    )

    assert [fact.category for fact in found] == [Category.TECHNICAL]


def test_a_pasted_document_is_not_the_users_rule(told: Told) -> None:
    assert facts(told, ("user", "Implement this:\n" + "Always use tabs in every file we have.\n" * 60)) == []


@pytest.mark.parametrize(
    ("sentence", "fact", "category"),
    [
        ("I prefer pytest over unittest.", "The user prefers pytest over unittest.", Category.PREFERENCE),
        ("My user ID is mia_li_3668.", "The user's user ID is mia_li_3668.", Category.PERSON),
        (
            "Let's go with the SQLite backend.",
            "The user decided: “Let's go with the SQLite backend.”",
            Category.DECISION,
        ),
    ],
)
def test_what_the_user_says_of_themselves_is_told_in_the_third_person(
    told: Told, sentence: str, fact: str, category: Category
) -> None:
    assert said(told, ("user", f"Hello. {sentence}"), ("assistant", "Noted.")) == [(fact, category, (1,))]


@pytest.mark.parametrize(
    ("decision", "fact"),
    [
        ("Rejected Edit(/home/me/a.py): use the helper", "The user rejected Edit(a.py): “use the helper”"),
        ("Approved the plan: Split `parser.py`", "The user approved the plan “Split `parser.py`”"),
        ('Answered: "Which database?"="Postgres"', "Asked “Which database?”, the user answered “Postgres”"),
    ],
)
def test_verdicts_of_the_user_are_decisions(told: Told, decision: str, fact: str) -> None:
    assert said(told, ("user", "Go on."), ("decision", decision)) == [(fact, Category.DECISION, (1,))]


@pytest.mark.parametrize(
    "reason",
    ["is 241 really still a problem?", "wait please, let's talk", "we have more inbound changes coming", "Acme Inc."],
)
def test_a_rejection_that_says_not_what_to_do_teaches_nothing(told: Told, reason: str) -> None:
    assert facts(told, ("user", "Go on."), ("decision", f"Rejected Bash: {reason}")) == []


def test_a_rejection_without_a_reason_teaches_nothing(told: Told) -> None:
    assert facts(told, ("user", "Go on."), ("decision", "Rejected Edit(a.py)")) == []


def test_a_cause_is_kept_with_its_turn_and_its_subject(told: Told) -> None:
    cause = "The root cause is that `os.Chdir` changes the directory of the whole process."

    (fact,) = facts(told, ("user", "Go on."), ("user", "Why does it fail?"), ("assistant", cause))

    assert (fact.text, fact.category, fact.turns, fact.subject) == (cause, Category.TECHNICAL, (2,), "os.Chdir")


@pytest.mark.parametrize(
    "noise",
    [
        "Let me check why `parse_args` fails because of the cache.",
        "It might be that `parse_args` fails because of the cache.",
        "This fails because `parse_args` never returns a list here.",
        "Does `parse_args` fail because of the cache in `load_all`?",
        "I changed `parse_args` because the cache was missing an entry.",
        "Added `parse_args` because the cache was missing an entry.",
    ],
)
def test_narration_guesses_questions_and_events_are_no_findings(told: Told, noise: str) -> None:
    assert facts(told, ("user", "Go on."), ("assistant", noise)) == []


def test_tests_are_known_by_the_shortest_command_that_passed(told: Told) -> None:
    found = said(
        told,
        ("user", "Go on."),
        bash("pytest -x", call_id="1"),
        ("tool_result", "boom", {"call_id": "1", "is_error": True}),
        bash("cd src && pytest -q tests/unit 2>&1 | tail -5", call_id="2"),
        ("tool_result", "ok", {"call_id": "2"}),
    )

    assert found == [("Tests are run with `pytest -q tests/unit`.", Category.TOOL, (1,))]


@pytest.mark.parametrize(
    ("command", "told_of"),
    [
        ("go test ./cli/... -v -count=1", ["go test ./cli/..."]),
        ("mise run test -- -run Chunk", ["mise run test"]),
        ('go test ./cli/... -run "Chunk" -v', []),
        ("pytest tests/unit/test_a.py::test_b", []),
    ],
)
def test_a_command_tells_how_all_tests_are_run_if_it_picks_none(told: Told, command: str, told_of: list[str]) -> None:
    found = said(told, ("user", "Go on."), bash(command))

    assert [text for text, _, _ in found] == [f"Tests are run with `{told}`." for told in told_of]


def test_a_command_for_all_tests_is_preferred_to_a_shorter_one_for_some(told: Told) -> None:
    found = said(told, ("user", "Go on."), bash("go test -run Chunk"), bash("mise run test"))

    assert found == [("Tests are run with `mise run test`.", Category.TOOL, (1,))]


def test_a_commit_is_told_by_the_episode_and_no_fact(told: Told) -> None:
    command = 'git commit -m "Fix the cache" && gh pr comment -b "$(cat <<EOF\nno\nEOF\n)"'

    extracted = summarize(told(("user", "Commit."), bash(command)))

    assert "“Fix the cache”" in extracted.summary.summary
    assert extracted.candidate_facts == ()


def test_what_was_done_for_the_user_is_told_of_the_user(told: Told) -> None:
    found = said(
        told,
        ("user", "Book seat 4C."),
        ("assistant", "Your identity has been successfully verified.\n\nYour seat 4C has been successfully booked."),
    )

    assert found == [("The user's seat 4C has been successfully booked.", Category.EVENT, (1,))]


@pytest.mark.parametrize(
    "report", ["Your order has been successfully cancelled.", "Your request was processed successfully."]
)
def test_a_service_that_names_nothing_teaches_nothing(told: Told, report: str) -> None:
    assert facts(told, ("user", "Cancel it."), ("assistant", report)) == []


def test_a_preference_is_taken_out_of_the_sentence_it_stands_in(told: Told) -> None:
    found = said(told, ("user", "It'll just be me, and I don't want travel insurance."), ("assistant", "Noted."))

    assert found == [("The user doesn't want travel insurance.", Category.PREFERENCE, (1,))]


def test_what_belongs_to_the_talk_is_no_fact_about_somebody(told: Told) -> None:
    chat = (
        "I love that campaign idea, it is great.",
        "I was going to say the same, more or less.",
        "I hate when they just go on and on.",
        "I really like cooking for other people.",
        "I really like the lilies of the field it's beautiful.",
    )

    found = said(told, *(("user" if n % 2 else "assistant", text) for n, text in enumerate(chat * 3)))

    assert {text.partition(" ")[2].partition(" ")[2] for text, *_ in found} == {
        "really likes cooking for other people."
    }


def test_people_who_talk_are_told_by_what_they_say_of_themselves(told: Told) -> None:
    found = said(
        told,
        ("user", "Haha yeah I live in Provo with my two brothers. What about you?"),
        ("assistant", "My sister Anna is a nurse in Denver."),
        ("user", "Nice weather today, is it not?"),
        ("assistant", "It is lovely weather."),
        ("user", "So it is, so it is."),
    )

    assert sorted(found) == [
        ("The assistant's sister Anna is a nurse in Denver.", Category.PERSON, (1,)),
        ("The user lives in Provo with their two brothers.", Category.PERSON, (1,)),
    ]


@pytest.mark.parametrize(
    "secret",
    [
        "the key is sk-ant-api03-abcdefghijklmnop",
        "password: hunter22",
        "use ghp_abcdefghijklmnopqrstuvwxyz0123",
        "card 4111 1111 1111 1111",
        "token aB3dE5fG7hJ9kL1mN2pQ4rS6",
    ],
)
def test_what_looks_like_a_secret_is_never_a_fact(told: Told, secret: str) -> None:
    assert looks_secret(secret)
    assert facts(told, ("user", f"Hello. I prefer that you remember: my user ID is x_y_1 and {secret}.")) == []


@pytest.mark.parametrize(
    "text", ["commit 9e107d9d372bb6826bd81d3542a419d6", "TestCheckRemoteMetadata_MetadataExists", "0.1.0"]
)
def test_hashes_names_and_versions_are_no_secrets(text: str) -> None:
    assert not looks_secret(text)


def test_no_two_facts_of_a_session_say_the_same_and_there_are_at_most_fifty(told: Told) -> None:
    rules = [f"Never touch the file number_{n} in directory_{n} of repository_{n}." for n in range(70)]

    found = facts(told, *(("user", rule) for rule in (*rules, *rules)), EDIT)

    assert len(found) == MOST
    assert len({fact.text for fact in found}) == MOST


@pytest.mark.parametrize(
    ("first", "third"),
    [
        ("I'm from Vegas and I have a dog", "The user is from Vegas and they have a dog"),
        ("I don't eat meat", "The user doesn't eat meat"),
        ("I really study maths", "The user really studies maths"),
        ("I went home", "The user went home"),
        ("my boss told me that I was late", "The user's boss told the user that they were late"),
        ("For tests I'd like tables", "For tests the user would like tables"),
    ],
)
def test_the_first_person_becomes_the_third(first: str, third: str) -> None:
    assert in_third_person(first) == third


def test_the_second_person_becomes_the_user() -> None:
    assert of_the_user("you have 3 bags on your flight") == "The user has 3 bags on the user's flight"


@pytest.mark.parametrize(
    ("entry", "category", "trust"),
    [
        (("user", "From now on, never push to main without asking me."), Category.RULE, Trust.USER),
        (("user", "I prefer pytest over unittest."), Category.PREFERENCE, Trust.USER),
        (("user", "My user ID is mia_li_3668."), Category.PERSON, Trust.USER),
        (("user", "Let's go with the SQLite backend."), Category.DECISION, Trust.USER),
        (("decision", "Approved the plan: Split `parser.py`"), Category.DECISION, Trust.USER),
        (("assistant", "`os.Chdir` fails because it moves the whole process."), Category.TECHNICAL, Trust.ASSISTANT),
        (("assistant", "Your seat 4C has been successfully booked."), Category.EVENT, Trust.ASSISTANT),
        (bash("pytest -q tests/unit"), Category.TOOL, Trust.ASSISTANT),
    ],
)
def test_a_fact_says_whose_words_it_is(told: Told, entry: tuple[Any, ...], category: Category, trust: Trust) -> None:
    found = facts(told, ("user", "Go on."), entry)

    assert [(fact.category, fact.trust) for fact in found] == [(category, trust)]


def test_people_who_talk_are_each_known_by_their_own_words(told: Told) -> None:
    found = facts(
        told,
        ("user", "I live in Provo with my two brothers."),
        ("assistant", "My sister Anna is a nurse in Denver."),
        ("user", "Nice weather today, is it not?"),
        ("assistant", "It is lovely weather."),
        ("user", "So it is, so it is."),
    )

    assert {(fact.subject, fact.trust) for fact in found} == {
        ("user", Trust.USER),
        ("assistant's sister", Trust.ASSISTANT),
    }
