"""Encode and decode session events as JSON objects tagged by `type`, in qbit's format.

See https://github.com/qbit-ai/qbit. An event with a missing or mistyped field is not an error: it is kept unchanged, as
an unknown event.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NamedTuple, cast, get_args, get_type_hints

from nous.transcript.io.byte_source import ByteSource
from nous.transcript.io.lines import ReadPosition
from nous.transcript.io.records import records
from nous.transcript.load import located, opened
from nous.transcript.model import ReadNotes
from nous.transcript.parsing.values import as_object, parse_time
from nous.transcript.recorder.events import conversation, sub_agents, tool_use
from nous.transcript.recorder.events.base import MAIN, EventSource, TranscriptEvent, UnknownTranscriptEvent

STAMP = "_timestamp"
_NOT_FIELDS = frozenset({"type", STAMP, "seq", "ts"})
_MODULES: tuple[ModuleType, ...] = (conversation, tool_use, sub_agents)


def event_types() -> Mapping[str, type[TranscriptEvent]]:
    """Return every event class by its type name."""
    found = (value for module in _MODULES for value in vars(module).values() if isinstance(value, type))
    return {kind.TYPE: kind for kind in found if issubclass(kind, TranscriptEvent) and kind.TYPE}


class EventCodec:
    """Converter between events and JSON objects."""

    def __init__(self) -> None:
        self._types = event_types()
        self._shapes = {name: _shape(kind) for name, kind in self._types.items()}

    def decode(self, value: Mapping[str, Any]) -> TranscriptEvent:
        """Decode *value*; what is not understood becomes an `UnknownTranscriptEvent`.

        Never raises.
        """
        name = value.get("type")
        values = {key: field for key, field in value.items() if key not in _NOT_FIELDS}
        if isinstance(name, str) and name in self._types and (given := _given(self._shapes[name], values)) is not None:
            extra = {key: field for key, field in values.items() if key not in self._shapes[name]}
            return self._types[name](**given, extra=extra)
        if isinstance(name, str):
            return UnknownTranscriptEvent(name=name, extra=values)
        return UnknownTranscriptEvent(name="", extra={"type": name, **values} if "type" in value else values)

    def encode(self, event: TranscriptEvent) -> dict[str, Any]:
        """Encode *event*: its fields in declared order, then the extra ones of a newer program."""
        shape = self._shapes.get(event.type, {}) if not isinstance(event, UnknownTranscriptEvent) else {}
        said = {name: getattr(event, name) for name in shape}
        if "source" in said:
            said["source"] = _source_as_object(said["source"])
        kept = {name: value for name, value in said.items() if value is not None or name not in event.OMITTED}
        return {**({"type": event.type} if event.type else {}), **kept, **event.extra}


Shape = Mapping[str, tuple[Field[Any], Callable[[Any], bool]]]


def _shape(kind: type[TranscriptEvent]) -> Shape:
    hints = get_type_hints(kind)
    return {field.name: (field, _check(hints[field.name])) for field in fields(kind) if field.name != "extra"}


def _check(hint: Any) -> Callable[[Any], bool]:
    """Return a predicate for JSON values of the type *hint*.

    An integer is also a valid float, but a boolean is not a number.
    """
    if hint is Any:
        return lambda _: True
    kinds = tuple(getattr(kind, "__origin__", kind) for kind in (get_args(hint) if _is_union(hint) else (hint,)))
    if EventSource in kinds:
        return lambda value: isinstance(value, dict)
    kinds += (int,) if float in kinds else ()
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _is_union(hint: Any) -> bool:
    return type(None) in get_args(hint)


def _given(shape: Shape, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of *shape* in *values*; None if one is missing or mistyped."""
    given: dict[str, Any] = {}
    for name, (field, fits) in shape.items():
        if name not in values:
            if field.default is MISSING:
                return None
            continue
        if not fits(values[name]):
            return None
        given[name] = values[name]
    if "source" in given:
        source = _source_of(given["source"])
        if source is None:
            return None
        given["source"] = source
    return given


_SOURCES = {
    "main": (),
    "sub_agent": ("agent_id", "agent_name"),
    "workflow": ("workflow_id", "workflow_name", "step_name", "step_index"),
}
_OMITTED_OF_SOURCE = frozenset({"step_name", "step_index"})


def _source_of(value: object) -> EventSource | None:
    values = as_object(value)
    names = _SOURCES.get(cast("str", values.get("type"))) if isinstance(values.get("type"), str) else None
    if names is None or set(names) - set(values) - _OMITTED_OF_SOURCE:
        return None
    extra = {name: field for name, field in values.items() if name not in {"type", *names}}
    if values["type"] == "main" and not extra:
        return MAIN
    return EventSource(type=values["type"], extra=extra, **{name: values[name] for name in names if name in values})


def _source_as_object(source: EventSource) -> dict[str, Any]:
    said = {name: getattr(source, name) for name in _SOURCES.get(source.type, ())}
    kept = {name: value for name, value in said.items() if value is not None or name not in _OMITTED_OF_SOURCE}
    return {"type": source.type, **kept, **source.extra}


class StoredEvent(NamedTuple):
    """An event with its time and line number."""

    event: TranscriptEvent
    time: datetime | None
    line: int


def read_events(
    source: str | Path | BinaryIO, *, base: Path | str | None = None, notes: ReadNotes | None = None
) -> Iterator[StoredEvent]:
    """Yield the events in *source*, a path, an open stream or a session id, in file order.

    Lines, a pretty array, and an array followed by lines are all read. Damaged content is skipped and counted in
    *notes*; everything else is still read. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        with opened(located(source, base=base)) as stream:
            yield from _events(stream, notes or ReadNotes())
    else:
        yield from _events(source, notes or ReadNotes())


def _events(stream: BinaryIO, notes: ReadNotes) -> Iterator[StoredEvent]:
    codec = EventCodec()
    for record in records(ByteSource.on(stream).buffered(), notes, ReadPosition()):
        yield StoredEvent(codec.decode(record.value), parse_time(record.value.get(STAMP)), record.line)
