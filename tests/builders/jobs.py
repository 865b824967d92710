"""A queue of attempts in memory, whose jobs wait until they are run."""

from collections import defaultdict, deque

from nous.jobs.base import JobSpec, QueueKind, Runner


class FakeJobs:
    """`Jobs` in memory; jobs wait until `run` is called."""

    def __init__(self) -> None:
        self.submitted: list[JobSpec] = []
        self._waiting: dict[str, deque[JobSpec]] = defaultdict(deque)

    def submit(self, *orders: JobSpec) -> int:
        known = {order.id for order in self.submitted} if orders else set[str]()
        fresh = [order for order in orders if order.id not in known]
        for order in fresh:
            self.submitted.append(order)
            self._waiting[order.queue].append(order)
        return len(fresh)

    def backlog(self, worker: str, line: QueueKind) -> int:
        return len(self._waiting[line.queue(worker)])

    def is_waiting(self, order: JobSpec) -> bool:
        return order.id in {waiting.id for waiting in self._waiting[order.queue]}

    def lose(self) -> None:
        """Drop every waiting job, like a queue whose keys are lost."""
        self._waiting.clear()

    def run(self, runner: Runner, worker: str, line: QueueKind = QueueKind.LIVE) -> list[str]:
        """Run the jobs of a queue and return the outcome of each; of a failed one, its error."""
        outcomes: list[str] = []
        waiting = self._waiting[line.queue(worker)]
        while waiting:
            order = waiting.popleft()
            try:
                outcomes.append(runner(worker, order.ref.priority, order.ref.entry, order.attempt))
            except Exception as error:  # noqa: BLE001 (a queue continues after any error of a job)
                outcomes.append(f"failed: {error}")
        return outcomes
