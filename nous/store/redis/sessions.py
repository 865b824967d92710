"""How far sessions have come, in Redis. How it is written stands in `nous.store.redis.sessions`.

The first part has a fixed length, so that a commit can look whether it is still the same, whichever release wrote it.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

import redis

from nous.bus.redis.commit import Check, Command, Plan
from nous.domain.anchored_summary import Anchor, AnchoredSummary
from nous.domain.effects import NoteCourse
from nous.domain.errors import Misconfigured
from nous.domain.record_codec import decode, encode
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED, Course, Stage
from nous.redis_support.errors import translated
from nous.store.keys import StoreKeys, anchor_name, session_name, session_named

REMEMBERED = 30 * 86400
"""Seconds for which it is known that a session has ended, or was given up."""

_UUID = 36


def course_plan(write: NoteCourse, keys: StoreKeys) -> Plan:
    """What a commit has to check and do for *write*."""
    course = write.course
    key, lasts = keys.course(course.scope, course.session_id), course.stage in {Stage.OPEN, Stage.CLOSING}
    life = () if lasts else ("EX", REMEMBERED)
    return Plan(
        checks=(is_still_at(write.replaces.by if write.replaces else None, key),),
        commands=(Command("SET", key, (_packed(course), *life)), *_listed(course, keys)),
    )


def is_still_at(by: UUID | None, key: str) -> Check:
    """That the session of *key* is where the event *by* has brought it (None: that nothing is known of it)."""
    return Check("GETRANGE", key, (0, _UUID - 1), str(by or ""))


def unpacked(stored: bytes) -> Course:
    """Read a course. Raises `Misconfigured` if it is none that this release can read."""
    return decode(Course, stored[_UUID:])


def _packed(course: Course) -> bytes:
    return str(course.by).encode() + encode(course)


def _listed(course: Course, keys: StoreKeys) -> Iterator[Command]:
    """List it where it belongs, and nowhere else."""
    name, since = session_name(course.scope, course.session_id), course.since
    for stage in UNFINISHED:
        if stage is course.stage and since:
            yield Command("ZADD", keys.sessions_at(stage), (since.timestamp(), name))
        else:
            yield Command("ZREM", keys.sessions_at(stage), (name,))
    if course.stage is Stage.ABANDONED and since:
        abandoned = keys.sessions_at(Stage.ABANDONED)
        yield Command("ZREMRANGEBYSCORE", abandoned, ("-inf", since.timestamp() - REMEMBERED))
        yield Command("EXPIRE", abandoned, (REMEMBERED,))


class RedisCourses:
    """`Courses` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client: Any = client  # narrowed where its answers enter
        self._keys = keys

    def course(self, scope: Scope, session_id: str) -> Course | None:
        """Raises `Misconfigured` where another release has written what this one cannot read."""
        with translated():
            stored: bytes | None = self._client.get(self._keys.course(scope, session_id))
        return None if stored is None else unpacked(stored)

    def sessions(
        self, stage: Stage, *, before: datetime | None = None, limit: int = 100, skip: int = 0
    ) -> Sequence[tuple[Scope, str]]:
        until = f"({before.timestamp()!r}" if before else "+inf"
        while True:
            with translated():
                names: list[bytes] = self._client.zrangebyscore(
                    self._keys.sessions_at(stage), "-inf", until, start=skip, num=limit
                )
            found = [place for name in names if (place := session_named(name))]
            if found or len(names) < max(limit, 1):
                return found
            # Of a page with nothing but names that others have written nobody may take that it is the end.
            skip += limit


class RedisAnchors:
    """`Anchors` on one Redis primary. *client* must not decode responses."""

    def __init__(self, client: redis.Redis, keys: StoreKeys) -> None:
        self._client = client
        self._keys = keys

    def anchor(self, scope: Scope, *, agent_id: str, session_id: str) -> Anchor | None:
        """The anchor that is stored.

        Raises:
            Misconfigured: its summary has another schema version than this release's.
        """
        with translated():
            stored = self._client.hget(self._keys.anchors(scope), anchor_name(agent_id, session_id))
        return _read(stored) if isinstance(stored, bytes) else None

    def latest(self, scope: Scope) -> Anchor | None:
        """The anchor that was made last; every one of the scope is read for it.

        Raises:
            Misconfigured: as `anchor` does.
        """
        with translated():
            stored = cast("list[bytes]", self._client.hvals(self._keys.anchors(scope)))
        return max(map(_read, stored), key=lambda found: found.at, default=None)


def _read(stored: bytes) -> Anchor:
    found = decode(Anchor, stored)
    if found.summary.schema_version != AnchoredSummary.SCHEMA_VERSION:
        raise Misconfigured(f"the anchored summary of session {found.session_id!r} needs another release of nous")
    return found
