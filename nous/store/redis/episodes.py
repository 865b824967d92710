"""Read episodes, the resummarize queue, session states and anchored summaries from Redis."""

import zlib
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson

from nous.domain.anchored_summary import AnchoredSummary, StoredAnchoredSummary
from nous.domain.episode import Episode, episode_id
from nous.domain.errors import Misconfigured
from nous.domain.record_codec import decode
from nous.domain.scope import Scope
from nous.domain.session_state import SessionState, SessionStatus
from nous.domain.summary_input import SummaryInput
from nous.store.keys import anchor_name, member_named
from nous.store.redis import StorePart

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def packed(summary_input: SummaryInput) -> bytes:
    """Encode a summary input. Lone surrogates, which cannot be stored, become question marks."""
    windows = [
        [[text.encode(errors="replace").decode(), role, turn] for text, role, turn in segments]
        for segments in summary_input.windows
    ]
    heading = summary_input.heading.encode(errors="replace").decode()
    content: dict[str, Any] = {"windows": windows, "decisions": summary_input.decisions, "heading": heading}
    return zlib.compress(orjson.dumps(content, option=orjson.OPT_UTC_Z))


def unpacked(raw: bytes) -> SummaryInput:
    """Decode what `packed` wrote. Raises `Misconfigured` if it is something else."""
    try:
        return decode(SummaryInput, zlib.decompress(raw))
    except zlib.error:
        raise Misconfigured("the store holds a summary input that this release cannot read") from None


class RedisEpisodes(StorePart):
    def get(self, scope: Scope, episode_id: UUID) -> Episode | None:
        stored = self._ask("HGET", self._keys.episodes(scope), str(episode_id))
        return None if stored is None else decode(Episode, stored)

    def editions(self, scope: Scope, episode_id: UUID) -> Sequence[Episode]:
        current = self.get(scope, episode_id)
        if current is None:
            return ()
        names = [f"{episode_id}/{number}" for number in range(current.edition - 1, 0, -1)]
        stored = self._ask("HMGET", self._keys.episode_editions(scope), *names) if names else ()
        return (current, *(decode(Episode, earlier) for earlier in stored if earlier is not None))

    def recent(self, scope: Scope, limit: int = 50) -> Sequence[Episode]:
        if limit < 1:
            return ()
        names = self._ask("ZRANGE", self._keys.episodes_by_end(scope), 0, limit - 1, "REV")
        stored = self._ask("HMGET", self._keys.episodes(scope), *names) if names else ()
        # An episode that was erased between the two commands is None.
        return tuple(decode(Episode, episode) for episode in stored if episode is not None)

    def count(self, scope: Scope) -> int:
        return self._ask("HLEN", self._keys.episodes(scope))

    def scopes_of(self, session_id: str) -> Sequence[Scope]:
        known = ((scope, self._keys.episodes(scope), str(episode_id(scope, session_id))) for scope in self.scopes())
        return [scope for scope, key, name in known if self._ask("HEXISTS", key, name)]

    def scopes(self) -> Sequence[Scope]:
        return sorted(Scope.parse(name.decode()) for name in self._ask("SMEMBERS", self._keys.scopes))

    def episode_vectors(
        self, scope: Scope, episode_ids: Sequence[UUID], *, embedder: str
    ) -> "dict[UUID, NDArray[np.float32]]":
        import numpy as np  # noqa: PLC0415 (only vectors need it)

        names = [str(episode_id) for episode_id in episode_ids]
        stored = self._ask("HMGET", self._keys.episode_vectors(scope, embedder), *names) if names else ()
        pairs = zip(episode_ids, stored, strict=True)
        return {episode_id: np.frombuffer(raw, dtype="<f4") for episode_id, raw in pairs if raw is not None}

    def without_vector(self, scope: Scope, *, embedder: str) -> Sequence[UUID]:
        names = self._ask("ZRANGE", self._keys.episodes_by_end(scope), 0, -1, "REV")
        if not names:
            return ()
        current = self._ask("HMGET", self._keys.episode_versions(scope), *names)
        states = self._ask("HMGET", self._keys.episode_vector_states(scope, embedder), *names)
        found = zip(names, current, states, strict=True)
        return [UUID(name.decode()) for name, now, of in found if now and now != of]

    def summary_input(self, scope: Scope, episode_id: UUID) -> SummaryInput | None:
        stored = self._ask("HGET", self._keys.summary_inputs(scope), str(episode_id))
        return None if stored is None else unpacked(stored)

    def unrefined(self, *, but: Collection[str] = ()) -> Iterator[tuple[Scope, UUID]]:
        cursor = 0
        while True:
            cursor, found = self._ask("HSCAN", self._keys.unrefined, cursor, "COUNT", 500)
            pairs = found.items() if isinstance(found, dict) else zip(found[::2], found[1::2], strict=True)
            places = (member_named(name) for name, tried in pairs if tried.decode() not in but)
            yield from ((scope, UUID(episode_id)) for scope, episode_id in places)
            if int(cursor) == 0:
                return


STATE_HEAD = 36
"""Characters of the event id before a stored session state. A commit compares it without decoding the rest, which
another release may have written.
"""


class RedisSessionStates(StorePart):
    def session_state(self, scope: Scope, session_id: str) -> SessionState | None:
        stored: bytes | None = self._ask("GET", self._keys.session_state(scope, session_id))
        return None if stored is None else decode(SessionState, stored[STATE_HEAD:])

    def sessions(
        self, stage: SessionStatus, *, before: datetime | None = None, limit: int = 100
    ) -> Sequence[tuple[Scope, str]]:
        until = f"({before.timestamp()!r}" if before else "+inf"
        names = self._ask("ZRANGEBYSCORE", self._keys.sessions_at(stage), "-inf", until, "LIMIT", 0, limit)
        return [member_named(name) for name in names]


class RedisAnchoredSummaries(StorePart):
    def anchored_summary(self, scope: Scope, *, agent_id: str, session_id: str) -> StoredAnchoredSummary | None:
        stored = self._ask("HGET", self._keys.anchors(scope), anchor_name(agent_id, session_id))
        return None if stored is None else _read(stored)

    def of_scope(self, scope: Scope) -> Sequence[StoredAnchoredSummary]:
        stored: list[bytes] = self._ask("HVALS", self._keys.anchors(scope))
        return sorted(map(_read, stored), key=lambda found: found.at, reverse=True)


def _read(stored: bytes) -> StoredAnchoredSummary:
    found = decode(StoredAnchoredSummary, stored)
    if found.summary.schema_version != AnchoredSummary.SCHEMA_VERSION:
        raise Misconfigured(f"the anchored summary of session {found.session_id!r} needs another release of nous")
    return found
