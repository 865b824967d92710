"""A question to a model, and remote models to put it to."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from builders.model_server import ModelServer
from nous.domain.scope import CacheSubject, Scope
from nous.llm.base import Question
from nous.llm.http_model import HttpModel
from nous.llm.provider import Endpoint

KEY = "sk-test-0123456789abcdef"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROMPT = "The kettle in the kitchen of Mrs Abernathy whistles at seven."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "points": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer"},
    },
    "required": ["title", "points", "count"],
    "additionalProperties": False,
}

KNOWN = {"type", "enum", "anyOf", "items", "$ref", "$defs", "properties", "required", "additionalProperties"}
WORDS = {"description", "title"}


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Return whether OpenAI accepts it as strict: each object is closed and requires all properties."""
    properties = schema.get("properties", {})
    inner = [*properties.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", [])]
    items = [schema["items"]] if "items" in schema else []
    is_closed = schema.get("type") != "object" or (
        schema.get("additionalProperties") is False and schema.get("required") == list(properties)
    )
    return schema.keys() <= KNOWN | WORDS and is_closed and all(map(is_strict, [*inner, *items]))


def question(user: str = PROMPT, **fields: Any) -> Question:
    known: dict[str, Any] = {
        "matter": CacheSubject(Scope(), UUID(int=1)),
        "system": "You summarize what you are given.",
        "user": user,
        "name": "episode",
        "schema": SCHEMA,
        "most_tokens": 500,
    }
    return Question(**{**known, **fields})


def endpoint_at(server: ModelServer, provider: str = "openai", **fields: Any) -> Endpoint:
    """A model of *provider* at *server*, with a deadline that tests can wait for."""
    base_url = server.url if provider == "anthropic" else server.openai_url
    known: dict[str, Any] = {
        "provider": provider,
        "model": "test-model",
        "base_url": base_url,
        "api_key": KEY,
        "deadline": 5.0,
        "concurrency": 4,
    }
    return Endpoint(**{**known, **fields})


def remote(server: ModelServer, provider: str = "openai", **fields: Any) -> HttpModel:
    return HttpModel(endpoint_at(server, provider, **fields), clock=lambda: NOW)
