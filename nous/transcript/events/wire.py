"""Events as JSON objects, tagged by `type`, in the form of qbit: https://github.com/qbit-ai/qbit.

What is missing or of another kind than a field says makes an event unknown rather than wrong: it is kept as it came.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from types import ModuleType
from typing import Any, cast, get_args, get_type_hints

from nous.transcript.events import context, helpers, talk, tool_use
from nous.transcript.events.base import MAIN, Source, TranscriptEvent, UnknownEvent
from nous.transcript.reading.fields import as_object

STAMP = "_timestamp"
_NOT_FIELDS = frozenset({"type", STAMP, "seq", "ts"})
_MODULES: tuple[ModuleType, ...] = (talk, tool_use, helpers, context)


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
