"""What is drilled: who works, how far they are, and what they themselves say of it."""

from collections.abc import Mapping
from typing import Any, Protocol

from chaos.drill.crew import Crew

from nous.app.container import Container
from nous.bus.accounting import GroupCounters
from nous.bus.redis.keys import BusKeys
from nous.redis_support.errors import translated

PROCESSES = 3
WORKERS = ("episode-summarizer", "fact-extractor")
"""In the order in which work passes through them."""


class System(Protocol):
    """Turns what is published into episodes and facts. Who looks at a server that is out gets `Unavailable`."""

    name: str

    def start(self, crew: Crew) -> None:
        """Get everybody to work who has to, with `PROCESSES` that run handlers."""
        ...

    def start_forking(self, crew: Crew) -> None:
        """The same, with processes that fork for each job."""
        ...

    def through(self, container: Container) -> tuple[int, int]:
        """How many deliveries are through with each of `WORKERS`, be they handled or lost."""
        ...

    def running(self, container: Container) -> set[tuple[str, bytes]]:
        """What is being handled, each under a name that it keeps until it is through."""
        ...

    def is_at_rest(self, container: Container) -> bool:
        """Whether nothing would follow any more if nothing else were published. To be asked again and again."""
        ...

    def keep_house(self, container: Container) -> int:
        """Do now what the system does only long after a fault; how much was found stuck, which may go on then."""
        ...

    def dead(self, container: Container) -> dict[str, str]:
        """The sessions that were given up, as the system says itself, each with the reason."""
        ...

    def accounts(self, container: Container) -> Mapping[str, GroupCounters]: ...


class Nous:
    """The product: work passes through the workers in one direction, and whatever is not through is pending."""

    name = "nous"

    def start(self, crew: Crew) -> None:
        for _ in range(PROCESSES):
            crew.start()

    def start_forking(self, crew: Crew) -> None:
        crew.start("desks")
        for _ in range(PROCESSES):
            crew.start("forks")

    def through(self, container: Container) -> tuple[int, int]:
        accounts = [container.delivery_stats.counters(container.subscription(each)) for each in WORKERS]
        first, second = (account.received - account.in_flight for account in accounts)
        return first, second

    def running(self, container: Container) -> set[tuple[str, bytes]]:
        keys, found = BusKeys(container.settings.prefix), set[tuple[str, bytes]]()
        with translated():
            for name in WORKERS:
                client: Any = container.client
                progress = client.hgetall(keys.progress(name))
                found |= {(name, each) for each, state in progress.items() if b'"state":"running"' in state}
        return found

    def is_at_rest(self, container: Container) -> bool:
        return not any(
            backlog.pending or backlog.waiting
            for name in WORKERS
            for backlog in container.delivery_stats.backlogs(container.subscription(name))
        )

    def keep_house(self, container: Container) -> int:
        """Nothing: the sweepers have done it."""
        del container
        return 0

    def dead(self, container: Container) -> dict[str, str]:
        return {letter.session_id or letter.id: letter.reason for letter in container.dead_letters.letters(limit=10**6)}

    def accounts(self, container: Container) -> Mapping[str, GroupCounters]:
        return {each.group: container.delivery_stats.counters(each) for each in container.subscriptions}
