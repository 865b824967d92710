"""The index of facts by their vectors, as it is configured."""

from contextlib import suppress

import structlog

from nous.errors import NotAllowed, Unavailable
from nous.learning.index import CandidateIndexes
from nous.server.engine import Engine
from nous.settings.model import Settings
from nous.store.base import FactLog
from nous.store.keys import StoreKeys
from nous.store.redis_vector_sets import VectorSets

_log = structlog.stdlib.get_logger(__name__)


def indexes_of(settings: Settings, log: FactLog, keys: StoreKeys) -> CandidateIndexes | None:
    """The indexes outside of this process; None where each process keeps its own.

    A server that does not answer now, or lets this user only publish, is asked again when it is needed.

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
        _log.warning("nothing can be learned until the index answers", reason=str(error))
    return VectorSets(engine, keys, log)
