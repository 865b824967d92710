"""The keys that the bus owns. `<p>` is the configured prefix; *kept* means without a TTL.

| key                            | type   | life       | holds                                                         |
|--------------------------------|--------|------------|---------------------------------------------------------------|
| <p>:events:<type>              | stream | kept       | the ledger: live events, one field `event`, until they are    |
|                                |        |            | trimmed (see `nous.bus.accounting`)                           |
| <p>:bulk:<type>                | stream | kept       | the same for backfill, read after what is live                |
| <p>:marker:<event id>          | string | marker_ttl | "lane/entry": where a published event stands                  |
| <p>:skipped:<group>:<event id> | string | marker_ttl | why a group skipped an event                                  |
| <p>:leases:<group>             | zset   | kept       | pending deliveries by the time their lease ends; empty at rest|
| <p>:longest-lease:<group>      | string | an hour    | seconds: the longest that any process of the group told       |
| <p>:progress:<group>           | hash   | kept       | pending deliveries and how far they came, and what is not to  |
|                                |        |            | be offered, since another told it; empty at rest              |
| <p>:progress:<group>:<delivery>| list   | a week     | what went wrong with one that is pending, the last few lines  |
| <p>:account:<group>            | hash   | kept       | received, done, skipped:<reason>, dead, erased, parked        |
| <p>:dead                       | stream | kept       | letters: what was set aside and why, with what went wrong at  |
|                                |        |            | each attempt, until redriven or dropped                       |
| <p>:dead:<letter>              | string | an hour    | which call has redriven or dropped a letter                   |
| <p>:forgotten:<scope>          | hash   | kept       | episode id, or mark of a fact -> when it was forgotten        |
| <p>:aside:<stream>:<name>      | stream | an hour    | a stream that is written anew, until it takes its place       |
"""

from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from nous.bus.base import Lane
from nous.domain.scope import Scope

_STREAM_OF_LANE = {Lane.LIVE: "events", Lane.BULK: "bulk"}


@dataclass(frozen=True, slots=True)
class BusKeys:
    """Names of keys under a prefix."""

    prefix: str = "nous"

    def stream(self, type_: str, lane: Lane) -> str:
        return f"{self.prefix}:{_STREAM_OF_LANE[lane]}:{type_}"

    def aside(self, stream: str, name: str) -> str:
        return f"{self.prefix}:aside:{stream.removeprefix(f'{self.prefix}:')}:{name}"

    def marker(self, event_id: UUID) -> str:
        return f"{self.prefix}:marker:{event_id}"

    def skipped(self, group: str, event_id: UUID) -> str:
        return f"{self.prefix}:skipped:{group}:{event_id}"

    def leases(self, group: str) -> str:
        return f"{self.prefix}:leases:{group}"

    def longest_lease(self, group: str) -> str:
        return f"{self.prefix}:longest-lease:{group}"

    def progress(self, group: str) -> str:
        return f"{self.prefix}:progress:{group}"

    def account(self, group: str) -> str:
        return f"{self.prefix}:account:{group}"

    def forgotten(self, scope: Scope) -> str:
        return f"{self.prefix}:forgotten:{quote(str(scope), safe='/')}"

    @property
    def letters(self) -> str:
        return f"{self.prefix}:dead"

    def taken(self, letter_id: str) -> str:
        return f"{self.letters}:{letter_id}"


def through(name: str) -> str:
    """The field of a group's progress which says that it will pass over the delivery *name* (see `prelude.lua`)."""
    return f"through {name}"
