"""What the user of a session of work states of how things are."""

from collections.abc import Callable
from typing import Any

import pytest
from builders.at_work import RUN

from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]


def texts(told: Told, *entries: tuple[Any, ...]) -> list[str]:
    return [fact.text for fact in candidate_facts(Evidence(told(*entries)))]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("The orders database is Postgres 15 and runs on port 5433.", None),
        ("We use pnpm here, not npm.", "We use pnpm, not npm."),
        ("ok, we always deploy from the release branch", "We always deploy from the release branch."),
        ("remember: deploys happen only on Tuesdays", "Deploys happen only on Tuesdays."),
        (
            "no, the config lives in config/prod.yaml, not settings.py",
            "The config lives in config/prod.yaml, not settings.py.",
        ),
        (
            "the first part is not correct, for manual runs we use hooks to add the trailer",
            "For manual runs we use hooks to add the trailer.",
        ),
        ("/flow:run keep each commit with working code", "Keep each commit with working code."),
    ],
)
def test_what_the_user_states_in_passing_is_known(told: Told, said: str, fact: str | None) -> None:
    assert texts(told, ("user", said), RUN, ("assistant", "Noted.")) == [fact or said]


@pytest.mark.parametrize(
    "said",
    [
        "Do we use pnpm here?",
        "We use this one for now.",
        "Saving in `cache.py` is broken, it still fails for me.",
        "Our tests are failing.",
        "Our next meeting is Monday 10am.",
        "Our security is amazing.",
        "We release tomorrow.",
        "We run into an error in parser.py when the file is empty.",
        "We use redis, don't we.",
        "Our API uses express 4. Upgrade to express 5.",
        "We use Jest. Please replace it with vitest.",
        "We deploy on Friday.",
        "We ship on Monday to ghcr.io.",
        "We keep getting errors from `parser.py`.",
        "Our backup job has an error in S3.",
        "Our build is red.",
        "We use Kafka I believe.",
        "We use Node 16, please upgrade to 20.",
        "This project uses Yarn 4, replace Yarn with pnpm.",
        "We use moment.js. I want to use dayjs instead.",
        "We use moment, swap it for dayjs pls",
        "Our CI is on the old node v14, bump it.",
        "Our login page has a typo in Login.tsx.",
        "We host on Heroku until March.",
        "We use axios in api.ts but it hangs.",
        "We ship v3.2 on May 5.",
        "Assume the API listens on port 9999 in `dev.toml`.",
        "The Dockerfile uses node:14 and it must be node:20.",
        "Our release is next week.",
        "We use moment.js for dates. Replace it with dayjs everywhere.",
        "I think the database in `db.py` is broken somehow.",
        "The config in `prod.yaml` is probably wrong somewhere in there.",
        "Please use the config that is in config/prod.yaml for it.",
    ],
)
def test_questions_guesses_and_orders_state_nothing(told: Told, said: str) -> None:
    assert texts(told, ("user", said), RUN, ("assistant", "Noted.")) == []


@pytest.mark.parametrize(
    "said",
    [
        "We keep secrets in Vault.",
        "We test with pytest-xdist on CI.",
        "We release every second week from `main`.",
        "We run our tests with `tox`.",
        "We use Sentry for errors.",
        "We use red/green deploys with Argo.",
        "We deploy on Tuesdays from the release branch.",
        "We deploy every Friday with `make ship`.",
        "Our sessions expire after 30 minutes.",
        "Our error tracker is Sentry.",
        "Our release branch is `stable`.",
        "We write commit messages in imperative mood.",
    ],
)
def test_a_custom_is_known_though_its_words_may_tell_news_as_well(told: Told, said: str) -> None:
    assert texts(told, ("user", said), RUN, ("assistant", "Noted.")) == [said]


