"""Typed access to the fields of JSON objects; a field of another type counts as missing."""

from collections.abc import Mapping
from typing import Any

from nous.text.language import tables
from nous.transcript.model import Kind
from nous.transcript.parsing.values import as_count, as_list, as_object

JsonObject = Mapping[str, Any]


# Every record passes these two many times, and a loop over one key is slow.
def text_at(value: JsonObject, key: str, *others: str) -> str:
    """Return the first text under *key* or *others* that is not empty; else an empty one."""
    if isinstance(text := value.get(key), str) and text:
        return text
    return text_at(value, *others) if others else ""


def object_at(value: JsonObject, key: str, *path: str) -> dict[str, Any]:
    """Return the object under *key*, or at the end of *path* in that; else an empty one."""
    found = value.get(key)
    return (object_at(found, *path) if path else found) if isinstance(found, dict) else {}


def objects_at(value: JsonObject, key: str) -> list[dict[str, Any]]:
    """Return the list under *key* as objects; elements of another type become empty ones."""
    return [as_object(inner) for inner in as_list(value.get(key))]


def count_at(value: JsonObject, *keys: str) -> int:
    """Return the sum of the whole numbers under *keys*."""
    return sum(as_count(value.get(key)) for key in keys)


def marks(format_: str, name: str) -> tuple[str, ...]:
    return tuple(tables("nous.transcript.parsing", "marks")[format_][name])


def templates(name: str) -> dict[str, tuple[Kind, str]]:
    """Return the kind and the text of the entry by type of record, for the format *name*."""
    found = tables("nous.transcript.parsing", "templates")[name]
    return {kind: (Kind(whose), words) for kind, (whose, words) in found.items()}


class TemplateFields(dict[str, Any]):
    """Fields that fill in a template; `{a|b}` is the first that is not empty."""

    def __getitem__(self, names: str) -> str:
        return text_at(self, *names.split("|"))
