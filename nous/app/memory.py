"""Read side of the application: stores, embedder and index, for memory queries.

It builds neither workers nor models, so that a command that only reads starts fast.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import redis
import structlog

from nous.domain.errors import NotAllowed, Unavailable
from nous.embedding.base import Embedder
from nous.embedding.cache import CachedEmbedder
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.vector_scan import CandidateIndexes
from nous.redis_server.client import connect
from nous.redis_server.safety_check import refuse_unsafe
from nous.redis_server.vector_engine import Engine
from nous.settings import Settings, load_settings
from nous.store.base import AnchoredSummaries, Episodes, EpisodeVectors, FactLog, SummaryInputs
from nous.store.fact_cache import FactCache
from nous.store.keys import StoreKeys
from nous.store.redis.episodes import RedisEpisodes
from nous.store.redis.fact_log import RedisFactLog
from nous.store.redis.sessions import RedisAnchoredSummaries
from nous.store.redis.vector_sets import VectorSets


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Stores that memory queries read. A `WorkerContext` has all of them, too."""

    episodes: Episodes
    episode_vectors: EpisodeVectors
    summary_inputs: SummaryInputs
    facts: FactLog
    fact_cache: FactCache
    anchored_summaries: AnchoredSummaries
    embedder: Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAccess:
    """Connection of a reader: the settings, the client, and the memory behind it."""

    settings: Settings
    client: redis.Redis
    context: Memory


@cache
def default_memory() -> Memory:
    """Return the memory that the settings of this process name, over one shared connection."""
    return open_memory(load_settings()).context


def open_memory(settings: Settings) -> MemoryAccess:
    """Connect to the server that *settings* name, for reading.

    An embedded server is started if it does not run.

    Raises:
        Misconfigured: the server, its configuration or the settings are unsuitable.
        Unavailable: the server does not answer.
    """
    client, keys = connect(settings), StoreKeys(settings.prefix)
    refuse_unsafe(client, allow=settings.allow_unsafe_redis)
    episodes, facts = RedisEpisodes(client, keys), RedisFactLog(client, keys)
    memory = Memory(
        episodes=episodes,
        episode_vectors=episodes,
        summary_inputs=episodes,
        facts=facts,
        fact_cache=FactCache(indexes=indexes_of(settings, facts, keys)),
        anchored_summaries=RedisAnchoredSummaries(client, keys),
        embedder=CachedEmbedder(embedder(settings)),
    )
    return MemoryAccess(settings=settings, client=client, context=memory)


def embedder(settings: Settings) -> Embedder:
    """Return the configured embedder. It loads its model on the first text."""
    if settings.embedder == "hashed":
        return HashingEmbedder()
    if ":" in settings.embedder:
        from nous.app.llm import remote_embedder  # noqa: PLC0415 (loads the model clients)

        return remote_embedder(settings)
    from nous.embedding.minilm import MiniLM  # noqa: PLC0415 (needs the extra `local`)

    return MiniLM(weights=settings.embedder_path)


_log = structlog.stdlib.get_logger(__name__)


def indexes_of(settings: Settings, log: FactLog, keys: StoreKeys) -> CandidateIndexes | None:
    """Return the vector indexes outside of this process.

    None where each process keeps its own. A server that does not answer now, or lets this user only publish, is asked
    again when it is needed.

    Raises:
        Misconfigured: the server has no vector sets, or refuses us.
    """
    if settings.index.engine == "memory":
        return None
    engine = Engine(settings)
    try:
        with suppress(NotAllowed):
            engine()
    except Unavailable as error:
        hint = "no facts are learned until the index answers"
        _log.warning("vector_index.unavailable", reason=str(error), hint=hint)
    return VectorSets(engine, keys, log)
