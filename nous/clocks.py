"""Clocks of others, which may go wrong."""

from datetime import UTC, datetime, timedelta

_SKEW = timedelta(days=1)
"""By how much clocks may differ."""


def is_ahead(moment: datetime, now: datetime) -> bool:
    """Whether *moment* is further in the future than clocks differ: it would be the latest word until then."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) > now + _SKEW


def not_ahead(moment: datetime, now: datetime) -> datetime:
    """*moment*, or *now* where a clock that ran ahead has told it."""
    return now if is_ahead(moment, now) else moment
