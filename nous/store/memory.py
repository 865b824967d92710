"""In-memory store of episodes, facts, session states and uploads, for tests and experiments."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.anchored_summary import StoredAnchoredSummary
from nous.domain.effects import (
    AppendFacts,
    ExpectAnchoredSummary,
    ExpectEpisode,
    ExpectSessionState,
    RecordResummaryAttempt,
    ReleaseTranscript,
    RemoveFromResummaries,
    SaveAnchoredSummary,
    SaveDecision,
    SaveEpisode,
    SaveEpisodeVector,
    SaveSessionState,
    Write,
)
from nous.domain.episode import Decision, Episode, Tier, episode_id
from nous.domain.errors import Retryable
from nous.domain.events import Event
from nous.domain.fact import LogVersion
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED, SessionState, SessionStatus
from nous.domain.summary_input import SummaryInput
from nous.store.base import LogSlice, in_order
from nous.store.fact_rows import Continuation, LogEntry, Slot, VectorSlot, as_rows, continuation, slice_of, version_at
from nous.store.keys import StoreKeys
from nous.store.transcript_source import key_of, upload_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True)
class _Log:
    version: LogVersion = field(default_factory=LogVersion)
    entries: list[LogEntry] = field(default_factory=list[LogEntry])
    vectors: dict[VectorSlot, bytes] = field(default_factory=dict[VectorSlot, bytes])

    def continues(self, version: LogVersion) -> bool:
        """Return whether this log was once at *version* and has only grown since."""
        if version.epoch != self.version.epoch or version.n > self.version.n:
            return False
        return version.n == 0 or self.entries[version.n - 1].chain == version.chain

    def extend(self, added: Continuation) -> None:
        self.version = added.version
        self.entries.extend(added.entries)
        self.vectors.update(added.vectors)

    def pick(self, places: Sequence[VectorSlot]) -> Sequence[bytes]:
        return [self.vectors[place] for place in places]


class MemoryStore:
    """Thread-safe in-memory store with all ports of `nous.store.base`; *keys* name uploads."""

    def __init__(self, keys: StoreKeys | None = None) -> None:
        self._keys = keys or StoreKeys()
        self._lock = RLock()
        self._episodes: dict[Scope, dict[UUID, Episode]] = {}
        self._earlier: dict[tuple[Scope, UUID], list[Episode]] = {}
        self._episode_vectors: dict[tuple[Scope, UUID, str], tuple[str, NDArray[np.float32]]] = {}
        self._summary_inputs: dict[tuple[Scope, UUID], SummaryInput] = {}
        self._unrefined: dict[tuple[Scope, UUID], str] = {}
        self._anchors: dict[tuple[Scope, str, str], StoredAnchoredSummary] = {}
        self._decisions: dict[tuple[Scope, UUID], dict[UUID, Decision]] = {}
        self._session_states: dict[tuple[Scope, str], SessionState] = {}
        self._logs: dict[Scope, _Log] = {}
        self._uploads: dict[str, bytes] = {}

    def apply(self, writes: Iterable[Write]) -> str | None:
        """Apply all, or none and return the broken precondition. Raises `BadInput`, `Misconfigured`."""
        prepared = [(write, continuation(write) if isinstance(write, AppendFacts) else None) for write in writes]
        with self._lock:
            for write, _ in prepared:
                if reason := self._conflict(write):
                    return reason
            for write, added in prepared:
                self._do(write, added)
        return None

    def get(self, scope: Scope, episode_id: UUID) -> Episode | None:
        with self._lock:
            return self._episodes.get(scope, {}).get(episode_id)

    def editions(self, scope: Scope, episode_id: UUID) -> Sequence[Episode]:
        with self._lock:
            current = self.get(scope, episode_id)
            return (current, *reversed(self._earlier.get((scope, episode_id), ()))) if current else ()

    def summary_input(self, scope: Scope, episode_id: UUID) -> SummaryInput | None:
        with self._lock:
            return self._summary_inputs.get((scope, episode_id))

    def unrefined(self, *, but: Collection[str] = ()) -> Iterator[tuple[Scope, UUID]]:
        with self._lock:
            return iter([place for place, tried in self._unrefined.items() if tried not in but])

    def episode_vectors(
        self, scope: Scope, episode_ids: Sequence[UUID], *, embedder: str
    ) -> "dict[UUID, NDArray[np.float32]]":
        with self._lock:
            kept = {each: self._episode_vectors.get((scope, each, embedder)) for each in episode_ids}
        return {episode_id: found[1] for episode_id, found in kept.items() if found}

    def without_vector(self, scope: Scope, *, embedder: str) -> Sequence[UUID]:
        with self._lock:
            kept = {
                id_: found[0]
                for (where, id_, by), found in self._episode_vectors.items()
                if (where, by) == (scope, embedder)
            }
            return [each.id for each in self.recent(scope, 10**9) if kept.get(each.id) != each.state]

    def anchored_summary(self, scope: Scope, *, agent_id: str, session_id: str) -> StoredAnchoredSummary | None:
        with self._lock:
            return self._anchors.get((scope, agent_id, session_id))

    def of_scope(self, scope: Scope) -> Sequence[StoredAnchoredSummary]:
        with self._lock:
            found = [anchor for (where, *_), anchor in self._anchors.items() if where == scope]
        return sorted(found, key=lambda anchor: anchor.at, reverse=True)

    def get_episode_decisions(self, episode_id: UUID, *, scope: Scope) -> Sequence[Decision]:
        with self._lock:
            return in_order(self._decisions.get((scope, episode_id), {}).values())

    def session_state(self, scope: Scope, session_id: str) -> SessionState | None:
        with self._lock:
            return self._session_states.get((scope, session_id))

    def sessions(
        self, stage: SessionStatus, *, before: datetime | None = None, limit: int = 100
    ) -> Sequence[tuple[Scope, str]]:
        if stage not in UNFINISHED:
            return ()
        with self._lock:
            known = [(each.since, place) for place, each in self._session_states.items() if each.status is stage]
        found = sorted((since, place) for since, place in known if since and (before is None or since < before))
        return [place for _, place in found[:limit]]

    def recent(self, scope: Scope, limit: int = 50) -> Sequence[Episode]:
        with self._lock:
            episodes = list(self._episodes.get(scope, {}).values())
        newest_first = sorted(episodes, key=lambda episode: (episode.ended_at, str(episode.id)), reverse=True)
        return newest_first[: max(limit, 0)]

    def count(self, scope: Scope) -> int:
        with self._lock:
            return len(self._episodes.get(scope, {}))

    def scopes_of(self, session_id: str) -> Sequence[Scope]:
        return [scope for scope in self.scopes() if self.get(scope, episode_id(scope, session_id))]

    def scopes(self) -> Sequence[Scope]:
        with self._lock:
            return sorted(self._episodes.keys() | self._logs.keys())

    def read(
        self, scope: Scope, *, after: LogVersion | None = None, embedder: str | None = None, limit: int | None = None
    ) -> LogSlice:
        with self._lock:
            log = self._logs.get(scope, _Log())
            start = after.n if after and log.continues(after) else 0
            rows = log.entries[start:][:limit]
            version = version_at(rows, log.version, after=after if start else None)
            return slice_of(rows, version, complete=start == 0, embedder=embedder, fetch=log.pick)

    def vectors(
        self, scope: Scope, slots: Sequence[int], *, embedder: str, dim: int, at: LogVersion
    ) -> "NDArray[np.float32]":
        places = [VectorSlot(embedder, Slot(index, dim)) for index in slots]
        with self._lock:
            log = self._logs.get(scope, _Log())
            if not log.continues(at):
                raise Retryable(f"the fact log of {scope} was rewritten while it was read")
            return as_rows(log.pick(places), places, dim)

    def put(self, key: str, packed: bytes) -> None:
        with self._lock:
            self._uploads[key] = packed

    def fetch(self, key: str) -> bytes | None:
        with self._lock:
            return self._uploads.get(key)

    def has_upload(self, event: Event) -> bool:
        """Return whether the upload of *event* is there, or the event has none."""
        key = upload_of(event, keys=self._keys)
        with self._lock:
            return key is None or key in self._uploads

    def _conflict(self, write: Write) -> str | None:
        match write:
            case SaveEpisode(episode=episode, replaces=replaces):
                found, expected = self._state(episode.scope, episode.id), replaces.state if replaces else ""
                what = f"episode {episode.id}"
            case (
                ExpectEpisode(scope=scope, episode_id=episode_id, state=expected)
                | SaveEpisodeVector(scope=scope, episode_id=episode_id, of=expected)
            ):
                found, what = self._state(scope, episode_id), f"episode {episode_id}"
            case AppendFacts(scope=scope, expected=expected):
                found, what = self._logs.get(scope, _Log()).version, f"fact log of {scope}"
            case SaveAnchoredSummary(anchor=anchor, replaces=expected):
                found = self._anchored_by(anchor.scope, anchor.agent_id, anchor.session_id)
                what = f"anchored summary of session {anchor.session_id}"
            case ExpectAnchoredSummary(scope=scope, agent_id=agent_id, session_id=session_id, event_id=expected):
                found = self._anchored_by(scope, agent_id, session_id)
                what = f"anchored summary of session {session_id}"
            case SaveSessionState(session_state=session_state, replaces=replaces):
                found = self._moved_by(session_state.scope, session_state.session_id)
                expected, what = replaces.by if replaces else None, f"state of session {session_state.session_id}"
            case ExpectSessionState(scope=scope, session_id=session_id, by=expected):
                found, what = self._moved_by(scope, session_id), f"state of session {session_id}"
            case ReleaseTranscript() | SaveDecision() | RecordResummaryAttempt() | RemoveFromResummaries():
                return None
        return None if found == expected else f"{what} has changed"

    def _state(self, scope: Scope, episode_id: UUID) -> str:
        stored = self.get(scope, episode_id)
        return stored.state if stored else ""

    def _anchored_by(self, scope: Scope, agent_id: str, session_id: str) -> UUID | None:
        stored = self.anchored_summary(scope, agent_id=agent_id, session_id=session_id)
        return stored.event_id if stored else None

    def _moved_by(self, scope: Scope, session_id: str) -> UUID | None:
        stored = self.session_state(scope, session_id)
        return stored.by if stored else None

    def _save(self, write: SaveEpisode) -> None:
        episode, place = write.episode, (write.episode.scope, write.episode.id)
        if write.replaces:
            self._earlier.setdefault(place, []).append(write.replaces)
        if write.summary_input:
            self._summary_inputs[place] = write.summary_input
        if episode.tier is Tier.LLM:
            self._unrefined.pop(place, None)
        elif write.summary_input:
            self._unrefined[place] = ""
        self._episodes.setdefault(episode.scope, {})[episode.id] = episode

    def _do(self, write: Write, added: Continuation | None) -> None:
        match write:
            case SaveEpisode():
                self._save(write)
            case SaveAnchoredSummary(anchor=anchor):
                self._anchors[anchor.scope, anchor.agent_id, anchor.session_id] = anchor
            case RecordResummaryAttempt(scope=scope, episode_id=episode_id, by=by):
                self._unrefined[scope, episode_id] = by
            case RemoveFromResummaries(scope=scope, episode_id=episode_id):
                self._unrefined.pop((scope, episode_id), None)
            case SaveEpisodeVector(scope=scope, episode_id=episode_id, embedder=embedder, vector=vector, of=of):
                self._episode_vectors[scope, episode_id, embedder] = of, vector
            case SaveDecision(scope=scope, episode_id=episode_id, event_id=event_id, decision=decision):
                self._decisions.setdefault((scope, episode_id), {})[event_id] = decision
            case SaveSessionState(session_state=session_state):
                self._session_states[session_state.scope, session_state.session_id] = session_state
            case AppendFacts(scope=scope):
                if added and added.entries:
                    self._logs.setdefault(scope, _Log()).extend(added)
            case ExpectEpisode() | ExpectAnchoredSummary() | ExpectSessionState():
                pass
            case ReleaseTranscript(scope=scope, dataref=dataref):
                self._uploads.pop(key_of(dataref, within=self._keys.transcripts_of(scope)) or "", None)
