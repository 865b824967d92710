"""Whatever breaks: nothing is lost, nothing doubled, nobody is blamed who is innocent, and the accounts add up."""

from collections.abc import Callable

import pytest
from chaos.drill.crew import Nursery
from chaos.drill.drive import drill
from chaos.drill.fault import Fault, faults
from chaos.drill.faults.server import complete, sessions_in
from chaos.drill.report import Outcome
from chaos.drill.stage import Size

pytestmark = pytest.mark.chaos


@pytest.mark.parametrize("kind", [pytest.param(kind, id=name) for name, kind in sorted(faults().items())])
def test_nothing_is_lost_and_nothing_doubled_whatever_breaks(
    kind: Callable[[], Fault], nursery: Nursery, outcomes: list[Outcome]
) -> None:
    fault = kind()
    size = Size.chosen(fault.events)
    outcome = drill(fault, size, nursery)
    outcomes.append(outcome)

    report = outcome.report
    assert len(report.confirmed) == size.events
    assert report.bystanders == {}
    assert report.lost == set()
    assert report.lost_facts == 0
    assert report.unsaid == set()
    assert report.doubled == 0
    assert set(report.dead) == report.expected_dead
    assert report.imbalance == 0
    assert bool(report.deaths) == fault.kills_processes, "a process ended by itself"


def test_a_log_that_breaks_off_has_the_sessions_up_to_its_last_whole_commit() -> None:
    commits = [f'$5\r\nMULTI\r\n$21\r\n{{"subject":"session-{number}"}}\r\n$4\r\nEXEC\r\n' for number in (1, 2)]
    log = "".join(commits).encode()

    assert sessions_in(complete(log)) == {"session-1", "session-2"}
    assert sessions_in(complete(log[:-1])) == {"session-1"}
    assert complete(log[:20]) == b""
