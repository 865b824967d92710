"""A model and all that stands before it, from the settings."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import redis

from nous.bus.tombstones import Tombstones
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.scope import Matter, Scope
from nous.embedding.base import Embedder, Unready
from nous.embedding.http import RemoteEmbedder
from nous.excerpt import Windows
from nous.facts.adjudication import Arbiter
from nous.llm.base import Model
from nous.llm.event_loop_thread import LoopThread
from nous.llm.http_embeddings import Embeddings
from nous.llm.http_model import Remote, split
from nous.llm.middleware.circuit_breaker import Guarded
from nous.llm.middleware.response_cache import Pinned
from nous.llm.middleware.token_budget import Governed
from nous.llm.provider import Endpoint
from nous.llm.redis.keys import LlmKeys
from nous.llm.redis.state import RedisAllowance, RedisOutages, RedisPins, RedisTally
from nous.llm.state import Allowance, Outages, Pins, Tally
from nous.pipeline.anchored_summarizer import Anchorer
from nous.pipeline.llm_adjudicator import ModelArbiter
from nous.pipeline.llm_fact_extractor import Extractor
from nous.pipeline.llm_summarizer import Author
from nous.settings.model import LlmSettings, Settings
from nous.summary.llm.prompt import Prompt, built_in, parsed
from nous.text.token_estimate import estimate
from nous.transcript.model import Transcript

Clock = Callable[[], datetime]
Excerpts = Callable[[Transcript], Windows]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBooks:
    """What all processes write down of a model's calls."""

    pins: Pins
    allowance: Allowance
    outages: Outages
    tally: Tally


def books_of(client: redis.Redis, settings: Settings) -> ModelBooks:
    keys = LlmKeys(settings.prefix)
    return ModelBooks(
        pins=RedisPins(client, keys, answer_ttl=settings.retention.answer_ttl),
        allowance=RedisAllowance(client, keys),
        outages=RedisOutages(client, keys),
        tally=RedisTally(client, keys),
    )


def matter(scope: Scope, subject: UUID, *, pins: Pins, tombstones: Tombstones) -> Matter:
    """What is asked about *subject*, the id of a session's episode among others, by who reads of it from now on."""
    drops = pins.drops(scope, subject)
    # Looked for after: who was handed an event and comes late finds the tombstone, or his answer is dropped.
    return Matter(scope=scope, subject=subject, drops=None if tombstones.find(scope, str(subject)) else drops)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """Who understands sessions, and carries them across compactions.

    *problem* is what keeps the configured model from being asked. Whoever only publishes or looks needs no model, so it
    stops those alone who work.
    """

    author: Author | None
    anchorer: Anchorer
    extractor: Extractor
    arbiter: Arbiter | None = None
    problem: Misconfigured | None = None
    remote: Remote | None = None

    def close(self) -> None:
        """Close the connections of this process to the model, and end the thread of its calls."""
        if self.remote:
            self.remote.close()


def mind_of(settings: Settings, books: ModelBooks, *, excerpts: Excerpts, clock: Clock) -> Mind:
    """The configured model with its prompts; without an author where there is none, or it cannot be asked."""
    try:
        remote = _remote(settings, books, clock=clock)
        author = _author(remote, settings, books, clock=clock) if remote else None
        prompt = _prompt("anchored", settings.summary.anchored_prompt, setting="summary.anchored_prompt")
    except Misconfigured as problem:
        anchorer = Anchorer(excerpts=excerpts, prompt=built_in("anchored"), clock=clock)
        return Mind(author=None, anchorer=anchorer, extractor=Extractor(prompt=built_in("facts")), problem=problem)
    model, tally = author.model if author else None, books.tally
    return Mind(
        author=author,
        anchorer=Anchorer(excerpts=excerpts, prompt=prompt, clock=clock, model=model, tally=tally),
        extractor=Extractor(prompt=built_in("facts"), model=model, tally=tally),
        arbiter=ModelArbiter(model=model, prompt=built_in("ruling"), tally=tally)
        if model and settings.dedup.ask_model
        else None,
        remote=remote,
    )


def _remote(settings: Settings, books: ModelBooks, *, clock: Clock) -> Remote | None:
    """The model that is set, if one is.

    Raises:
        Misconfigured: its name, its key or its address does not do.
    """
    if settings.background_model is None:
        return None
    endpoint = _endpoint(settings.background_model, settings.llm)
    return Remote(endpoint, loop=LoopThread(), clock=clock, tally=books.tally)


def _author(remote: Remote, settings: Settings, books: ModelBooks, *, clock: Clock) -> Author:
    """Who has *remote* write. Raises `Misconfigured` where the prompt does not do."""
    return Author(
        model=in_order(remote, settings.llm, books, clock=clock),
        prompt=_prompt("episode", settings.summary.prompt, setting="summary.prompt"),
        tally=books.tally,
        clock=clock,
        patience=timedelta(seconds=settings.llm.patience),
        waits_for_quota=settings.llm.when_exhausted == "defer",
    )


def in_order(model: Model, llm: LlmSettings, books: ModelBooks, *, clock: Clock) -> Model:
    """*model* behind what spares it: answers that are there, the day's tokens, and the pauses of its provider."""
    guarded: Model = Guarded(model, books.outages, books.tally, probe=2 * llm.deadline)
    if llm.daily_tokens is not None:
        guarded = Governed(guarded, books.allowance, limit=llm.daily_tokens, count=estimate, clock=clock)
    return Pinned(guarded, books.pins, books.tally)


def remote_embedder(settings: Settings) -> Embedder:
    """The embedder that is configured by the name of its provider and its own, or one that says why it cannot be."""
    try:
        return _remote_embedder(settings)
    except Misconfigured as problem:
        return Unready(problem)


def _remote_embedder(settings: Settings) -> RemoteEmbedder:
    provider, model = split(settings.embedder)
    chosen = settings.embed
    endpoint = Endpoint(
        provider=provider,
        model=model,
        deadline=chosen.deadline,
        concurrency=chosen.concurrency,
        base_url=chosen.base_url,
        api_key=chosen.api_key.get_secret_value() if chosen.api_key else None,
        table="embed",
    )
    server = Embeddings(endpoint, loop=LoopThread(), clock=partial(datetime.now, UTC))
    return RemoteEmbedder(server, dimensions=chosen.dimensions)


def _endpoint(name: str, llm: LlmSettings) -> Endpoint:
    provider, model = split(name)
    return Endpoint(
        provider=provider,
        model=model,
        deadline=llm.deadline,
        concurrency=llm.concurrency,
        base_url=llm.base_url,
        api_key=llm.api_key.get_secret_value() if llm.api_key else None,
        structured=llm.structured,
    )


def _prompt(name: str, path: Path | None, *, setting: str) -> Prompt:
    """The prompt called *name*, from the file at *path* if one was set."""
    if path is None:
        return built_in(name)
    try:
        return parsed(path.read_text("utf-8-sig"), name=name, is_own=True)
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{setting} = {str(path)!r} cannot be read: {error}") from error
    except BadInput as error:
        raise Misconfigured(f"{setting} = {str(path)!r}: {error}") from error
