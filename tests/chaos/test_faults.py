"""Whatever breaks: nothing is lost, nothing doubled, nobody is blamed who is innocent, and the accounts add up."""

from collections import Counter

import pytest
from chaos.drill.aof import complete, sessions_in
from chaos.drill.crew import Nursery
from chaos.drill.drive import Outcome, drill
from chaos.drill.fault import Fault, faults
from chaos.drill.report import Report
from chaos.drill.size import Size

from nous.bus.accounting import GroupCounters

pytestmark = pytest.mark.chaos


@pytest.mark.parametrize("kind", [pytest.param(kind, id=name) for name, kind in sorted(faults().items())])
def test_nothing_is_lost_and_nothing_doubled_whatever_breaks(
    kind: type[Fault], nursery: Nursery, size: Size, outcomes: list[Outcome]
) -> None:
    outcome = drill(kind(), size, nursery)
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
    assert bool(report.deaths) == kind.kills_processes, "a process ended by itself"


def test_a_report_counts_what_is_lost_and_what_is_doubled() -> None:
    report = Report(
        confirmed=frozenset({"whole", "lost", "cut off", "durable"}),
        durable=frozenset({"durable"}),
        episodes=Counter({"whole": 2, "lost": 1}),
        summaries=Counter({"whole": 1}),
        promised=3,
        taught=Counter({("whole", "a fact"): 1}),
        learned=Counter({"one": 1, "two": 1}),
        announced=Counter({"one": 2}),
        runs=Counter({("episode-summarizer", "e1"): 3}),
        dead={"poison": "it kills", "neighbour": "blamed"},
        accounts={"episode-summarizer": GroupCounters(received=4, done=1)},
        deaths=0,
        expected_dead=frozenset({"poison"}),
        may_be_lost=frozenset({"cut off", "durable"}),
    )

    assert (report.lost, report.cut_off) == ({"lost", "durable"}, {"cut off"})
    assert (report.lost_facts, report.unsaid, report.missing) == (2, {"two"}, 5)
    assert (report.doubled, report.run_twice) == (2, 2)
    assert (set(report.bystanders), report.imbalance) == ({"neighbour"}, 3)


def test_a_log_that_breaks_off_has_the_sessions_up_to_its_last_whole_commit() -> None:
    commits = [f'$5\r\nMULTI\r\n$21\r\n{{"subject":"session-{number}"}}\r\n$4\r\nEXEC\r\n' for number in (1, 2)]
    log = "".join(commits).encode()

    assert sessions_in(complete(log)) == {"session-1", "session-2"}
    assert sessions_in(complete(log[:-1])) == {"session-1"}
    assert complete(log[:20]) == b""
