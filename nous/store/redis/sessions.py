"""Read session states and anchored summaries from Redis.

A stored session state begins with the id of the event that caused it. This part has a fixed length, so a commit can
compare it without decoding the rest, which another release may have written.
"""

from collections.abc import Sequence
from datetime import datetime

from nous.domain.anchored_summary import AnchoredSummary, StoredAnchoredSummary
from nous.domain.errors import Misconfigured
from nous.domain.record_codec import decode
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState, SessionStatus
from nous.store.keys import anchor_name, member_named
from nous.store.redis import StorePart

STATE_HEAD = 36  # characters of the event id before a stored session state


def unpacked(stored: bytes) -> SessionState:
    """Decode a session state. Raises `Misconfigured` if this release cannot read it."""
    return decode(SessionState, stored[STATE_HEAD:])


class RedisSessionStates(StorePart):
    def session_state(self, scope: Scope, session_id: str) -> SessionState | None:
        stored: bytes | None = self._ask("GET", self._keys.session_state(scope, session_id))
        return None if stored is None else unpacked(stored)

    def sessions(
        self, stage: SessionStatus, *, before: datetime | None = None, limit: int = 100
    ) -> Sequence[tuple[Scope, str]]:
        until = f"({before.timestamp()!r}" if before else "+inf"
        names = self._ask("ZRANGEBYSCORE", self._keys.sessions_at(stage), "-inf", until, "LIMIT", 0, limit)
        return [member_named(name) for name in names]


class RedisAnchoredSummaries(StorePart):
    def anchored_summary(self, scope: Scope, *, agent_id: str, session_id: str) -> StoredAnchoredSummary | None:
        stored = self._ask("HGET", self._keys.anchors(scope), anchor_name(agent_id, session_id))
        return None if stored is None else _read(stored)

    def of_scope(self, scope: Scope) -> Sequence[StoredAnchoredSummary]:
        stored: list[bytes] = self._ask("HVALS", self._keys.anchors(scope))
        return sorted(map(_read, stored), key=lambda found: found.at, reverse=True)


def _read(stored: bytes) -> StoredAnchoredSummary:
    found = decode(StoredAnchoredSummary, stored)
    if found.summary.schema_version != AnchoredSummary.SCHEMA_VERSION:
        raise Misconfigured(f"the anchored summary of session {found.session_id!r} needs another release of nous")
    return found
