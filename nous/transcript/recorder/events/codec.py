"""Events as JSON objects, tagged by `type`, in the form of qbit: https://github.com/qbit-ai/qbit.

What is missing or of another kind than a field says makes an event unknown rather than wrong: it is kept as it came.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NamedTuple, cast, get_args, get_type_hints

from nous.transcript.io.byte_source import Tap
from nous.transcript.io.lines import Cursor
from nous.transcript.io.records import records
from nous.transcript.load import located, opened
from nous.transcript.model import Notes
from nous.transcript.parsing.values import as_object, parse_time
from nous.transcript.recorder.events import conversation, sub_agents, tool_use
from nous.transcript.recorder.events.base import MAIN, Source, TranscriptEvent, UnknownEvent

STAMP = "_timestamp"
_NOT_FIELDS = frozenset({"type", STAMP, "seq", "ts"})
_MODULES: tuple[ModuleType, ...] = (conversation, tool_use, sub_agents, conversation)


def event_types() -> Mapping[str, type[TranscriptEvent]]:
    """Every event by the name of its type."""
    found = (value for module in _MODULES for value in vars(module).values() if isinstance(value, type))
    return {kind.TYPE: kind for kind in found if issubclass(kind, TranscriptEvent) and kind.TYPE}


class EventCodec:
    """Makes events of JSON objects, and JSON objects of events."""

    def __init__(self) -> None:
        self._types = event_types()
        self._shapes = {name: _shape(kind) for name, kind in self._types.items()}

    def decode(self, value: Mapping[str, Any]) -> TranscriptEvent:
        """The event that *value* tells. It never fails: what cannot be understood is an `UnknownEvent`."""
        name = value.get("type")
        told = {key: field for key, field in value.items() if key not in _NOT_FIELDS}
        if isinstance(name, str) and name in self._types and (given := _given(self._shapes[name], told)) is not None:
            extra = {key: field for key, field in told.items() if key not in self._shapes[name]}
            return self._types[name](**given, extra=extra)
        if isinstance(name, str):
            return UnknownEvent(name=name, extra=told)
        return UnknownEvent(name="", extra={"type": name, **told} if "type" in value else told)

    def encode(self, event: TranscriptEvent) -> dict[str, Any]:
        """*event* as an object, its fields in their order, those of a newer program after them."""
        shape = self._shapes.get(event.type, {}) if not isinstance(event, UnknownEvent) else {}
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
    """Whether a JSON value is of the type *hint*. A whole number is a fraction too, but true is not a number."""
    if hint is Any:
        return lambda _: True
    kinds = tuple(getattr(kind, "__origin__", kind) for kind in (get_args(hint) if _is_union(hint) else (hint,)))
    if Source in kinds:
        return lambda value: isinstance(value, dict)
    kinds += (int,) if float in kinds else ()
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _is_union(hint: Any) -> bool:
    return type(None) in get_args(hint)


def _given(shape: Shape, told: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of *shape* as they were *told*; None if one is missing or of another kind."""
    given: dict[str, Any] = {}
    for name, (field, fits) in shape.items():
        if name not in told:
            if field.default is MISSING:
                return None
            continue
        if not fits(told[name]):
            return None
        given[name] = told[name]
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


def _source_of(value: object) -> Source | None:
    told = as_object(value)
    names = _SOURCES.get(cast("str", told.get("type"))) if isinstance(told.get("type"), str) else None
    if names is None or set(names) - set(told) - _OMITTED_OF_SOURCE:
        return None
    extra = {name: field for name, field in told.items() if name not in {"type", *names}}
    if told["type"] == "main" and not extra:
        return MAIN
    return Source(type=told["type"], extra=extra, **{name: told[name] for name in names if name in told})


def _source_as_object(source: Source) -> dict[str, Any]:
    said = {name: getattr(source, name) for name in _SOURCES.get(source.type, ())}
    kept = {name: value for name, value in said.items() if value is not None or name not in _OMITTED_OF_SOURCE}
    return {"type": source.type, **kept, **source.extra}


class StoredEvent(NamedTuple):
    """An event, when it happened, and the line on which it stands."""

    event: TranscriptEvent
    time: datetime | None
    line: int


def read_events(
    source: str | Path | BinaryIO, *, base: Path | str | None = None, notes: Notes | None = None
) -> Iterator[StoredEvent]:
    """The events in the transcript *source*, a path, an open stream or the id of a session, in the order of the file.

    Lines, a pretty array, and an array with lines after it are all read. What is damaged is passed over, counted in
    *notes*, and costs nothing else. Raises as `read_transcript`.
    """
    if isinstance(source, str | Path):
        with opened(located(source, base=base)) as stream:
            yield from _events(stream, notes or Notes())
    else:
        yield from _events(source, notes or Notes())


def _events(stream: BinaryIO, notes: Notes) -> Iterator[StoredEvent]:
    codec = EventCodec()
    for record in records(Tap.on(stream).buffered(), notes, Cursor()):
        yield StoredEvent(codec.decode(record.value), parse_time(record.value.get(STAMP)), record.line)
