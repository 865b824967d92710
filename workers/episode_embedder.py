"""episodes_unembedded → nothing but vectors: by which episodes are found that had to do, or came, without one."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Self
from uuid import UUID

import structlog

from nous.domain.effects import Effects, KeepVector
from nous.domain.episode import Episode
from nous.domain.errors import BadInput, Deferred, Misconfigured, Unavailable
from nous.domain.events import EpisodesUnembedded, Event
from nous.domain.scope import Scope
from nous.pipeline.worker import Kit, Worker

NAME = "episode-embedder"
NOTHING_WAITS = "every episode that can be embedded has its vector"

_AT_ONCE = 32
_LOOK_AGAIN = timedelta(minutes=1)

_log = structlog.stdlib.get_logger(__name__)


class EpisodeEmbedder:
    """Embeds episodes of whose current edition the embedder that is set has made no vector.

    It takes some at a time, those that ended last first, and says when more are left. While the embedder is out, it
    waits. An episode that cannot be read, or whose text the embedder will not take, keeps none of the others waiting.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @classmethod
    def from_kit(cls, kit: Kit) -> Self:
        return cls(kit)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, EpisodesUnembedded):
            raise TypeError(f"{NAME} consumes {EpisodesUnembedded.type}, not {event.type}")
        try:
            waiting = self._kit.episode_vectors.without_vector(event.scope, embedder=self._kit.embedder.id)
            writes = self._some_embedded(event.scope, waiting)
        except Unavailable as error:
            raise Deferred(str(error), until=self._kit.clock() + _LOOK_AGAIN) from error
        if not writes:
            return Effects(skipped=NOTHING_WAITS)
        more = EpisodesUnembedded.after(event, by=NAME, at=self._kit.clock())
        return Effects(writes=writes, events=(more,) if len(waiting) > len(writes) else ())

    def _some_embedded(self, scope: Scope, waiting: Sequence[UUID]) -> tuple[KeepVector, ...]:
        """The vectors of the first of those *waiting* that can be embedded."""
        for start in range(0, len(waiting), _AT_ONCE):
            found = (self._read(scope, each) for each in waiting[start : start + _AT_ONCE])
            if writes := tuple(self._embedded([episode for episode in found if episode])):
                return writes
        return ()

    def _read(self, scope: Scope, episode_id: UUID) -> Episode | None:
        """The episode; None where it is gone, or this release cannot read it: then it waits for one that can."""
        try:
            return self._kit.episodes.get(scope, episode_id)
        except Misconfigured as error:
            reason, told = str(error), f"{NAME} {scope} {episode_id}"
            _log.warning(
                "an episode cannot be read, and gets no vector", reason=reason, id=str(episode_id), seldom=told
            )
            return None

    def _embedded(self, episodes: Sequence[Episode]) -> Iterator[KeepVector]:
        """The vectors of those of *episodes* that can be embedded."""
        embedder = self._kit.embedder
        try:
            vectors = embedder.embed([episode.summary.text for episode in episodes]) if episodes else ()
        except BadInput as error:
            if len(episodes) == 1:
                _log.warning("an episode is found by its words alone", reason=str(error), id=str(episodes[0].id))
                return
            for half in (episodes[: len(episodes) // 2], episodes[len(episodes) // 2 :]):
                yield from self._embedded(half)
            return
        for each, vector in zip(episodes, vectors, strict=True):
            yield KeepVector(scope=each.scope, episode_id=each.id, of=each.state, embedder=embedder.id, vector=vector)


WORKER = Worker(NAME, EpisodesUnembedded, EpisodeEmbedder.from_kit, emits=(EpisodesUnembedded,))
