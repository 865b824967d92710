"""Build the names of the bus's Redis keys; `keys.md` has their types, lives and content."""

from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from nous.bus.base import Priority
from nous.domain.scope import Scope

CONSUMER = "nous"
"""One consumer name for all processes: deliveries belong to the group, and XGROUP DELCONSUMER would drop them."""

_STREAM_OF_PRIORITY = {Priority.LIVE: "events", Priority.BULK: "bulk"}


@dataclass(frozen=True, slots=True)
class BusKeys:
    prefix: str = "nous"

    def stream(self, type_: str, priority: Priority) -> str:
        return f"{self.prefix}:{_STREAM_OF_PRIORITY[priority]}:{type_}"

    def aside(self, stream: str, name: str) -> str:
        return f"{self.prefix}:aside:{stream.removeprefix(f'{self.prefix}:')}:{name}"

    def marker(self, event_id: UUID) -> str:
        return f"{self.prefix}:marker:{event_id}"

    def skipped(self, group: str, event_id: UUID | str) -> str:
        return f"{self.prefix}:skipped:{group}:{event_id}"

    def leases(self, group: str) -> str:
        return f"{self.prefix}:leases:{group}"

    def progress(self, group: str) -> str:
        return f"{self.prefix}:progress:{group}"

    def counters(self, group: str) -> str:
        return f"{self.prefix}:account:{group}"

    def of_group(self, group: str) -> tuple[str, str, str]:
        return self.leases(group), self.progress(group), self.counters(group)

    def forgotten(self, scope: Scope) -> str:
        return f"{self.prefix}:forgotten:{quote(str(scope), safe='/')}"

    @property
    def letters(self) -> str:
        return f"{self.prefix}:dead"
