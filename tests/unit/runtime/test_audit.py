"""Who looks whether the accounts add up, and what he says."""

from collections.abc import Sequence
from typing import Any, cast

from structlog.testing import capture_logs

from nous.bus.accounting import DeliveryStats, GroupCounters
from nous.bus.base import Subscription
from nous.domain.errors import Unavailable
from nous.domain.events import SessionEnded
from nous.runtime.maintenance import Auditor

TOY = Subscription("toy", SessionEnded)
GOOD, BAD, WORSE = (
    GroupCounters(received=3, done=3),
    GroupCounters(received=3, done=2),
    GroupCounters(received=3, done=1),
)


class Told:
    """A ledger that tells one account after the other, and stops who asks when there is none left."""

    def __init__(self, accounts: Sequence[GroupCounters | Exception]) -> None:
        self._left = list(accounts)
        self.auditor = Auditor([TOY], delivery_stats=cast("DeliveryStats", self), interval=0, again=0)

    def counters(self, subscription: Subscription) -> GroupCounters:
        assert subscription == TOY
        found = self._left.pop(0)
        if not self._left:
            self.auditor.stop()
        if isinstance(found, Exception):
            raise found
        return found


def told_of(*accounts: GroupCounters | Exception) -> list[Any]:
    with capture_logs() as logs:
        Told(accounts).auditor.run()
    return [(line["log_level"], line["event"], line.get("difference")) for line in logs]


ALARM = "delivery_stats.discrepancy"


def test_what_adds_up_is_not_told() -> None:
    assert told_of(GOOD, GOOD) == []


def test_what_is_mended_by_the_next_look_is_not_told() -> None:
    assert told_of(BAD, GOOD, BAD, GOOD) == []


def test_what_does_not_add_up_is_told_once_and_again_when_it_is_another_difference() -> None:
    assert told_of(BAD, BAD, BAD, WORSE, WORSE) == [("error", ALARM, 1), ("error", ALARM, 2)]


def test_it_is_told_that_it_adds_up_again() -> None:
    assert told_of(BAD, BAD, GOOD) == [("error", ALARM, 1), ("info", "delivery_stats.reconciled", None)]


def test_a_server_that_does_not_answer_ends_nothing_and_is_told_ever_more_rarely() -> None:
    told = told_of(*[Unavailable("away")] * 5, KeyError("x"), BAD, BAD)

    assert [event for _, event, _ in told] == [
        *["task.retry_scheduled"] * 3,
        "task.error",
        "task.recovered",
        ALARM,
    ]


def test_a_server_that_somebody_has_made_unsafe_is_told_of_once_and_again_when_it_is_anew() -> None:
    dangers = iter([(), ("it evicts",), ("it evicts",), ("it evicts", "it keeps no log"), (), ("it evicts",)])
    auditor = Auditor(
        [], delivery_stats=cast("DeliveryStats", None), interval=0, again=0, dangers=lambda: next(dangers)
    )

    with capture_logs() as logs:
        for _ in range(6):
            auditor.run_once()

    assert [line["reason"] for line in logs] == ["it evicts", "it keeps no log", "it evicts"]


def test_the_cause_is_named_as_far_as_it_can_be_known() -> None:
    assert GroupCounters.of({"received": 3, "done": 1}, in_flight=0, leased=2).why.startswith("2 were taken out of")
    assert GroupCounters.of({"received": 3, "done": 1}, in_flight=0, leased=0).why.startswith(
        "2 were received and are now"
    )
    assert GroupCounters.of({"done": 1}, in_flight=2, leased=2).why.startswith("3 more are accounted for")
    assert GroupCounters.of({"received": 1}, in_flight=3, leased=1).why == ""
    assert GroupCounters.of({"received": 3}, in_flight=3, leased=0).why == ""
