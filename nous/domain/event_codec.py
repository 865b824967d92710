"""Encode and decode events as CloudEvents 1.0 JSON; derive missing fields, check limits.

`type` is the event's type and also names its stream. Its version is the last part of `dataschema`
(`urn:nous:session_ended:1`), and the current one if there is none. Unknown fields are ignored. The smallest valid entry
is `{"data": {...}}`. Missing fields are derived from the content, so that a repeat is the same event. For events that
recur, the time is used as well.

Spec: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, cast, get_type_hints
from uuid import UUID, uuid5

import orjson
from pydantic import ValidationError

from nous.domain.episode import NAMESPACE
from nous.domain.errors import BadInput
from nous.domain.events import Event, kinds
from nous.domain.record_codec import adapter
from nous.domain.scope import NO_SESSION, Scope, checked_name

_ENVELOPE = {field.name for field in fields(Event)}
_DEFAULT_AGENT = "default"
_NESTS = (dict, list)

LARGEST = 16 << 20
"""Maximum bytes of an event. Ours have some thousands: a long transcript travels beside its event."""

MOST_VALUES = 100_000
"""Maximum values in an event. A million invalid ones, in 2 MB, would make 1 GB of error messages."""


class UnknownEvent(BadInput):
    """An event type or version that this release does not know; it is parked for one that does."""


def encode(event: Event) -> bytes:
    """Encode *event* for the wire. Raises `BadInput` if it is larger than readers accept."""
    data = {
        name: value
        for name in _names(type(event))
        if name not in _ENVELOPE and (value := getattr(event, name)) is not None
    }
    message = {
        "specversion": "1.0",
        "id": event.id,
        "source": event.source,
        "type": event.type,
        "subject": event.session_id,
        "time": event.time,
        "datacontenttype": "application/json",
        "dataschema": f"urn:nous:{event.type}:{event.schema_version}",
        "correlationid": event.trace_id,
        "causationid": event.caused_by,
        "traceparent": event.traceparent,
        "data": {"session_id": event.session_id, "agent_id": event.agent_id, "scope": event.scope, **data},
    }
    present = {name: value for name, value in message.items() if value is not None}
    raw = orjson.dumps(present, option=orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_SERIALIZE_NUMPY)
    if len(raw) > LARGEST:
        raise too_large(len(raw))
    return raw


def too_large(size: int) -> BadInput:
    return BadInput(
        f"the event has {size:,} bytes, and none may have more than {LARGEST:,}: send its transcript by reference, as "
        "a file (dataref file://) or uploaded, which `nous publish` does"
    )


def decode(raw: bytes | str, *, type_hint: str, accepted_at: datetime | None = None) -> Event:
    """Decode one event of the stream *type_hint*, which accepted it at *accepted_at*.

    Raises `UnknownEvent` for a type or version of another release, and `BadInput` for what is no event; the text says
    which field is wrong, and never quotes the content.
    """
    message = _json_object(raw)
    kind = _kind(message, type_hint)
    data = message.get("data")
    if not isinstance(data, dict):
        raise BadInput(f"{type_hint}: data has to be a JSON object")
    _refuse_crowd(cast("dict[str, Any]", data))
    candidate = _filled(message, kind.completed(cast("dict[str, Any]", data)), kind, accepted_at or datetime.now(UTC))
    try:
        return _in_utc(adapter(kind).validate_python(candidate))
    except ValidationError as error:
        raise BadInput(f"{kind.type}: {_in_words(error)}") from None


def _in_utc(event: Event) -> Event:
    """Return *event* with its times in UTC, which a time without a zone is taken for."""
    found = {name: getattr(event, name) for name in _names(type(event))}
    times = {name: value for name, value in found.items() if isinstance(value, datetime)}
    zoned = {name: value if value.tzinfo else value.replace(tzinfo=UTC) for name, value in times.items()}
    try:
        return replace(event, **{name: value.astimezone(UTC) for name, value in zoned.items()})
    except OverflowError:
        raise BadInput(f"one of {', '.join(times)} is not in any of the years 1 to 9999 in UTC") from None


@cache
def _names(kind: type[Event]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _json_object(raw: bytes | str) -> dict[str, Any]:
    if len(raw) > LARGEST:
        raise too_large(len(raw))
    if not raw:
        raise BadInput("the entry has no field named event, or an empty one")
    try:
        message = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg} at character {error.pos}") from None
    if not isinstance(message, dict):
        raise BadInput(f"a JSON object was expected, not {type(message).__name__}")
    return cast("dict[str, Any]", message)


def _refuse_crowd(data: dict[str, Any]) -> None:
    count, inner = 0, [data]
    while inner:
        each: Any = inner.pop()
        count += len(each)
        if count > MOST_VALUES:
            raise BadInput(
                f"data has more than {MOST_VALUES:,} values: send what is so long by reference, as `nous publish` does"
            )
        inner.extend(found for found in (each.values() if isinstance(each, dict) else each) if type(found) in _NESTS)


def _kind(message: Mapping[str, Any], type_hint: str) -> type[Event]:
    name = message.get("type", type_hint)
    kind = kinds().get(name) if isinstance(name, str) else None
    if kind is None or name != type_hint:
        raise UnknownEvent(f"the stream of {type_hint} holds an event of the unknown type {str(name)[:80]!r}")
    version = str(message.get("dataschema") or f":{kind.schema_version}").rpartition(":")[2]
    if version != str(kind.schema_version):
        raise UnknownEvent(
            f"{kind.type} has version {version[:20]!r}; this release reads version {kind.schema_version}"
        )
    return kind


def _filled(
    message: Mapping[str, Any], data: Mapping[str, Any], kind: type[Event], accepted_at: datetime
) -> dict[str, Any]:
    time = message.get("time") or accepted_at
    # Recurring events without an `at` of their own are distinguished by the time of the message.
    moment = f"\n{time}" if kind.recurs and not data.get("at") else ""
    event_id = message.get("id") or uuid5(NAMESPACE, f"{kind.type}\n{_canonical(data)}{moment}")
    event_id = _uuid(event_id, message.get("source"))
    scope, session = _scope(data.get("scope")), data.get("session_id") or message.get("subject")
    session = NO_SESSION if is_of_none(session, kind) else checked_name(session, "data.session_id")
    named = {name: _uuid(data[name]) for name in _ids(kind) if data.get(name)}
    return {
        **kind.derived(scope, session, _canonical(data)),
        **{name: value for name, value in data.items() if value is not None},
        **named,
        "id": event_id,
        "time": time,
        "source": message.get("source") or "unknown",
        "scope": scope,
        "agent_id": checked_name(data.get("agent_id") or _DEFAULT_AGENT, "data.agent_id"),
        "session_id": session,
        "trace_id": _uuid(message.get("correlationid") or event_id),
        "caused_by": _uuid(message["causationid"]) if message.get("causationid") else None,
        "traceparent": message.get("traceparent"),
    } | ({"dataref": message["dataref"]} if message.get("dataref") and "dataref" not in data else {})


def _scope(value: object) -> Scope:
    """Return the scope that a text or an object names: ignoring a part would merge two scopes."""
    try:
        if isinstance(value, str) and value:
            return Scope.parse(value)
        return Scope(**cast("dict[str, str]", value or {}))
    except TypeError:
        raise BadInput("data.scope: has to be a text, or an object of tenant, agent and project alone") from None
    except BadInput as error:
        raise BadInput(f"data.scope: {error}") from None


def _uuid(value: object, source: object = None) -> UUID:
    """Return *value* as a UUID; other ids derive from it and *source*, unique together."""
    try:
        return UUID(str(value))
    except ValueError:
        return uuid5(NAMESPACE, f"{source}\n{value}" if source else str(value))


@cache
def _ids(kind: type[Event]) -> tuple[str, ...]:
    hints = get_type_hints(kind)
    return tuple(name for name in _names(kind) if name not in _ENVELOPE and hints[name] in (UUID, UUID | None))


def _canonical(data: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:  # orjson reads deeper nesting than it writes
        raise BadInput(f"data is nested too deeply: {error}") from None


def is_of_none(session: object, kind: type[Event]) -> bool:
    """Return whether *session*, named by an event of *kind*, stands for no session."""
    return session == NO_SESSION and not kind.needs_session


def _in_words(error: ValidationError) -> str:
    """Describe what is wrong and where, without the content, which must not be logged."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"data.{'.'.join(str(part)[:80] for part in p['loc'])}: {p['msg']}" for p in problems[:5])
