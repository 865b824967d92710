"""Times as session files write them."""

from datetime import UTC, datetime

_LAST_SECOND_COUNT = 100_000_000_000
"""Numbers above are milliseconds: as seconds they would be after the year 5000."""


def parse_time(value: object) -> datetime | None:
    """ISO 8601 text (any number of fraction digits; without a zone it is UTC) or epoch seconds or milliseconds, in UTC.

    None for whatever is neither.
    """
    try:
        if isinstance(value, str):
            return _in_utc(datetime.fromisoformat(value))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _LAST_SECOND_COUNT else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _in_utc(time: datetime) -> datetime:
    if time.tzinfo is UTC:
        return time
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
