"""Decisions in the order in which they were made."""

from collections.abc import Iterable
from datetime import UTC, datetime

from nous.episode import Decision

_LAST = datetime.max.replace(tzinfo=UTC)


def in_order(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """*decisions* by their time; those that have none are last, in the order of their words."""
    return tuple(sorted(decisions, key=lambda each: (each.at or _LAST, each.description)))
