"""A question to a model, and remote models to put it to."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from builders.model_server import ModelServer
from nous.domain.scope import CacheSubject, Scope
from nous.llm.base import Question
from nous.llm.event_loop_thread import LoopThread
from nous.llm.http_model import HttpModel
from nous.llm.provider import Endpoint

KEY = "sk-test-0123456789abcdef"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROMPT = "The kettle in the kitchen of Mrs Abernathy whistles at seven."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 80},
        "points": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer", "default": 0},
    },
    "required": ["title"],
}


def question(user: str = PROMPT, **fields: Any) -> Question:
    known: dict[str, Any] = {
        "matter": CacheSubject.of(Scope(), UUID(int=1)),
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


def remote(server: ModelServer, loop: LoopThread, provider: str = "openai", **fields: Any) -> HttpModel:
    return HttpModel(endpoint_at(server, provider, **fields), loop=loop, clock=lambda: NOW)
