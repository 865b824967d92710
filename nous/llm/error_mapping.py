"""What a provider's way of saying no means for the caller. Nothing of the question or the key gets into a message."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import NamedTuple

import orjson

from nous.domain.errors import NousError
from nous.llm.base import (
    Failure,
    ModelMisconfigured,
    ModelQuota,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    Question,
)
from nous.llm.provider import Endpoint, StructureRefused

Asked = Question | Sequence[str]
"""What a provider was told: a question, or texts to make vectors of."""

LONGEST_SAID = 300
"""Characters of a provider's own message that are passed on."""

LONGEST_PAUSE = timedelta(days=1)
"""However long a provider wants to be left alone, it is asked again after this."""

_SHORTEST_ECHO = 20
"""Characters in a row that a message has in common with the question before it counts as repeating it."""

_PASSING = frozenset({408, 409, 425, 529})
_CLOSED = frozenset({*range(300, 400), 401, 402, 403, 404})
"""What is answered to every question, until somebody has changed the key, the account, the name or the address."""

_NO_CREDIT = b"insufficient_quota"
"""What OpenAI calls an account without credit, with the same status as one that asks too often."""

_UNSTRUCTURED = frozenset({400, 422, 501})
"""What servers answer that do not know the means to hold an answer to a schema."""

_ADVICE: Mapping[int, str] = {
    401: "set {key} to a key that it knows",
    402: "its account has no credit left",
    403: "set {key} to a key that may use this model",
    404: "check the model's name and {url}",
    413: "the question is too long for it",
    429: "it has had enough for now, or the account's quota is used up",
}
_PARTS = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}


class Refusal(NamedTuple):
    """An answer of HTTP that is none: its status, its headers by lower-case name, and its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def refused(refusal: Refusal, endpoint: Endpoint, asked: Asked, *, structured: bool, now: datetime) -> NousError:
    """The error that *refusal* comes to, where the answer was to have a schema or another form (*structured*)."""
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
    """The connection was not made, or broke, or what came through it was no answer: *why*."""
    said = passed_on(str(why) or type(why).__name__, endpoint, asked)
    setting = endpoint.url_setting
    usual = f"{endpoint.base_url} was tried; set {setting} if it is elsewhere"
    advice = usual if endpoint.is_usual else f"is it running, and is {setting} right?"
    return ModelUnreachable(f"{endpoint} gave no answer: {said}; {advice}")


def resumption(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """When to come back, as *headers* say it in any of the usual ways; None if they do not."""
    ways = (
        _number(headers.get("retry-after-ms"), 0.001),
        _number(headers.get("retry-after")),
        _until(headers.get("retry-after"), now),
        _duration(headers.get("x-ratelimit-reset-requests")),
    )
    return next((now + wait for wait in ways if wait is not None), None)


def passed_on(said: str, endpoint: Endpoint, asked: Asked) -> str:
    """A provider's message on one line, not too long, without the key, and without anything that it was asked."""
    keyless = said.replace(endpoint.api_key, "[key]") if endpoint.api_key else said
    line = " ".join("".join(c if c.isprintable() else " " for c in keyless[: 4 * LONGEST_SAID]).split())
    if _repeats(line, asked):
        return "(its message repeats the question)"
    return line if len(line) <= LONGEST_SAID else f"{line[: LONGEST_SAID - 1]}…"


def _message(refusal: Refusal, endpoint: Endpoint, asked: Asked) -> str:
    said = passed_on(_said(refusal.body), endpoint, asked)
    url = endpoint.base_url if endpoint.is_usual else endpoint.url_setting
    advice = _ADVICE.get(refusal.status, "").format(key=endpoint.key_setting, url=url)
    return f"{endpoint} answered {refusal.status}{f': {said}' if said else ''}{f'; {advice}' if advice else ''}"


def _is_spent(body: bytes) -> bool:
    return _NO_CREDIT in body[:4096]


def _said(body: bytes) -> str:
    """The sentence in an error's body: JSON in one of its usual forms, or the body itself if it is a text."""
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
    whole, told = _told(asked) if isinstance(asked, Question) else ([text for text in asked if len(text) > 3], asked)
    words = " ".join(" ".join(told).split())
    starts = range(len(line) - _SHORTEST_ECHO + 1)
    return any(" ".join(text.split()) in line for text in whole) or any(
        line[start : start + _SHORTEST_ECHO] in words for start in starts
    )


def _told(question: Question) -> tuple[Sequence[str], Sequence[str]]:
    """What must not be repeated however short it is, and all that was told."""
    earlier = (each.answer for each in question.earlier)
    return (question.user,), (question.system, question.user, *earlier)


def _number(text: str | None, unit: float = 1) -> timedelta | None:
    try:
        return _bounded(float(text) * unit) if text else None
    except ValueError:
        return None


def _until(text: str | None, now: datetime) -> timedelta | None:
    try:
        date = parsedate_to_datetime(text) if text else None
    except (ValueError, OverflowError):
        return None
    return _bounded(((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds()) if date else None


def _duration(text: str | None) -> timedelta | None:
    """Seconds in the form of `1s`, `6m0s` or `120ms`."""
    parts = _PARTS.findall(text or "")
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != text:
        return None
    return _bounded(sum(float(number) * _SECONDS[unit] for number, unit in parts))


def _bounded(seconds: float) -> timedelta | None:
    if not isfinite(seconds):
        return None
    return timedelta(seconds=min(max(seconds, 0), LONGEST_PAUSE.total_seconds()))
