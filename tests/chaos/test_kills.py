"""Workers and the server are killed while sessions become episodes and facts. Nothing may be lost, nothing doubled."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from nous.bus.base import Lane
from nous.bus.keys import BusKeys
from nous.bus.ledger import Account
from nous.codec import decode
from nous.errors import Unavailable
from nous.events import EpisodeSummarized
from nous.fact import Confirmed, Learned
from nous.learning.normalise import exact_form
from nous.scope import Scope
from nous.wiring import World

pytestmark = pytest.mark.chaos

BATCH = 10
FLEET = 3


@dataclass(frozen=True)
class Kill:
    """What dies when that many deliveries are through."""

    after: int
    victim: str


def planned(events: int, kills: int, chance: random.Random) -> list[Kill]:
    """*kills* moments, drawn over the deliveries of both workers; at the middle one the server dies too."""
    moments = sorted(chance.sample(range(events // 10, 2 * events - events // 10), kills))
    plan = [Kill(moment, "worker") for moment in moments]
    return sorted([*plan, Kill(moments[kills // 2], "server")], key=lambda kill: kill.after)


def conversation(number: int) -> str:
    port = 9000 + number
    return (
        f"User: Please always run service svc-{number} on port {port}, never on another one.\n\n"
        f"Assistant: Done. Service svc-{number} now runs on port {port}.\n\n"
        "User: Thanks, that is all I needed."
    )


def test_nothing_is_lost_and_nothing_doubled_while_workers_and_the_server_are_killed(
    world: World, fleet: Any, size: Any, ended: Any, wait_until: Any, kill_server: Callable[[], None]
) -> None:
    chance = random.Random(size.seed)
    plan = planned(size.events, size.kills, chance)
    for _ in range(FLEET):
        fleet.start()
    events = [ended(f"session-{number}", conversation(number)) for number in range(size.events)]

    for batch in (events[i : i + BATCH] for i in range(0, len(events), BATCH)):
        world.bus.publish(*batch)
        while plan and through(world) >= plan[0].after:
            strike(plan.pop(0), fleet, chance, kill_server)
    for kill in plan:
        wait_until(lambda kill=kill: through(world) >= kill.after, f"{kill.after} deliveries", seconds=300)
        strike(kill, fleet, chance, kill_server)
    wait_until(lambda: is_at_rest(world, size.events), "everything to come to rest", seconds=300)

    report = Report.of(world)
    print(f"\n{size}\n{report}")
    assert report.lost(size.events) == 0
    assert report.doubled == 0
    assert report.dead == 0
    assert all(account.balance == 0 for account in report.accounts.values())


def strike(kill: Kill, fleet: Any, chance: random.Random, kill_server: Callable[[], None]) -> None:
    if kill.victim == "server":
        kill_server()
    else:
        fleet.kill_one(chance)


def through(world: World) -> int:
    """Deliveries that are no longer anybody's work; none that we know of while the server loads what it had."""
    try:
        accounts = [world.ledger.account(each) for each in world.subscriptions]
    except Unavailable:
        return 0
    return sum(account.received - account.in_flight for account in accounts)


def is_at_rest(world: World, events: int) -> bool:
    try:
        accounts = {each.group: world.ledger.account(each) for each in world.subscriptions}
        backlogs = [backlog for each in world.subscriptions for backlog in world.ledger.backlogs(each)]
    except Unavailable:
        return False
    return (
        accounts["episode-summarizer"].received >= events
        and not any(account.in_flight for account in accounts.values())
        and not any(backlog.waiting for backlog in backlogs)
    )


@dataclass(frozen=True)
class Report:
    """What the stores and streams say at the end; accounts say what the bus believes."""

    accounts: dict[str, Account]
    episodes: int
    summaries: Counter[str]
    taught: Counter[tuple[str, str]]
    promised: int
    learned: Counter[str]
    jobs: int

    @classmethod
    def of(cls, world: World) -> "Report":
        stream = BusKeys(world.settings.prefix).stream(EpisodeSummarized.type, Lane.LIVE)
        raw: Any = world.client.xrange(stream)
        events = [decode(fields[b"event"], type_hint=EpisodeSummarized.type) for _, fields in raw]
        summaries = [event for event in events if isinstance(event, EpisodeSummarized)]
        rows = world.kit.facts.read(Scope()).rows
        learned = [row.fact for row in rows if isinstance(row, Learned)]
        said = [(fact.source, fact.text) for fact in learned]
        said += [(row.source, row.text) for row in rows if isinstance(row, Confirmed)]
        return cls(
            accounts={each.group: world.ledger.account(each) for each in world.subscriptions},
            episodes=len(world.kit.episodes.recent(Scope(), limit=10**6)),
            summaries=Counter(event.session_id for event in summaries),
            taught=Counter((source.session_id, exact_form(text)) for source, text in said),
            promised=sum(len(event.candidate_facts) for event in summaries),
            learned=Counter(str(fact.id) for fact in learned),
            jobs=sum(1 for _ in world.client.scan_iter("rq:job:*", count=1000)),
        )

    def lost(self, events: int) -> int:
        """Sessions without an episode or a summary, and candidate facts that nothing came of."""
        return (events - self.episodes) + (events - len(self.summaries)) + (self.promised - len(self.taught))

    @property
    def doubled(self) -> int:
        """Effects that were committed more than once."""
        counters = (self.summaries, self.taught, self.learned)
        return sum(count - 1 for counter in counters for count in counter.values())

    @property
    def dead(self) -> int:
        return sum(account.dead for account in self.accounts.values())

    def __str__(self) -> str:
        return "\n".join(
            [
                *(f"{name}: {account}" for name, account in self.accounts.items()),
                f"episodes {self.episodes}, summaries {self.summaries.total()}, jobs {self.jobs}",
                f"candidate facts {self.promised}, taught {self.taught.total()}, facts {len(self.learned)}",
            ]
        )
