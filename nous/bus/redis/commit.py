"""Commit plan (preconditions and commands): encode it for `commit.lua`, parse the reply.

A store turns each `Write` of a handler's effects into a plan. The bus joins the plans of one delivery and passes them
to one script, which checks every precondition before it runs the first command.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nous.bus.base import Committed, Conflict, Duplicate, Priority, Verdict
from nous.bus.redis.keys import BusKeys
from nous.domain.event_codec import encode as encode_event
from nous.domain.events import Event

Argument = bytes | str | int | float


@dataclass(frozen=True, slots=True)
class Precondition:
    """`command key *arguments` has to return *expected*; an empty text stands for no value."""

    command: str
    key: str
    arguments: tuple[Argument, ...]
    expected: Argument


@dataclass(frozen=True, slots=True)
class RedisCommand:
    """`command key *arguments`; idempotent once the preconditions have held."""

    command: str
    key: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """Preconditions and commands of a commit, each in order.

    The commit first waits until the keys *waits_for*, which have a TTL, are gone. That wait is best effort and limited
    in time: it lets erasures proceed that would be starved otherwise. Correctness rests on the preconditions alone.
    """

    preconditions: tuple[Precondition, ...] = ()
    commands: tuple[RedisCommand, ...] = ()
    waits_for: tuple[str, ...] = ()

    def __add__(self, other: "CommitPlan") -> "CommitPlan":
        return CommitPlan(
            self.preconditions + other.preconditions, self.commands + other.commands, self.waits_for + other.waits_for
        )


def encode(
    plan: CommitPlan, events: Sequence[Event], *, keys: BusKeys, priority: Priority, first_key: int
) -> tuple[list[str], list[Argument]]:
    """Encode *plan* and *events* as keys, and as arguments that number these from *first_key*."""
    numbers: dict[str, int] = {}

    def number(key: str) -> int:
        return numbers.setdefault(key, first_key + len(numbers))

    def spelled(call: Precondition | RedisCommand) -> Iterator[Argument]:
        yield from (number(call.key), call.command, len(call.arguments), *call.arguments)
        if isinstance(call, Precondition):
            yield call.expected

    arguments: list[Argument] = []
    for calls in (plan.preconditions, plan.commands):
        arguments.append(len(calls))
        for call in calls:
            arguments.extend(spelled(call))
    arguments.append(len(events))
    for event in events:
        stream, marker = number(keys.stream(event.type, priority)), number(keys.marker(event.id))
        arguments.extend((stream, marker, encode_event(event), priority.value))
    return list(numbers), arguments


def verdict_of(reply: str) -> Verdict:
    match reply.partition(": "):
        case ("committed", _, _):
            return Committed()
        case ("duplicate", _, _):
            return Duplicate()
        case (_, _, reason):
            return Conflict(reason)
