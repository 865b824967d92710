"""On episodes_unembedded, embed a batch of episodes that lack a vector; save the vectors."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from uuid import UUID

import structlog

from nous.domain.effects import Effects, SaveEpisodeVector
from nous.domain.episode import Episode
from nous.domain.errors import BadInput, Deferred, Misconfigured, Unavailable
from nous.domain.events import EpisodesUnembedded
from nous.domain.scope import Scope
from nous.pipeline.worker import Worker, WorkerContext

NAME = "episode-embedder"
NOTHING_WAITS = "every episode that can be embedded has its vector"

_AT_ONCE = 32
_LOOK_AGAIN = timedelta(minutes=1)

_log = structlog.stdlib.get_logger(__name__)


class EpisodeEmbedder:
    """Embeds episodes whose current edition has no vector of the configured embedder.

    It embeds a batch at a time, the latest first, and publishes a follow-up event if more are left. While the embedder
    is unavailable, the event is deferred. An unreadable or rejected episode does not hold up the others.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    def __call__(self, event: EpisodesUnembedded, /) -> Effects:
        try:
            waiting = self._context.episodes.without_vector(event.scope, embedder=self._context.embedder.id)
            writes = self._some_embedded(event.scope, waiting)
        except Unavailable as error:
            raise Deferred(str(error), until=self._context.clock() + _LOOK_AGAIN) from error
        if not writes:
            return Effects(skipped=NOTHING_WAITS)
        more = EpisodesUnembedded.after(event, by=NAME, at=self._context.clock())
        return Effects(writes=writes, events=(more,) if len(waiting) > len(writes) else ())

    def _some_embedded(self, scope: Scope, waiting: Sequence[UUID]) -> tuple[SaveEpisodeVector, ...]:
        for start in range(0, len(waiting), _AT_ONCE):
            found = (self._read(scope, each) for each in waiting[start : start + _AT_ONCE])
            if writes := tuple(self._embedded([episode for episode in found if episode])):
                return writes
        return ()

    def _read(self, scope: Scope, episode_id: UUID) -> Episode | None:
        """Return the episode; None if it is gone or waits for a release that can read it."""
        try:
            return self._context.episodes.get(scope, episode_id)
        except Misconfigured as error:
            _log.warning("episode.unreadable", reason=str(error), id=str(episode_id), hint="it gets no vector")
            return None

    def _embedded(self, episodes: Sequence[Episode]) -> Iterator[SaveEpisodeVector]:
        """Yield the vectors of *episodes*. The texts of a rejected batch are embedded one by one."""
        embedder = self._context.embedder
        try:
            vectors = embedder.embed([episode.summary.text for episode in episodes]) if episodes else ()
        except BadInput as error:
            if len(episodes) == 1:
                hint = "search finds it by its words alone"
                _log.warning("episode.embedding_rejected", reason=str(error), id=str(episodes[0].id), hint=hint)
                return
            for each in episodes:
                yield from self._embedded([each])
            return
        for each, vector in zip(episodes, vectors, strict=True):
            yield SaveEpisodeVector(
                scope=each.scope, episode_id=each.id, of=each.state, embedder=embedder.id, vector=vector
            )


WORKER = Worker(NAME, EpisodesUnembedded, EpisodeEmbedder, emits=(EpisodesUnembedded,))
