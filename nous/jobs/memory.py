"""Jobs in memory: a queue that is run by hand. For tests."""

from collections import defaultdict, deque

from nous.jobs.base import Line, Order, Runner


class MemoryJobs:
    """`Jobs` that wait until `run` is called."""

    def __init__(self) -> None:
        self.submitted: list[Order] = []
        self._waiting: dict[str, deque[Order]] = defaultdict(deque)

    def submit(self, *orders: Order) -> int:
        known = {order.id for order in self.submitted}
        fresh = [order for order in orders if order.id not in known]
        for order in fresh:
            self.submitted.append(order)
            self._waiting[order.queue].append(order)
        return len(fresh)

    def backlog(self, worker: str, line: Line) -> int:
        return len(self._waiting[line.queue(worker)])

    def is_waiting(self, order: Order) -> bool:
        return order.id in {waiting.id for waiting in self._waiting[order.queue]}

    def lose(self) -> None:
        """Forget every job that waits, as a queue does whose keys are lost."""
        self._waiting.clear()

    def run(self, runner: Runner, worker: str, line: Line = Line.LIVE) -> list[str]:
        """Run what waits in a queue, and say what came of each; a failed attempt says the error."""
        outcomes: list[str] = []
        waiting = self._waiting[line.queue(worker)]
        while waiting:
            order = waiting.popleft()
            try:
                outcomes.append(runner(worker, order.ticket.lane, order.ticket.entry, order.attempt))
            except Exception as error:  # noqa: BLE001 (a queue goes on whatever its job raised)
                outcomes.append(f"failed: {error}")
        return outcomes
