"""Build what queries of memory read, and no workers or LLM clients, so that they start fast."""

from contextlib import suppress

import redis
import structlog

from nous.domain.errors import NotAllowed, Unavailable
from nous.embedding.base import CachedEmbedder, Embedder
from nous.knowledge.candidate_index import CandidateIndexes
from nous.redis_server.client import Engine
from nous.settings.model import Settings
from nous.store.base import FactLog
from nous.store.fact_cache import FactCache, Memory
from nous.store.keys import StoreKeys
from nous.store.redis.episodes import RedisEpisodes
from nous.store.redis.fact_log import RedisFactLog
from nous.store.redis.sessions import RedisAnchoredSummaries, RedisSessionStates
from nous.store.redis.vector_sets import VectorSets


def memory_of(client: redis.Redis, settings: Settings, keys: StoreKeys, *, engine: Engine) -> Memory:
    episodes, facts = RedisEpisodes(client, keys), RedisFactLog(client, keys)
    return Memory(
        episodes=episodes,
        episode_vectors=episodes,
        summary_inputs=episodes,
        facts=facts,
        fact_cache=FactCache(indexes=_indexes(settings, engine, facts, keys)),
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

    return MiniLM(weights=settings.embedder_path, cache=settings.data_dir / "embedder")


_log = structlog.stdlib.get_logger(__name__)


def _indexes(settings: Settings, engine: Engine, log: FactLog, keys: StoreKeys) -> CandidateIndexes | None:
    """Return the vector indexes outside of this process, asked when needed; None if it has own."""
    if settings.index.engine == "memory":
        return None
    try:
        with suppress(NotAllowed):
            engine()
    except Unavailable as error:
        hint = "no facts are learned until the index answers"
        _log.warning("vector_index.unavailable", reason=str(error), hint=hint)
    return VectorSets(engine, keys, log)
