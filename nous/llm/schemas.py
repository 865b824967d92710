"""JSON schemas as providers take them: made strict, or in words."""

from collections.abc import Mapping
from typing import Any

import orjson

Schema = Mapping[str, Any]

_KEPT = frozenset({"type", "enum", "const", "description", "title"})
"""Keywords that mean the same to every provider. Others, such as minLength or default, are left for us to check."""

_OPEN = frozenset({"allOf", "not", "if", "then", "else", "patternProperties", "prefixItems", "dependentSchemas"})
"""Keywords that strict schemas do not have and that cannot just be left out."""


class _Loose(Exception):
    """No strict schema says this."""


def strict(schema: Schema) -> dict[str, Any] | None:
    """*schema* as providers take it that hold a model to it, or None where they could not.

    Every object is closed and has all of its properties: a model that may leave something out has to be told when.
    Keywords that only narrow a value are left out, so a strict answer may still break *schema*. What cannot be said so:
    objects with keys of any name, values of any type, tuples, and a root that is not an object.
    """
    try:
        found = _node(schema)
    except _Loose:
        return None
    return found if found.get("type") == "object" else None


def instruction(schema: Schema) -> str:
    """What to tell a model that is not held to *schema* by other means."""
    return (
        "Answer with one JSON value and nothing else: no words before or after it, no code fence. "
        f"It must match this JSON schema:\n{orjson.dumps(schema, option=orjson.OPT_NON_STR_KEYS).decode()}"
    )


def _node(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or _OPEN & set(schema):
        raise _Loose
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}  # beside which no other keyword may stand
    found = {name: value for name, value in schema.items() if name in _KEPT}
    choices = schema.get("anyOf", schema.get("oneOf"))
    if choices is not None:
        found["anyOf"] = [_node(choice) for choice in choices]
    elif not {"type", "enum", "const"} & set(found):
        raise _Loose
    return found | _object(schema) | _array(schema) | _definitions(schema)


def _object(schema: Schema) -> dict[str, Any]:
    if "properties" not in schema and not _is_a(schema, "object"):
        return {}
    properties = schema.get("properties", {})
    if not properties or schema.get("additionalProperties", False) is not False:
        raise _Loose
    closed = {name: _node(value) for name, value in properties.items()}
    return {"properties": closed, "required": list(closed), "additionalProperties": False}


def _array(schema: Schema) -> dict[str, Any]:
    return {"items": _node(schema.get("items"))} if _is_a(schema, "array") else {}


def _definitions(schema: Schema) -> dict[str, Any]:
    names = [name for name in ("$defs", "definitions") if name in schema]
    return {name: {each: _node(value) for each, value in schema[name].items()} for name in names}


def _is_a(schema: Schema, kind: str) -> bool:
    found = schema.get("type")
    return found == kind or (isinstance(found, list) and kind in found)
