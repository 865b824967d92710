"""Map a provider's HTTP errors to model exceptions; messages omit the question and the key."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import NamedTuple

import orjson

from nous.domain.errors import NousError
from nous.llm.base import Failure, ModelMisconfigured, ModelQuota, ModelRefused, ModelTimeout, ModelUnreachable
from nous.llm.provider import Endpoint, StructureRefused

Asked = Sequence[str]
"""The texts sent to a provider, which its messages may quote."""

LONGEST_SAID = 300  # the most characters of a provider's own message that are passed on
LONGEST_PAUSE = timedelta(days=1)  # the longest pause that a provider can ask for
_SHORTEST_ECHO = 20  # characters in a row that a message shares with the question before it counts as quoting it
_PASSING = frozenset({408, 409, 425, 529})
# Statuses that answer every question until the key, name or address is changed.
_CLOSED = frozenset({*range(300, 400), 401, 402, 403, 404})
# OpenAI's code for an account without credit; the status is the same as for a rate limit.
_NO_CREDIT = b"insufficient_quota"
_UNSTRUCTURED = frozenset({400, 422, 501})  # statuses from servers that do not support structured output

_ADVICE: Mapping[int, str] = {
    401: "set {key} to a key that it knows",
    402: "its account has no credit left",
    403: "set {key} to a key that may use this model",
    404: "check the model's name and {url}",
    413: "the question is too long for it",
    429: "it has had enough for now, or the account's quota is used up",
}


class Refusal(NamedTuple):
    """An HTTP error response: its status, its headers by lower-case name, and its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def refused(refusal: Refusal, endpoint: Endpoint, asked: Asked, *, structured: bool, now: datetime) -> NousError:
    """Return the error for *refusal*; *structured* if the request asked for structured output."""
    status = refusal.status
    message = _message(refusal, endpoint, asked)
    if structured and status in _UNSTRUCTURED:
        return StructureRefused(message)
    is_asking_for_time = status in (429, 503) and not _is_spent(refusal.body)
    until = resumption(refusal.headers, now) if is_asking_for_time else None
    if until:
        return ModelQuota(message, until=until)
    if status in _CLOSED or _is_spent(refusal.body):
        return ModelMisconfigured(message)
    if status == 429:
        return ModelUnreachable(message, failure=Failure.QUOTA)
    return ModelUnreachable(message) if status >= 500 or status in _PASSING else ModelRefused(message)


def timed_out(endpoint: Endpoint) -> ModelTimeout:
    return ModelTimeout(f"{endpoint} did not answer within {endpoint.deadline:g} s")


def unreachable(endpoint: Endpoint, asked: Asked, why: BaseException | str | None) -> ModelUnreachable:
    """Return the error for a connection that failed or broke, or brought no valid answer: *why*."""
    said = passed_on(str(why) or type(why).__name__, endpoint, asked)
    return ModelUnreachable(f"{endpoint} gave no answer: {said}; is it running, and is {endpoint.url_setting} right?")


def resumption(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the retry time in *headers*, in seconds or as a date; None if there is none."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        return _date(text, now)
    return now + timedelta(seconds=_bounded(seconds)) if isfinite(seconds) else None


def passed_on(said: str, endpoint: Endpoint, asked: Asked) -> str:
    """Return a provider's message on one short line, without the key and any text sent to it."""
    keyless = said.replace(endpoint.api_key, "[key]") if endpoint.api_key else said
    line = " ".join("".join(c if c.isprintable() else " " for c in keyless[: 4 * LONGEST_SAID]).split())
    if _repeats(line, asked):
        return "(its message repeats the question)"
    return line if len(line) <= LONGEST_SAID else f"{line[: LONGEST_SAID - 1]}…"


def _message(refusal: Refusal, endpoint: Endpoint, asked: Asked) -> str:
    said = passed_on(_said(refusal.body), endpoint, asked)
    advice = _ADVICE.get(refusal.status, "").format(key=endpoint.key_setting, url=endpoint.url_setting)
    return f"{endpoint} answered {refusal.status}{f': {said}' if said else ''}{f'; {advice}' if advice else ''}"


def _is_spent(body: bytes) -> bool:
    return _NO_CREDIT in body[:4096]


def _said(body: bytes) -> str:
    """Return the message in an error body: JSON in one of its usual forms, or plain text."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        text = body[: 16 * LONGEST_SAID].decode("utf-8", "replace")
        return "" if text.lstrip().startswith("<") else text
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and name in found:
            found = found[name]
    return found if isinstance(found, str) else ""


def _repeats(line: str, asked: Asked) -> bool:
    """Return whether *line* quotes a text that was sent, whole or in a run of characters."""
    texts = [" ".join(text.split()) for text in asked]
    sent = "\n".join(texts)
    runs = (line[start : start + _SHORTEST_ECHO] for start in range(len(line) - _SHORTEST_ECHO + 1))
    return any(len(text) > 3 and text in line for text in texts) or any(run in sent for run in runs)


def _date(text: str, now: datetime) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return now + timedelta(seconds=_bounded((date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()))


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0), LONGEST_PAUSE.total_seconds())
