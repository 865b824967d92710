"""A commit as the script `commit.lua` is told of it.

A store turns each `Write` of a handler's effects into a plan; the bus joins the plans of one delivery and hands them to
one script, which looks at every check before it runs the first command.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nous.bus.base import Committed, Duplicate, Lane, Refused, Verdict
from nous.bus.redis.keys import BusKeys
from nous.domain.event_codec import encode as encode_event
from nous.domain.events import Event

Argument = bytes | str | int | float


@dataclass(frozen=True, slots=True)
class Check:
    """`command key *arguments` has to answer *expected*; an empty text stands for no value."""

    command: str
    key: str
    arguments: tuple[Argument, ...]
    expected: Argument


@dataclass(frozen=True, slots=True)
class Command:
    """`command key *arguments`, one that may be run again without harm once its checks have held."""

    command: str
    key: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Checks, then commands; both in order, and not before the keys that it *waits_for* are gone, which have a TTL.

    Waiting is a courtesy, and comes to an end: it spares those who could not go on otherwise. What must not happen is a
    matter for checks.
    """

    checks: tuple[Check, ...] = ()
    commands: tuple[Command, ...] = ()
    waits_for: tuple[str, ...] = ()

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(self.checks + other.checks, self.commands + other.commands, self.waits_for + other.waits_for)


@dataclass(frozen=True, slots=True)
class Call:
    """Keys, and arguments that speak of them by number."""

    keys: tuple[str, ...]
    arguments: tuple[Argument, ...]


def encode(plan: Plan, events: Sequence[Event], *, keys: BusKeys, lane: Lane, first_key: int) -> Call:
    """Spell out *plan* and the *events* that follow; the script counts keys from *first_key*."""
    numbers: dict[str, int] = {}

    def number(key: str) -> int:
        return numbers.setdefault(key, first_key + len(numbers))

    def spelled(call: Check | Command) -> Iterator[Argument]:
        yield from (number(call.key), call.command, len(call.arguments), *call.arguments)
        if isinstance(call, Check):
            yield call.expected

    arguments: list[Argument] = []
    for calls in (plan.checks, plan.commands):
        arguments.append(len(calls))
        for call in calls:
            arguments.extend(spelled(call))
    arguments.append(len(events))
    for event in events:
        stream, marker = number(keys.stream(event.type, lane)), number(keys.marker(event.id))
        arguments.extend((stream, marker, encode_event(event), lane.value))
    return Call(tuple(numbers), tuple(arguments))


def verdict_of(reply: str) -> Verdict:
    """Read the script's answer."""
    match reply.partition(": "):
        case ("committed", _, _):
            return Committed()
        case ("duplicate", _, _):
            return Duplicate()
        case (_, _, reason):
            return Refused(reason)
