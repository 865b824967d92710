"""How far sessions have come, as it is stored: the event that brought them there, then the rest as JSON.

The first part has a fixed length, so that a commit can look whether it is still the same, whichever release wrote it.
"""

from collections.abc import Iterator
from uuid import UUID

from nous.bus.plan import Check, Command, Plan
from nous.course import UNFINISHED, Course, Stage
from nous.effects import NoteCourse
from nous.store.keys import StoreKeys, session_name
from nous.store.records import decode, encode

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
