"""Build from settings: LLM client with middleware, LLM pipeline components, remote embedder."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from nous.backoff import retry_until_deadline
from nous.bus.redis.erasure import RedisTombstones
from nous.domain.errors import BadInput, Misconfigured
from nous.domain.scope import CacheSubject, Scope
from nous.embedding.base import Embedder, UnavailableEmbedder
from nous.excerpt import Windows
from nous.knowledge.verdict import Adjudicator
from nous.llm.base import Failure, Model, ModelBusy, ModelQuota, ModelUnreachable, Question, Reply
from nous.llm.http_embeddings import RemoteEmbedder
from nous.llm.http_model import HttpModel, split
from nous.llm.middleware import CircuitBreaker, ResponseCache, TokenBudget
from nous.llm.provider import Endpoint
from nous.llm.state import LlmStores, ResponseStore, UsageCounters
from nous.pipeline.anchored_summarizer import AnchoredSummarizer
from nous.pipeline.llm_adjudicator import LlmAdjudicator
from nous.pipeline.llm_fact_extractor import LlmFactExtractor
from nous.pipeline.llm_summarizer import LlmSummarizer
from nous.settings.model import EmbedSettings, LlmSettings, Settings
from nous.summary.llm.prompt import PromptTemplate, built_in, parsed
from nous.text.token_estimate import estimate
from nous.transcript.model import Transcript

Clock = Callable[[], datetime]
Excerpts = Callable[[Transcript], Windows]


def cache_subject(
    scope: Scope, subject: UUID, *, responses: ResponseStore, tombstones: RedisTombstones
) -> CacheSubject:
    """Return the cache tag for requests about *subject* whose data is read from now on."""
    count = responses.invalidation_count(scope, subject)
    # Read the count before the tombstone: a late request finds the tombstone, or its response is invalidated.
    return CacheSubject(
        scope=scope, subject=subject, invalidation_count=None if tombstones.find(scope, str(subject)) else count
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmStack:
    """The LLM-backed components of the pipeline.

    *problem* says why the configured model cannot be used. It stops workers only: a process that publishes or reads
    needs no model.
    """

    summarizer: LlmSummarizer | None
    anchored_summarizer: AnchoredSummarizer
    fact_extractor: LlmFactExtractor
    adjudicator: Adjudicator | None = None
    problem: Misconfigured | None = None
    address: str = ""


def llm_stack(settings: Settings, stores: LlmStores | None, *, excerpts: Excerpts, clock: Clock) -> LlmStack:
    """Build the configured model with its prompts; without a usable one there is no summarizer.

    Without *stores*, nothing is cached or counted, and failed calls are retried for a while.
    """
    summarizer = problem = None
    address, counters = "", stores.counters if stores else _NoCounters()
    try:
        if name := settings.background_model:
            endpoint = _endpoint(name, settings.llm, structured=settings.llm.structured)
            remote = HttpModel(endpoint, clock=clock)
            summarizer, address = _summarizer(remote, settings, stores, clock=clock), remote.address
        prompt = _prompt("anchored", settings.summary.anchored_prompt, setting="summary.anchored_prompt")
    except Misconfigured as error:
        summarizer, prompt, problem = None, built_in("anchored"), error
    model = summarizer.model if summarizer else None
    return LlmStack(
        summarizer=summarizer,
        anchored_summarizer=AnchoredSummarizer(
            excerpts=excerpts, prompt=prompt, clock=clock, model=model, counters=counters
        ),
        fact_extractor=LlmFactExtractor(prompt=built_in("facts"), model=model, counters=counters),
        adjudicator=LlmAdjudicator(model=model, prompt=built_in("ruling"), counters=counters)
        if model and settings.dedup.ask_model
        else None,
        problem=problem,
        address=address,
    )


def _summarizer(model: HttpModel, settings: Settings, stores: LlmStores | None, *, clock: Clock) -> LlmSummarizer:
    return LlmSummarizer(
        model=in_order(model, settings.llm, stores, clock=clock) if stores else _RetriedModel(model, settings.llm),
        prompt=_prompt("episode", settings.summary.prompt, setting="summary.prompt"),
        counters=stores.counters if stores else _NoCounters(),
        clock=clock,
        max_wait=timedelta(seconds=settings.llm.patience),
        waits_for_quota=settings.llm.when_exhausted == "defer",
    )


def in_order(model: Model, llm: LlmSettings, stores: LlmStores, *, clock: Clock) -> Model:
    """Wrap *model* in its middleware: response cache, token budget, circuit breaker.

    The cache is outermost, so a cached response costs no tokens and no call.
    """
    guarded: Model = CircuitBreaker(model, stores.circuits, stores.counters, probe=2 * llm.deadline)
    if llm.daily_tokens is not None:
        guarded = TokenBudget(guarded, stores.token_usage, limit=llm.daily_tokens, count=estimate, clock=clock)
    return ResponseCache(guarded, stores.responses, stores.counters)


@dataclass(frozen=True, slots=True)
class _RetriedModel:
    """A model without a queue behind it: transient failures are retried for `llm.patience`."""

    model: Model
    llm: LlmSettings

    @property
    def id(self) -> str:
        return self.model.id

    def ask(self, question: Question, /) -> Reply:
        return retry_until_deadline(partial(self._ask, question), seconds=self.llm.patience)

    def _ask(self, question: Question) -> Reply:
        try:
            return self.model.ask(question)
        except (ModelQuota, ModelBusy) as error:
            # No queue holds the question until the time that the provider names, so its thread waits.
            time.sleep(min(max(0.0, (error.until - datetime.now(UTC)).total_seconds()), self.llm.patience))
            raise ModelUnreachable(str(error), failure=Failure.QUOTA) from error


class _NoCounters(UsageCounters):
    def __init__(self) -> None:
        """Need no server, since nothing is counted."""

    def count(self, model: str, **counts: int) -> None:
        del model, counts


def remote_embedder(settings: Settings) -> Embedder:
    """Return the embedder set as `provider:model`; with unsuitable settings it raises on use."""
    try:
        endpoint = _endpoint(settings.embedder, settings.embed, table="embed")
        return RemoteEmbedder(endpoint, clock=partial(datetime.now, UTC), dimensions=settings.embed.dimensions)
    except Misconfigured as problem:
        return UnavailableEmbedder(problem)


def _endpoint(name: str, chosen: LlmSettings | EmbedSettings, **more: Any) -> Endpoint:
    provider, model = split(name)
    key = chosen.api_key.get_secret_value() if chosen.api_key else None
    same = chosen.model_dump(include={"deadline", "concurrency", "base_url"})
    return Endpoint(provider=provider, model=model, api_key=key, **same, **more)


def _prompt(name: str, path: Path | None, *, setting: str) -> PromptTemplate:
    if path is None:
        return built_in(name)
    try:
        return parsed(path.read_text("utf-8-sig"), name=name, is_own=True)
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{setting} = {str(path)!r} cannot be read: {error}") from error
    except BadInput as error:
        raise Misconfigured(f"{setting} = {str(path)!r}: {error}") from error