@pytest.mark.parametrize(
    "asked", ["Add a test for parser.py and run it.", "Open a PR.", "Please summarize the log.", "Draft the changelog"]
)
def test_a_custom_is_known_beside_a_request_for_something_else(told: Told, asked: str) -> None:
    custom = "We use uv, not pip."

    assert texts(told, ("user", f"{custom} {asked}"), RUN, ("assistant", "Noted.")) == [custom]


def test_a_circumstance_is_known_beside_a_request_for_something_else(told: Told) -> None:
    said = "The orders database is Postgres 15 and runs on port 5433."

    assert texts(told, ("user", f"{said} Fix the typo in README.md."), RUN, ("assistant", "Done.")) == [said]
    assert texts(told, ("user", f"{said} Upgrade it."), RUN, ("assistant", "Done.")) == []
    assert texts(told, ("user", f"{said} Consider using another port."), RUN, ("assistant", "Done.")) == []


def test_what_is_asked_for_in_the_same_sentence_is_no_part_of_the_custom(told: Told) -> None:
    said = "Our API runs on port 8080, fix the health check."

    assert texts(told, ("user", said), RUN, ("assistant", "Noted.")) == ["Our API runs on port 8080."]


def test_what_was_changed_after_it_was_stated_is_left_out(told: Told) -> None:
    said = "The orders service listens on port 8080 in `serve.py`."
    edit = "tool_call", "Edit", {"tool": "Edit", "tool_input": {"file_path": "serve.py", "new_string": "port = 9090"}}

    assert texts(told, ("user", said), RUN) == [said]
    assert texts(told, ("user", said), edit) == []


def test_a_decision_is_not_said_to_be_decided_twice(told: Told) -> None:
    assert texts(told, ("user", "We've decided to go with Kafka as the broker."), RUN) == [
        "The user decided: “Go with Kafka as the broker.”"
    ]


def test_people_who_speak_of_their_trade_are_at_work_without_any_calls(told: Told) -> None:
    said = [
        ("user", "The database is Postgres 15 and it listens on port 5433."),
        ("assistant", "Thank you, I have noted that for the backend and its config."),
        ("user", "We use pnpm here, not npm, in the whole frontend."),
        ("assistant", "Understood, so all of the scripts are run with it."),
        ("user", "Never commit to main directly, please."),
        ("assistant", "Understood, I will always open a branch for it."),
    ]

    assert texts(told, *said) == [
        "The database is Postgres 15 and it listens on port 5433.",
        "We use pnpm, not npm, in the whole frontend.",
        "Never commit to main directly, please.",
    ]


@pytest.mark.parametrize(
    ("said", "later", "facts"),
    [
        ("We host on AWS.", "Sorry, we host on Hetzner, not AWS.", ["We host on Hetzner, not AWS."]),
        ("We use yarn v4.", "no wait, we use pnpm, not yarn", ["We use pnpm, not yarn."]),
        ("We use jest.", "Let's move to vitest.", []),
        ("We use Redux for state.", "Replace Redux with Zustand.", []),
        ("We deploy to AWS.", "Scratch that.", []),
        ("We use Redux for state.", "Add a Redux slice for users.", ["We use Redux for state."]),
    ],
)
def test_a_custom_gives_way_to_what_is_told_or_wanted_later(
    told: Told, said: str, later: str, facts: list[str]
) -> None:
    talk = [("user", said), RUN, ("assistant", "Noted."), ("user", later), RUN, ("assistant", "Done.")]

    assert texts(told, *talk) == facts


@pytest.mark.parametrize(
    "said",
    [
        "This repo uses pnpm workspaces.",
        "The tests live in `spec/`, not in `tests/`.",
        "We moved from Jenkins to GitHub Actions last year.",
        "We are stuck on Node 16 because of the legacy build.",
        "We follow Google style docstrings.",
    ],
)
def test_how_a_project_is_kept_is_known_in_other_words_as_well(told: Told, said: str) -> None:
    assert texts(told, ("user", said), RUN, ("assistant", "Noted.")) == [said]
