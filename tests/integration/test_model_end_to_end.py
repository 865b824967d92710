"""Every way in which a model server goes wrong, against everything that is real: one session and one fault at a time.

A provider that fails is left alone by all sessions of an installation, so that each such fault has an installation of
its own. Answers that cannot be used are their session's own affair; these share one.
"""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from builders.model_fleet import Accounts, ModelFleet, about_its_service, service_of
from builders.model_server import ModelServer, Request
from builders.waiting import wait_until
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

ATTEMPTS = 2
"""How often a call that nobody answers is made for one event."""
FOR_EVER = 99


class Outcome(NamedTuple):
    """What became of a session.

    `requests` is how many the server saw of it, `failures` what the log says of those that failed. `asked_again` counts
    answers that had to be asked for once more, and `errors` the attempts that it has cost. `tiers` are the editions of
    its episode, the first one first.
    """

    requests: int
    failures: tuple[str, ...] = ()
    asked_again: int = 0
    errors: int = 0
    tiers: tuple[str, ...] = ("llm",)


class Case(NamedTuple):
    """A session whose requests meet *faults*, one each, and what shall become of it.

    `counts` is what `nous status` shall say of its calls, and `deadline` how many seconds each may take.
    """

    faults: Sequence[str]
    outcome: Outcome
    counts: Mapping[str, int]
    deadline: float = 10.0


AT_ONCE = Counter(calls=1, answered=1)
ASKED_TWICE = Counter(calls=2, answered=2, asked_again=1)
IN_VAIN = Counter(calls=2, answered=2, asked_again=1, remembered=2, parse=2)


def failed(failure: str, times: int = 1) -> Counter[str]:
    return Counter({"calls": times, failure: times})


def then_answered(failure: str, **more: Any) -> Outcome:
    """One request that failed, and one that did not."""
    return Outcome(2, (failure,), **more)


MADE_ANEW = ("extractive", "llm")
EXTRACTIVE = ("extractive",)

EXCHANGES = {
    "quota": Case(["429 retry-after 1"], then_answered("quota"), AT_ONCE + failed("quota")),
    "failing": Case(["500"], then_answered("transport"), AT_ONCE + failed("transport")),
    "hanging": Case(["hang"], then_answered("timeout", errors=1), AT_ONCE + failed("timeout"), deadline=2.0),
    # Each worker that asks makes as many attempts as are configured; the last one is made do without.
    "hanging-on": Case(
        ["hang"] * FOR_EVER,
        Outcome(2 * ATTEMPTS, ("timeout",) * 2 * ATTEMPTS, errors=ATTEMPTS - 1, tiers=EXTRACTIVE),
        failed("timeout", 2 * ATTEMPTS),
        deadline=2.0,  # by then even a busy machine has sent the request
    ),
    # What is turned down with a schema is asked once more without, in the same call.
    "refused": Case(["400"], Outcome(2), AT_ONCE),
    "refused-on": Case(["400"] * FOR_EVER, Outcome(4, ("other",) * 2, tiers=EXTRACTIVE), failed("other", 2)),
    "no-key": Case(["401"], then_answered("other", tiers=MADE_ANEW), AT_ONCE + failed("other")),
}

ANSWERS = {
    "good": Case([], Outcome(1), AT_ONCE),
    "prose": Case(["prose"], Outcome(1), AT_ONCE),
    "fenced": Case(["fenced"], Outcome(1), AT_ONCE),
    "string-for-list": Case(["string for list"], Outcome(1), AT_ONCE),
    "wrong-types": Case(["wrong types"], Outcome(2, asked_again=1), ASKED_TWICE),
    "truncated": Case(["truncated"], Outcome(2, asked_again=1), ASKED_TWICE),
    "empty": Case(["empty"], Outcome(2, asked_again=1), ASKED_TWICE),
    # The reviser finds the answers that the summarizer could not use, and asks for no others.
    "empty-on": Case(["empty"] * FOR_EVER, Outcome(2, ("parse",) * 2, 1, tiers=EXTRACTIVE), IN_VAIN),
}

