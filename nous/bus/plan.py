"""What a commit asks of Redis, as data: first what has to hold, then what to do.

A store turns each `Write` of a handler's effects into a plan; the bus joins the plans of one delivery and hands them to
one script, which looks at every check before it runs the first command.
"""

from dataclasses import dataclass

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
