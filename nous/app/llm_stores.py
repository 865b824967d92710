"""Build the Redis stores of LLM calls: cached replies, token usage, circuit state, counters."""

from dataclasses import dataclass

import redis

from nous.llm.state import CircuitStore, LlmKeys, ResponseStore, TokenUsageStore, UsageCounters
from nous.settings.model import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmStores:
    responses: ResponseStore
    token_usage: TokenUsageStore
    circuits: CircuitStore
    counters: UsageCounters


def stores_of(client: redis.Redis, settings: Settings) -> LlmStores:
    keys = LlmKeys(settings.prefix)
    return LlmStores(
        responses=ResponseStore(client, keys, answer_ttl=settings.retention.answer_ttl),
        token_usage=TokenUsageStore(client, keys),
        circuits=CircuitStore(client, keys),
        counters=UsageCounters(client, keys),
    )
