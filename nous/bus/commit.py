"""A commit as the script `commit.lua` is told of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nous.bus.base import Committed, Duplicate, Lane, Refused, Verdict
from nous.bus.keys import BusKeys
from nous.bus.plan import Argument, Check, Command, Plan
from nous.codec import encode as encode_event
from nous.events import Event


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
