"""Candidate facts of a session without a model, and command lines that test, build, lint and format a project."""

from collections.abc import Callable

import pytest
from builders.sessions import Piece, asks, calls, edits, rejects, runs, says

from nous.domain.episode import CandidateFact, Category, Quote, Trust
from nous.summary.heuristic.record import CommandRun, SessionRecord, usual
from nous.summary.heuristic.statements import candidate_facts
from nous.transcript.model import Header, Transcript

Told = Callable[..., Transcript]
Taught = Callable[..., tuple[CandidateFact, ...]]


@pytest.fixture
def taught(told: Told) -> Taught:
    """The facts of a session of such pieces."""

    def taught(*pieces: list[Piece]) -> tuple[CandidateFact, ...]:
        return candidate_facts(SessionRecord(told(*(entry for piece in pieces for entry in piece))))

    return taught


@pytest.mark.parametrize(
    ("said", "learned", "category"),
    [
        ("Always use port 9017 from now on.", "Always use port 9017 from now on.", Category.RULE),
        ("ok, never push to main without a review", "Never push to main without a review", Category.RULE),
        ("You may push to main from now on.", "You may push to main from now on.", Category.RULE),
        ("commit messages must be in imperative mood", "Commit messages must be in imperative mood", Category.RULE),
        ("use pnpm, not npm", "Use pnpm, not npm", Category.RULE),
        ("I prefer tabs over spaces.", "The user prefers tabs over spaces.", Category.PREFERENCE),
        (
            "I have changed my mind, I prefer spaces.",
            "The user has changed their mind: the user prefers spaces.",
            Category.PREFERENCE,
        ),
        ("I hate mocks when I test", "The user said: “I hate mocks when I test”", Category.PREFERENCE),
        ("We use Helm 3.14 now.", "We use Helm 3.14 now.", Category.TECHNICAL),
        ("The staging database is on host db-2", "The staging database is on host db-2", Category.TECHNICAL),
        ("Let's use Postgres for the job queue", "Let's use Postgres for the job queue", Category.DECISION),
        ("Actually the retry limit is 5, not 3", "The retry limit is 5, not 3", Category.CONCEPT),
        ("Correction: we use Helm 3.14", "We use Helm 3.14", Category.TECHNICAL),
        ("No, always use pnpm for installs", "Always use pnpm for installs", Category.RULE),
        ("I was wrong: the retry limit is 5, not 3", "The retry limit is 5, not 3", Category.CONCEPT),
        ("Remember that releases are cut on Tuesdays", "Releases are cut on Tuesdays", Category.CONCEPT),
        ("My name is Anna", "The user's name is Anna", Category.PERSON),
    ],
)
def test_what_the_user_states_for_good_is_learned_as_theirs(
    taught: Taught, said: str, learned: str, category: Category
) -> None:
    (fact,) = taught(asks(said), says("OK."))

    assert (fact.text, fact.category, fact.trust, fact.turns) == (learned, category, Trust.USER, (1,))
    assert [(quote.turn, quote.text in said) for quote in fact.quotes] == [(1, True)]


@pytest.mark.parametrize(
    "said",
    [
        "Fix the login page",
        "He wants to play football but has never played once",
        "He must be one of those people",
        "I just like the sea, and I went there when I was small, and my dad had a boat that I could steer a bit",
        "Can you always do that?",
        "Let's leave that for now",
        "We should never do it like this one",
        "Don't touch it yet, we use the old one until then",
        "My password is [secret:password:1a2b], never use another one",
    ],
    ids=["an order", "a story", "a guess", "chat", "a question", "for now", "points back", "until then", "a secret"],
)
def test_what_holds_for_the_moment_is_not_learned(taught: Taught, said: str) -> None:
    assert taught(asks(said), says("OK.")) == ()


@pytest.mark.parametrize(
    "said",
    [
        'Operation stopped by hook: "You must never use two sessions at once."',
        "> We must never deploy on Fridays.",
        'He wrote: "You must never deploy on Fridays. It breaks things."',
        "2026-01-01 10:00:00 ERROR you must never call this",
        "You must never deploy on Fridays. " + "This is a page about deployments. " * 60,
        '<teammate-message teammate_id="me">{"type":"task_assignment","subject":"Always use tabs"}</teammate-message>',
    ],
    ids=["a hook", "a quotation", "in quotes", "a log", "a document", "an echo of a task"],
)
def test_words_that_are_not_the_user_s_own_are_not_learned_as_theirs(taught: Taught, said: str) -> None:
    assert [fact for fact in taught(asks(said), says("OK.")) if fact.trust is Trust.USER] == []


def test_a_question_with_a_concrete_answer_can_be_answered_afterwards(taught: Taught) -> None:
    (fact,) = taught(
        asks("which port does staging use"), says("Staging uses port 9017, as `deploy/staging.yaml` says.")
    )

    assert "which port does staging use" in fact.text
    assert "Staging uses port 9017, as `deploy/staging.yaml` says." in fact.text
    assert (fact.trust, fact.turns) == (Trust.ASSISTANT, (1,))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which port does staging use?", "Probably port 9017, but I am not sure."),
        ("Which cache should we use?", "Option A: Redis.\n\nOption B: memory."),
        ("Which port does staging use?", "Let me look."),
        ("Are you sure about port 9017?", "Yes, port 9017."),
        ("Why does staging fail?", "Staging is a server in `deploy/`."),
        ("Could you move the config file?", "Moved the config file."),
    ],
    ids=["a guess", "an offer", "no answer yet", "a doubt", "no reason", "an order"],
)
def test_a_guess_an_offer_or_an_aside_is_no_answer(taught: Taught, question: str, answer: str) -> None:
    assert taught(asks(question), says(answer)) == ()


