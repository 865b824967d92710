"""Build what queries of memory read, and no workers or LLM clients, so that they start fast."""

import redis

from nous.embedding.base import CachedEmbedder, Embedder
from nous.settings.model import Settings
from nous.store.fact_cache import FactCache, Memory
from nous.store.keys import StoreKeys
from nous.store.redis.episodes import RedisAnchoredSummaries, RedisEpisodes, RedisSessionStates
from nous.store.redis.fact_log import RedisFactLog


def memory_of(client: redis.Redis, settings: Settings, keys: StoreKeys) -> Memory:
    return Memory(
        episodes=RedisEpisodes(client, keys),
        facts=RedisFactLog(client, keys),
        fact_cache=FactCache(),
        anchored_summaries=RedisAnchoredSummaries(client, keys),
        session_states=RedisSessionStates(client, keys),
        embedder=CachedEmbedder(embedder(settings)),
    )


def embedder(settings: Settings) -> Embedder:
    """Return the configured embedder. It loads its model on the first text."""
    if settings.embedder == "hashed":
        from nous.embedding.hashing import HashingEmbedder  # noqa: PLC0415 (loads numpy)

        return HashingEmbedder()
    if ":" in settings.embedder:
        from nous.app.llm import remote_embedder  # noqa: PLC0415 (loads the model clients)

        return remote_embedder(settings)
    from nous.embedding.minilm import MiniLM  # noqa: PLC0415 (needs the extra `local`)

    return MiniLM(weights=settings.embedder_path)
