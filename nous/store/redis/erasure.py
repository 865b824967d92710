"""Erase a session's or scope's data, or episodes' candidate facts, in Redis; edit records."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote
from uuid import UUID

import orjson

from nous.domain.anchored_summary import StoredAnchoredSummary
from nous.domain.episode import Decision, Episode, episode_id
from nous.domain.fact import Row, occurrences
from nous.domain.record_codec import decode, encode
from nous.domain.scope import Scope
from nous.domain.session_state import UNFINISHED
from nous.domain.summary_input import SummaryInput
from nous.knowledge.candidate_filter import without_candidates
from nous.redis_support.errors import translated
from nous.store.keys import anchor_name, member_name
from nous.store.redis.episodes import packed, unpacked
from nous.store.redis.fact_log import RedisLogRewriter
from nous.store.transcript_source import compacting_name

_NOT_REMOVED = frozenset({"forgotten", "aside", "rewriting"})
"""Tombstones stay, and copies of streams. The lock of a log is removed by who has taken it."""
_SIZES = {b"hash": "HLEN", b"list": "LLEN", b"zset": "ZCARD", b"set": "SCARD"}
_MEMBERS = {b"hash": ("HEXISTS", "HDEL"), b"zset": ("ZSCORE", "ZREM"), b"set": ("SISMEMBER", "SREM")}


class Trace(NamedTuple):
    """Members of a key to remove (None: the key itself), counted under the name *what*."""

    what: str
    key: str
    members: tuple[str, ...] | None = None


_RECORDS: dict[str, tuple[str, type[Any]]] = {
    "episodes": ("episodes", Episode),
    "episode-editions": ("earlier editions", Episode),
    "anchors": ("anchored summaries", StoredAnchoredSummary),
    "decisions": ("decisions", Decision),
    "briefs": ("summary inputs", SummaryInput),
}
"""Names and types of the records in hashes, by the kind of the key."""


class RedisErasure(RedisLogRewriter):
    """Removes stored data on one Redis primary; returns the number of removed items by store.

    With *dry_run* nothing is removed, only counted. Every method is idempotent and can be repeated after a failure; it
    then finds less to do. Each raises `Unavailable` if the store does not answer.
    """

    def episodes(self, scope: Scope) -> frozenset[UUID]:
        """Return the episode ids of all sessions that left data in *scope*."""
        keys = self._keys
        named = [*self._ask("HKEYS", keys.episodes(scope)), *self._ask("HKEYS", keys.summary_inputs(scope))]
        found = {UUID(name.decode()) for name in named}
        found |= {UUID(key.rpartition(":")[2]) for key in self._named(scope, "decisions")}
        sessions = {unquote(name.decode().partition("/")[2]) for name in self._ask("HKEYS", keys.anchors(scope))}
        sessions |= {unquote(key.rpartition(":")[2]) for key in self._named(scope, "courses")}
        sessions |= {each.source.session_id for each in occurrences(self.rows(scope))}
        return frozenset(found | {episode_id(scope, session) for session in sessions})

    def rows(self, scope: Scope) -> Sequence[Row]:
        return [entry.row for entry in self.tail(scope)[1]]

    def aliases(self, scope: Scope, session_id: str, claimed: Iterable[tuple[str, str]]) -> frozenset[str]:
        """Return ids that a session's producer gave its episode; not those of other sessions.

        *claimed* are further pairs of a session and such an id.
        """
        keys = self._keys
        claims = {*claimed, *self._claims(scope)}
        own = {alias for session, alias in claims if session == session_id}
        of_others = {alias for session, alias in claims if session != session_id}
        is_session = {
            alias: self._ask("HEXISTS", keys.episodes(scope), str(episode_id(scope, alias)))
            or self._ask("EXISTS", keys.session_state(scope, alias))
            for alias in own - of_others
        }
        return frozenset(alias for alias, is_taken in is_session.items() if not is_taken)

    def _claims(self, scope: Scope) -> Iterator[tuple[str, str]]:
        for key in (self._keys.episodes(scope), self._keys.episode_editions(scope)):
            with translated():
                for _, raw in self._client.hscan_iter(key, count=1000):
                    record = orjson.loads(raw)  # no more is needed of an episode, whichever release wrote it
                    if external := record.get("external_id"):
                        yield record["session_id"], external

    def session(
        self, scope: Scope, session_id: str, *, aliases: Iterable[str] = (), dry_run: bool = False
    ) -> Counter[str]:
        """Remove what is stored for a session, but no rows of facts; of *aliases* only decisions."""
        named = (self._keys.decisions(scope, episode_id(scope, alias)) for alias in aliases)
        found = (*self._traces(scope, session_id), *(Trace("decisions", key) for key in named))
        return self._remove(found, dry_run=dry_run)

    def candidates(self, scope: Scope, forms: Collection[str], *, dry_run: bool = False) -> Counter[str]:
        """Remove candidate facts with one of *forms* from every edition of every episode."""
        gone = lost = 0

        def without(episode: Episode) -> Episode:
            nonlocal lost
            left = without_candidates(episode, forms)
            lost = _candidates_of(episode) - _candidates_of(left)
            return left

        for key in (self._keys.episodes(scope), self._keys.episode_editions(scope)):
            for name in self._ask("HKEYS", key):
                is_changed = self._replaced(name, (key,), partial(_rewritten, Episode, without), dry_run=dry_run)
                gone += lost if is_changed else 0
        return Counter({"candidate facts": gone})

    def everything(self, scope: Scope, *, dry_run: bool = False) -> Counter[str]:
        found = (Trace(what.replace("-", " "), key) for key, what in self._all(scope))
        members = member_name(scope, "") + "*"
        unrefined = Trace("index entries", *self._matching(self._keys.unrefined, members))
        listed = self._listed(members)
        known = Trace("index entries", self._keys.scopes, (str(scope),))
        return self._remove((*found, unrefined, *listed, known), dry_run=dry_run)

    def rewrite_records(
        self, scope: Scope, change: Callable[[Any], Any], *, dry_run: bool = False
    ) -> Iterator[tuple[str, bool]]:
        """Replace each record outside of the fact log by what *change* returns for it.

        A record that others replace meanwhile is read again. A changed episode loses its vectors. Yields each record's
        kind, and whether it has changed. Summary inputs come last: they have most of the context by which secrets are
        found, so the next run finds them again if this one breaks off.
        """
        vectors = [key for each in ("episode-vectors", "episode-vector-states") for key in self._named(scope, each)]
        for kind, (what, type_) in _RECORDS.items():
            new_of = partial(_rewritten, type_, change)
            for key in self._named(scope, kind):
                keys = (key, *(vectors if kind == "episodes" else ()))
                for name in self._ask("HKEYS", key):
                    yield what, self._replaced(name, keys, new_of, dry_run=dry_run)

    def _replaced(self, name: bytes, keys: Sequence[str], new_of: Callable[[bytes], bytes], *, dry_run: bool) -> bool:
        while (raw := self._ask("HGET", keys[0], name)) is not None and (new := new_of(raw)) != raw:
            if dry_run or self._run("replace_key", keys, (name, raw, new)):
                return True
        return False

    def _traces(self, scope: Scope, session_id: str) -> Iterator[Trace]:
        """Yield everything stored for a session, except rows of the fact log."""
        keys, episode = self._keys, episode_id(scope, session_id)
        name, anchored = str(episode), f"*{anchor_name('', session_id)}"
        yield Trace("episodes", keys.episodes(scope), (name,))
        yield Trace("earlier editions", *self._matching(keys.episode_editions(scope), f"{name}/*"))
        yield Trace("briefs", keys.summary_inputs(scope), (name,))
        yield Trace("decisions", keys.decisions(scope, episode))
        yield Trace("courses", keys.session_state(scope, session_id))
        yield Trace("anchored summaries", *self._matching(keys.anchors(scope), anchored))
        for key in self._named(scope, "episode-vectors"):
            yield Trace("episode vectors", key, (name,))
        for key in self._named(scope, "episode-vector-states"):
            yield Trace("index entries", key, (name,))
        for uploaded in (session_id, compacting_name(session_id)):
            for key in self._scan(keys.transcript(scope, uploaded, digest="*")):
                yield Trace("uploaded transcripts", key)
        yield Trace("index entries", keys.episode_versions(scope), (name,))
        yield Trace("index entries", keys.episodes_by_end(scope), (name,))
        yield from self._listed(member_name(scope, session_id))
        yield Trace("index entries", keys.unrefined, (member_name(scope, episode),))
        yield Trace("index entries", *self._matching(keys.anchor_states(scope), anchored))

    def _remove(self, traces: Iterable[Trace], *, dry_run: bool) -> Counter[str]:
        counts = Counter[str]()
        for what, key, members in traces:
            with translated():
                kind: bytes = self._client.type(key)
                if members and kind in _MEMBERS:
                    asks, removes = _MEMBERS[kind]
                    found = [each for each in members if self._ask(asks, key, each) not in {None, 0}]
                    counts[what] += len(found)
                    if found and not dry_run:
                        self._ask(removes, key, *found)
                elif members is None and kind != b"none":
                    counts[what] += self._ask(_SIZES[kind], key) if kind in _SIZES else 1
                    if not dry_run:
                        self._client.unlink(key)
        return +counts

    def _matching(self, key: str, pattern: str) -> tuple[str, tuple[str, ...]]:
        with translated():
            return key, tuple(name.decode() for name, _ in self._client.hscan_iter(key, match=pattern, count=1000))

    def _listed(self, pattern: str) -> Iterator[Trace]:
        """Yield the matching sessions in each of the sets that list sessions by status."""
        for key in map(self._keys.sessions_at, UNFINISHED):
            with translated():
                names = tuple(name.decode() for name, _ in self._client.zscan_iter(key, match=pattern, count=1000))
            yield Trace("index entries", key, names)

    def _all(self, scope: Scope) -> Iterator[tuple[str, str]]:
        """Yield every key of *scope*, of any owner, with its kind; except those in `_NOT_REMOVED`."""
        for key in self._scan(f"{self._keys.prefix}:*"):
            what = self._keys.of_scope(key, scope)
            if what and what not in _NOT_REMOVED:
                yield key, what

    def _named(self, scope: Scope, what: str) -> Iterator[str]:
        return (key for key, named in self._all(scope) if named == what)

    def _scan(self, pattern: str) -> Iterator[str]:
        with translated():
            yield from sorted({key.decode() for key in self._client.scan_iter(pattern, count=1000)})


def _candidates_of(episode: Episode) -> int:
    return len(episode.candidate_facts) + len(episode.quarantined)


def _rewritten(kind: type[Any], change: Callable[[Any], Any], raw: bytes) -> bytes:
    """Return the stored record *raw* as *change* returns it; *raw* itself if it stays as it is."""
    record = unpacked(raw) if kind is SummaryInput else decode(kind, raw)
    new = change(record)
    if new == record:
        return raw
    return packed(new) if kind is SummaryInput else encode(new)
