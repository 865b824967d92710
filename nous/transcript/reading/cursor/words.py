"""The user's words in a prompt of Cursor, which puts them into `<user_query>` and much else around that."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_QUERY, _QUERY_END = "<user_query>", "</user_query>"
_TIME = re.compile(
    r"<timestamp>[ \n]?(?:[A-Za-z]{2,9},? )?(?P<month>[A-Z][a-z]{2})[a-z]{0,6} (?P<day>\d{1,2}), (?P<year>\d{4}),? "
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?(?:[ \u202f](?P<half>[AP]M))?"
    r"(?: \((?:UTC|GMT)(?:(?P<sign>[+-])(?P<hours>\d{1,2})(?::(?P<minutes>\d\d))?)?\))?[ \n]?</timestamp>"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TAG = re.compile(r"\s*<(?P<name>[a-z]+(?:_[a-z]+)+|timestamp|rules)(?: [^<>\n]*)?>")
_FOLDER = re.compile(r"^Workspace Path: (?P<path>[^\n]+)", re.MULTILINE)
_FIELD = re.compile(r"^(?P<name>kind|status|title|detail): ?(?P<value>[^\n]*)", re.MULTILINE)
_NOTIFIED = "<system_notification>"


class Notice(NamedTuple):
    """What Cursor tells the model in the user's place: a task of this *kind* has ended."""

    kind: str
    text: str


def words_in(text: str) -> str:
    """What the user typed, of a text in the user's place; "" where that is all Cursor's."""
    if _QUERY in text:
        return "\n\n".join(query for query in _queries(text) if query)
    return _without_context(text)


def time_in(text: str) -> datetime | None:
    """When the prompt was sent, if *text* says so."""
    found = _TIME.match(text, text.find("<timestamp>")) if "<timestamp>" in text else None
    if found is None or found["month"] not in _MONTHS:
        return None
    hour = int(found["hour"]) % 12 + 12 * (found["half"] == "PM") if found["half"] else int(found["hour"])
    east = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    day = _MONTHS.index(found["month"]) + 1, int(found["day"])
    try:
        there = datetime(int(found["year"]), *day, hour, int(found["minute"]), tzinfo=UTC)
        return there + east if found["sign"] == "-" else there - east
    except (ValueError, OverflowError):
        return None


def folder_in(text: str) -> str:
    """The folder that was open, if *text* says so."""
    found = _FOLDER.search(text) if "<user_info>" in text else None
    return found["path"].strip() if found else ""


def notice_in(text: str) -> Notice | None:
    """The task whose end *text* tells of, if it is a notification."""
    if _QUERY in text or not (text.partition("</timestamp>")[2] or text).lstrip().startswith(_NOTIFIED):
        return None
    fields = {found["name"]: found for found in reversed(list(_FIELD.finditer(text)))}
    kind = fields["kind"]["value"].strip() if "kind" in fields else ""
    title = fields["title"]["value"].strip() if "title" in fields else "a task"
    status = fields["status"]["value"].strip() if "status" in fields else "ended"
    detail = text[fields["detail"].start("value") :] if "detail" in fields else ""
    detail = detail.partition("\n</task>")[0].partition("\noutput_path:")[0].strip()
    return Notice(kind, f"{title} ({status})" + (f": {detail}" if detail else ""))


def _queries(text: str) -> Iterator[str]:
    start = text.find(_QUERY)
    while start >= 0:
        end = text.find(_QUERY_END, start)
        yield text[start + len(_QUERY) : end if end >= 0 else len(text)].strip()
        start = text.find(_QUERY, end) if end >= 0 else -1


def _without_context(text: str) -> str:
    """*text* without the elements that it begins with."""
    text = text.strip()
    start = 0
    while tag := _TAG.match(text, start):
        close = f"</{tag['name']}>"
        end = text.find(close, tag.end())
        if end < 0:
            break
        start = end + len(close)
    return text[start:].lstrip()