def test_what_was_changed_is_learned_from_the_report_that_names_it(taught: Taught) -> None:
    (fact,) = taught(
        asks("Please make the import faster"),
        edits("src/rows.py"),
        says("Done. I've added a cache to `read_rows` in `src/rows.py` for the import of large tables."),
    )

    assert fact.text == "Added a cache to `read_rows` in `src/rows.py` for the import of large tables."
    assert (fact.category, fact.subject) == (Category.EVENT, "read_rows")


def test_a_file_that_is_gone_at_the_end_is_not_learned(taught: Taught) -> None:
    made = says("Created `docs/geese.md` with an overview of geese and their species.")

    assert taught(asks("Write about geese"), edits("docs/geese.md"), made) != ()
    assert (
        taught(asks("Write about geese"), edits("docs/geese.md"), made, asks("drop it"), runs("rm docs/geese.md")) == ()
    )


def test_commands_that_ran_and_passed_are_learned_one_for_each_purpose(taught: Taught) -> None:
    facts = taught(
        asks("Go on"),
        runs("mise run test"),
        runs("ruff check"),
        runs("pytest tests/a.py"),
        runs("make", "make: *** [all] Error 1"),
    )

    assert [(fact.text, fact.category, fact.subject) for fact in facts] == [
        ("Tests are run with `mise run test`", Category.TOOL, "test command"),
        ("The linter is run with `ruff check`", Category.TOOL, "lint command"),
    ]
    assert [fact.quotes for fact in facts] == [(Quote(1, "mise run test"),), (Quote(1, "ruff check"),)]


def test_the_reason_of_a_rejection_and_an_answer_to_the_agent_are_decisions(taught: Taught) -> None:
    facts = taught(
        asks("Write the licence file"),
        rejects("Write(LICENSE)", "use Entire Inc. as the holder"),
        [("decision", 'Answered: "Which port?"="8443"')],
        says("OK."),
    )

    assert [fact.text for fact in facts] == [
        "The user rejected Write(LICENSE): “use Entire Inc. as the holder”",
        "Asked “Which port?”, the user answered “8443”",
    ]
    assert {(fact.category, fact.trust) for fact in facts} == {(Category.DECISION, Trust.USER)}
    assert [fact.quotes for fact in facts] == [(Quote(1, "use Entire Inc. as the holder"),), (Quote(1, "8443"),)]


Ran = Callable[..., list[CommandRun]]


@pytest.fixture
def ran(told: Told) -> Ran:
    """The runs of a session in /repo."""

    def ran(*pieces: list[Piece]) -> list[CommandRun]:
        entries = [entry for piece in (asks("Go on"), *pieces) for entry in piece]
        return list(SessionRecord(told(*entries, header=Header(cwd="/repo"))).runs)

    return ran


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("pytest", "test"),
        ("uv run pytest", "test"),
        ("npm test", "test"),
        ("make check", "test"),
        ("cargo build", "build"),
        ("make", "build"),
        ("ruff check", "lint"),
        ("cargo clippy -- -D warnings", "lint"),
        ("ruff format", "format"),
        ("mise run fmt", "format"),
    ],
)
def test_a_command_is_known_by_what_it_runs(ran: Ran, command: str, purpose: str) -> None:
    (run,) = ran(runs(command))

    assert (run.purpose, run.command, run.is_whole, run.passed) == (purpose, command, True, True)


@pytest.mark.parametrize("command", ["ls", "git commit -m 'make test pass'", "grep pytest pyproject.toml", "echo make"])
def test_what_only_names_a_command_does_not_run_it(ran: Ran, command: str) -> None:
    assert ran(runs(command)) == []


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/unit/test_a.py",
        "pytest -k login",
        "go test -run TestA ./...",
        "cargo test parser",
        "npm test -w web",
    ],
)
def test_a_run_of_some_tests_is_not_how_tests_are_run(ran: Ran, command: str) -> None:
    (run,) = ran(runs(command))

    assert not run.is_whole
    assert usual([run]) == []


@pytest.mark.parametrize(
    "result",
    ["2 failed, 3 passed", "no tests ran", "make: *** [test] Error 2", "Exit Code: 1", "error[E0308]: mismatched"],
)
def test_a_result_may_show_a_failure_that_no_status_tells(ran: Ran, result: str) -> None:
    (run,) = ran(runs("make test", result))

    assert not run.passed


def test_what_has_no_result_or_was_rejected_did_not_run(ran: Ran) -> None:
    silent = calls("Bash", {"command": "pytest"})[:1]
    call = calls("Bash", {"command": "pytest"})
    rejected = [call[0], ("decision", "Rejected Bash", {"call_id": call[0][2]["call_id"]})]

    assert ran(silent, rejected) == []


def test_one_command_for_each_purpose_and_directory_is_usual_that_ran_most_and_last(ran: Ran) -> None:
    found = usual(
        ran(runs("pytest"), runs("make test"), runs("make test"), runs("ruff check"), runs("cd web && npm test"))
    )

    assert [(run.command, run.directory) for run in found] == [
        ("make test", ""),
        ("ruff check", ""),
        ("npm test", "web"),
    ]
