"""Read session states and anchored summaries from Redis; build the commit plan of a state.

A stored session state begins with the id of the event that caused it. This part has a fixed length, so a commit can
compare it without decoding the rest, which another release may have written.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from nous.bus.redis.commit import CommitPlan, Precondition, RedisCommand
from nous.domain.anchored_summary import AnchoredSummary, StoredAnchoredSummary
from nous.domain.effects import SaveSessionState
from nous.domain.errors import Misconfigured
from nous.domain.record_codec import decode, encode
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED, SessionState, SessionStatus
from nous.store.keys import StoreKeys, anchor_name, member_name, member_named
from nous.store.redis import StorePart

REMEMBERED = 30 * 86400
"""TTL in seconds of the state of a session that has ended or was abandoned."""

_UUID = 36


def session_state_plan(write: SaveSessionState, keys: StoreKeys) -> CommitPlan:
    """Return the preconditions and commands of *write*."""
    session_state = write.session_state
    key = keys.session_state(session_state.scope, session_state.session_id)
    packed = str(session_state.by).encode() + encode(session_state)
    life = () if session_state.status in {SessionStatus.OPEN, SessionStatus.CLOSING} else ("EX", REMEMBERED)
    return CommitPlan(
        preconditions=(is_still_at(write.replaces.by if write.replaces else None, key),),
        commands=(RedisCommand("SET", key, (packed, *life)), *_listed(session_state, keys)),
    )


def is_still_at(by: UUID | None, key: str) -> Precondition:
    """Return the precondition that event *by* caused the state under *key* (None: no state)."""
    return Precondition("GETRANGE", key, (0, _UUID - 1), str(by or ""))


def unpacked(stored: bytes) -> SessionState:
    """Decode a session state. Raises `Misconfigured` if this release cannot read it."""
    return decode(SessionState, stored[_UUID:])


def _listed(session_state: SessionState, keys: StoreKeys) -> Iterator[RedisCommand]:
    """Yield the commands that list the session under its status, and under no other."""
    name, since = member_name(session_state.scope, session_state.session_id), session_state.since
    for stage in UNFINISHED:
        if stage is session_state.status and since:
            yield RedisCommand("ZADD", keys.sessions_at(stage), (since.timestamp(), name))
        else:
            yield RedisCommand("ZREM", keys.sessions_at(stage), (name,))
    if session_state.status is SessionStatus.ABANDONED and since:
        abandoned = keys.sessions_at(SessionStatus.ABANDONED)
        yield RedisCommand("ZREMRANGEBYSCORE", abandoned, ("-inf", since.timestamp() - REMEMBERED))
        yield RedisCommand("EXPIRE", abandoned, (REMEMBERED,))


class RedisSessionStates(StorePart):
    """`SessionStates` on one Redis primary."""

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
    """`AnchoredSummaries` on one Redis primary."""

    def anchored_summary(self, scope: Scope, *, agent_id: str, session_id: str) -> StoredAnchoredSummary | None:
        stored = self._ask("HGET", self._keys.anchors(scope), anchor_name(agent_id, session_id))
        return None if stored is None else _read(stored)

    def latest(self, scope: Scope) -> StoredAnchoredSummary | None:
        stored: list[bytes] = self._ask("HVALS", self._keys.anchors(scope))
        return max(map(_read, stored), key=lambda found: found.at, default=None)


def _read(stored: bytes) -> StoredAnchoredSummary:
    found = decode(StoredAnchoredSummary, stored)
    if found.summary.schema_version != AnchoredSummary.SCHEMA_VERSION:
        raise Misconfigured(f"the anchored summary of session {found.session_id!r} needs another release of nous")
    return found