CASES = EXCHANGES | ANSWERS
INSTALLATIONS = {**{name: (name,) for name in EXCHANGES}, "answers": tuple(ANSWERS)}
"""The sessions of each."""


class Round(NamedTuple):
    """What became of each session, and, by installation, what `nous status` and the accounts say."""

    outcomes: dict[str, Outcome]
    counts: dict[str, dict[str, int]]
    accounts: dict[str, Accounts]


def played(provider: str) -> Round:
    """All cases at once."""
    with (
        TemporaryDirectory(prefix="nous-") as directory,
        ModelServer(about_its_service) as server,
        capture_logs(processors=[merge_contextvars]) as lines,
        fleets(Path(directory), server, provider) as running,
    ):
        server.set_faults(scripted())
        for name, fleet in running.items():
            fleet.publish(*INSTALLATIONS[name])
        for name, fleet in running.items():
            wait_until(lambda: fleet.is_at_rest(len(INSTALLATIONS[name])), f"{name} to be over", pause=0.2)  # noqa: B023 (called here)
        return Round(
            {
                session: outcome(session, running[at], server, lines)
                for at, all_ in INSTALLATIONS.items()
                for session in all_
            },
            {name: fleet.calls for name, fleet in running.items()},
            {name: fleet.accounts for name, fleet in running.items()},
        )


def scripted() -> Callable[[Request], str | None]:
    """The faults of each session's requests, in order."""
    left = {session: list(case.faults) for session, case in CASES.items()}

    def fault_of(request: Request) -> str | None:
        faults = left[service_of(request)]
        return faults.pop(0) if faults else None

    return fault_of


@contextmanager
def fleets(directory: Path, server: ModelServer, provider: str) -> Generator[dict[str, ModelFleet]]:
    """Every installation, at work. They stop together, since each takes a second."""
    running: dict[str, ModelFleet] = {}
    try:
        for name, sessions in INSTALLATIONS.items():
            deadline = min(CASES[session].deadline for session in sessions)
            running[name] = ModelFleet(
                directory / name,
                server,
                provider=provider,
                llm={"deadline": deadline},
                worker={"max_attempts": ATTEMPTS},
            )
            running[name].start()
        yield running
    finally:
        with ThreadPoolExecutor(len(INSTALLATIONS)) as threads:
            list(threads.map(ModelFleet.stop, running.values()))


def outcome(session: str, fleet: ModelFleet, server: ModelServer, lines: Sequence[MutableMapping[str, Any]]) -> Outcome:
    """What became of *session*, by the server, by what was logged, and by the store."""
    said = [line for line in lines if line.get("session_id") == session]
    return Outcome(
        requests=sum(service_of(request) == session for request in server.requests),
        failures=tuple(str(line["failure"]) for line in said if "failure" in line),
        asked_again=sum(line["event"] == "model.repair_requested" for line in said),
        errors=max((line["errors"] for line in said if line["event"] == "delivery.retry_scheduled"), default=0),
        tiers=tuple(fleet.editions(session)),
    )


def counted(installation: str) -> dict[str, int]:
    return dict(sum((Counter(CASES[session].counts) for session in INSTALLATIONS[installation]), Counter[str]()))


# One test for each provider: processes of pytest-xdist that share the tests of a module play its round once each.
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_every_fault_takes_so_many_requests_is_counted_and_leaves_an_episode_and_nothing_dead(provider: str) -> None:
    round_ = played(provider)

    assert round_.outcomes == {session: case.outcome for session, case in CASES.items()}
    for installation, counts in round_.counts.items():
        calls = {name: count for name, count in counts.items() if not name.startswith(("tokens", "off_"))}
        assert calls == counted(installation), installation
    assert set(round_.accounts.values()) == {Accounts(dead=0, balance=0)}
