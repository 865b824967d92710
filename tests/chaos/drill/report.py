"""Report of a drill: final state of stores, streams and counters, and the table that shows it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaos.drill.producer import SCOPES
from chaos.drill.stage import LEASE, SWEEP, Size, Stage

from nous.app.container import Container
from nous.bus.accounting import GroupCounters
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.event_codec import decode
from nous.domain.events import EpisodeSummarized, Event, FactLearned
from nous.domain.fact import Confirmed, Learned
from nous.knowledge.normalize import exact_form


@dataclass(frozen=True, kw_only=True)
class Report:
    """Stores and streams say what is; accounts say what the bus believes; runs, what handlers were begun."""

    confirmed: frozenset[str]
    durable: frozenset[str]
    episodes: Counter[str]
    summaries: Counter[str]
    promised: int
    taught: Counter[tuple[str, str]]
    learned: Counter[str]
    announced: Counter[str]
    runs: Counter[tuple[str, str]]
    dead: dict[str, str]
    accounts: dict[str, GroupCounters]
    deaths: int
    expected_dead: frozenset[str]
    may_be_lost: frozenset[str]

    @property
    def gone(self) -> set[str]:
        """Sessions that the server had taken, and which have no episode or no summary."""
        return {each for each in self.confirmed if not self.episodes[each] or not self.summaries[each]}

    @property
    def cut_off(self) -> set[str]:
        """Those of them that may be gone: nothing said that they were on the disk, and it has lost them."""
        return self.gone & (self.may_be_lost - self.durable)

    @property
    def lost(self) -> set[str]:
        """Those of them that may not be gone."""
        return self.gone - self.cut_off

    @property
    def lost_facts(self) -> int:
        """Candidate facts that nothing came of."""
        return self.promised - len(self.taught)

    @property
    def missing(self) -> int:
        """Sessions, facts and announcements that are not there, of those that have to be."""
        return len(self.lost) + self.lost_facts + len(self.unsaid)

    @property
    def unsaid(self) -> set[str]:
        """Facts that were learned and never announced."""
        return set(self.learned) - set(self.announced)

    @property
    def doubled(self) -> int:
        """Effects that were committed more than once."""
        counters = (self.episodes, self.summaries, self.taught, self.learned, self.announced)
        return sum(count - 1 for counter in counters for count in counter.values())

    @property
    def run_twice(self) -> int:
        """Runs of handlers beyond the first for the same event."""
        return sum(count - 1 for count in self.runs.values())

    @property
    def bystanders(self) -> dict[str, str]:
        """Sessions that are dead letters and should not be, and why they are."""
        return {session: reason for session, reason in self.dead.items() if session not in self.expected_dead}

    @property
    def imbalance(self) -> int:
        return sum(abs(account.discrepancy) for account in self.accounts.values())


def report_of(stage: Stage, *, expected_dead: set[str], may_be_lost: set[str]) -> Report:
    container = stage.container
    summaries = [event for event in _told(container, EpisodeSummarized) if isinstance(event, EpisodeSummarized)]
    rows = [row for scope in SCOPES for row in container.context.facts.read(scope).rows]
    episodes = [each for scope in SCOPES for each in container.context.episodes.recent(scope, limit=10**6)]
    learned = [row.fact for row in rows if isinstance(row, Learned)]
    said = [(fact.source, fact.text) for fact in learned]
    said += [(row.source, row.text) for row in rows if isinstance(row, Confirmed)]
    return Report(
        confirmed=frozenset(stage.producer.confirmed),
        durable=frozenset(stage.producer.durable),
        episodes=Counter(each.session_id for each in episodes),
        summaries=Counter(event.session_id for event in summaries),
        promised=sum(len(event.candidate_facts) for event in {event.id: event for event in summaries}.values()),
        taught=Counter((source.session_id, exact_form(text)) for source, text in said),
        learned=Counter(str(fact.id) for fact in learned),
        announced=Counter(
            str(event.fact_id) for event in _told(container, FactLearned) if isinstance(event, FactLearned)
        ),
        runs=_runs(stage.directory / "runs"),
        dead={each.session_id or each.id: each.reason for each in container.dead_letters.each()},
        accounts={each.group: container.delivery_stats.counters(each) for each in container.subscriptions},
        deaths=stage.crew.deaths,
        expected_dead=frozenset(expected_dead),
        may_be_lost=frozenset(may_be_lost),
    )


def _told(container: Container, kind: type[Event]) -> list[Event]:
    raw: Any = container.client.xrange(BusKeys(container.settings.prefix).stream(kind.type, Priority.LIVE))
    return [decode(fields[b"event"], type_hint=kind.type) for _, fields in raw if fields.get(b"event")]


def _runs(path: Path) -> Counter[tuple[str, str]]:
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter((worker, event) for worker, event in (line.split() for line in lines))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A drill that is over. *recoveries* are seconds from a fault, or its end, until all in flight is through."""

    kind: str
    size: Size
    report: Report
    recoveries: tuple[float, ...]
    seconds: float


_COLUMNS: Mapping[str, Callable[[Outcome], object]] = {
    "kind": lambda outcome: outcome.kind,
    "events": lambda outcome: outcome.size.events,
    "faults": lambda outcome: outcome.size.faults,
    "lost": lambda outcome: outcome.report.missing,
    "cut off": lambda outcome: len(outcome.report.cut_off),
    "doubled": lambda outcome: outcome.report.doubled,
    "run twice": lambda outcome: outcome.report.run_twice,
    "dead": lambda outcome: len(outcome.report.dead),
    "bystanders": lambda outcome: len(outcome.report.bystanders),
    "p50 s": lambda outcome: _recovery(outcome, 0.5),
    "max s": lambda outcome: _recovery(outcome, 1.0),
    "accounts": lambda outcome: f"off by {outcome.report.imbalance}" if outcome.report.imbalance else "exact",
    "took s": lambda outcome: f"{outcome.seconds:.0f}",
}


def _recovery(outcome: Outcome, share: float) -> str:
    """The seconds within which that share of faults had healed."""
    if not (times := outcome.recoveries):
        return "-"
    return f"{times[min(int(len(times) * share), len(times) - 1)]:.1f}"


def table(outcomes: Iterable[Outcome]) -> str:
    """A row for each drill."""
    rows = [tuple(_COLUMNS), *(tuple(str(show(outcome)) for show in _COLUMNS.values()) for outcome in outcomes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)
    return "\n".join([f"lease {LEASE:g} s, sweep every {SWEEP:g} s", *lines])
