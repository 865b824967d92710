"""Writes as plans: for each what has to hold, and what is done then.

No command does harm when it is run again after the same checks, so a commit that broke off half-way can be repeated.
"""

from collections.abc import Iterator
from uuid import UUID

from nous.bus.redis.commit import Check, Command, Plan
from nous.domain.effects import (
    AppendFacts,
    ExpectAnchor,
    ExpectCourse,
    ExpectEpisode,
    KeepDecision,
    KeepVector,
    NoteCourse,
    NoteTried,
    ReleaseTranscript,
    SaveAnchor,
    SaveEpisode,
    StopOffering,
    Write,
)
from nous.domain.episode import Tier
from nous.domain.fact import LogVersion
from nous.domain.record_codec import encode
from nous.domain.scope import Scope
from nous.store.fact_rows import Continuation, continuation, runs
from nous.store.keys import StoreKeys, anchor_name, unrefined_name
from nous.store.redis.episodes import packed
from nous.store.redis.sessions import course_plan, is_still_at
from nous.store.transcript_source import key_of

_ROWS_PER_COMMAND = 1000
"""Lua's unpack, which hands arguments to a command, fails near 8,000."""


def plan_for(write: Write, keys: StoreKeys) -> Plan:
    """What a commit has to check and do for *write*.

    Raises:
        BadInput: it holds what cannot be stored.
        Misconfigured: its vectors do not fit each other.
    """
    match write:
        case SaveEpisode():
            return _save(write, keys)
        case NoteTried():
            return _note(write, keys)
        case StopOffering():
            return Plan(commands=(_unlisted(write.scope, write.episode_id, keys),))
        case KeepVector():
            return _keep_vector(write, keys)
        case KeepDecision():
            return _keep(write, keys)
        case SaveAnchor():
            return _anchor(write, keys)
        case AppendFacts():
            return _append(write, keys)
        case ExpectEpisode():
            return Plan(checks=(_is_still(write, keys),))
        case ExpectAnchor():
            return Plan(checks=(_is_still_anchored(write, keys),))
        case ExpectCourse():
            return Plan(checks=(is_still_at(write.by, keys.course(write.scope, write.session_id)),))
        case ReleaseTranscript():
            return _release(write, keys)
        case NoteCourse():
            return course_plan(write, keys)


def _save(write: SaveEpisode, keys: StoreKeys) -> Plan:
    episode, scope, name = write.episode, write.episode.scope, str(write.episode.id)
    states = keys.episode_versions(scope)
    expected = write.replaces.state if write.replaces else ""
    return Plan(
        checks=(Check("HGET", states, (name,), expected),),
        commands=(
            *_set_aside(write, keys),
            *_prepared(write, keys),
            Command("HSET", keys.episodes(scope), (name, encode(episode))),
            Command("HSET", states, (name, episode.state)),
            Command("ZADD", keys.episodes_by_end(scope), (episode.ended_at.timestamp(), name)),
            Command("SADD", keys.scopes, (str(scope),)),
        ),
    )


def _set_aside(write: SaveEpisode, keys: StoreKeys) -> Iterator[Command]:
    """Keep the edition that is replaced."""
    if write.replaces:
        name = f"{write.replaces.id}/{write.replaces.edition}"
        yield Command("HSET", keys.episode_editions(write.episode.scope), (name, encode(write.replaces)))


def _prepared(write: SaveEpisode, keys: StoreKeys) -> Iterator[Command]:
    """Keep what it takes to make the episode anew, and whether that is still to come."""
    scope, episode_id = write.episode.scope, write.episode.id
    if write.brief:
        yield Command("HSET", keys.briefs(scope), (str(episode_id), packed(write.brief)))
    if write.episode.tier is Tier.LLM:
        yield _unlisted(scope, episode_id, keys)
    elif write.brief:
        yield Command("HSET", keys.unrefined, (unrefined_name(scope, episode_id), ""))


def _unlisted(scope: Scope, episode_id: UUID, keys: StoreKeys) -> Command:
    return Command("HDEL", keys.unrefined, (unrefined_name(scope, episode_id),))


def _is_still(write: ExpectEpisode, keys: StoreKeys) -> Check:
    return Check("HGET", keys.episode_versions(write.scope), (str(write.episode_id),), write.state)


def _is_still_anchored(write: ExpectAnchor, keys: StoreKeys) -> Check:
    name = anchor_name(write.agent_id, write.session_id)
    return Check("HGET", keys.anchor_states(write.scope), (name,), str(write.event_id or ""))


def _note(write: NoteTried, keys: StoreKeys) -> Plan:
    name = unrefined_name(write.scope, write.episode_id)
    return Plan(commands=(Command("HSET", keys.unrefined, (name, write.by)),))


def _keep(write: KeepDecision, keys: StoreKeys) -> Plan:
    kept = keys.decisions(write.scope, write.episode_id)
    return Plan(commands=(Command("HSET", kept, (str(write.event_id), encode(write.decision))),))


def _keep_vector(write: KeepVector, keys: StoreKeys) -> Plan:
    name, vector = str(write.episode_id), write.vector.astype("<f4").tobytes()
    states = keys.episode_vector_states(write.scope, write.embedder)
    return Plan(
        checks=(Check("HGET", keys.episode_versions(write.scope), (name,), write.of),),
        commands=(
            # In this order: one that breaks off leaves a vector without its state, which is made again.
            Command("HDEL", states, (name,)),
            Command("HSET", keys.episode_vectors(write.scope, write.embedder), (name, vector)),
            Command("HSET", states, (name, write.of)),
        ),
    )


def _anchor(write: SaveAnchor, keys: StoreKeys) -> Plan:
    anchor, states = write.anchor, keys.anchor_states(write.anchor.scope)
    name = anchor_name(anchor.agent_id, anchor.session_id)
    return Plan(
        checks=(Check("HGET", states, (name,), str(write.replaces or "")),),
        commands=(
            Command("HSET", keys.anchors(anchor.scope), (name, encode(anchor))),
            Command("HSET", states, (name, str(anchor.event_id))),
        ),
    )


def _append(write: AppendFacts, keys: StoreKeys) -> Plan:
    head, rows = keys.fact_head(write.scope), keys.fact_rows(write.scope)
    expected = "" if write.expected == LogVersion() else str(write.expected)
    unchanged = Check("GET", head, (), expected)
    if not write.rows:
        return Plan(checks=(unchanged,))
    added = continuation(write)
    return Plan(
        checks=(unchanged,),
        commands=(
            # Whatever stands behind the head was left by a commit that broke off.
            Command("LTRIM", rows, (0, write.expected.n - 1) if write.expected.n else (1, 0)),
            *_pushed(added, rows),
            *_vectors(added, write, keys),
            Command("SET", head, (str(added.version),)),
            Command("SADD", keys.scopes, (str(write.scope),)),
        ),
        waits_for=(keys.rewriting(write.scope),),
    )


def _pushed(added: Continuation, rows: str) -> Iterator[Command]:
    entries = [entry.encode() for entry in added.entries]
    for start in range(0, len(entries), _ROWS_PER_COMMAND):
        yield Command("RPUSH", rows, tuple(entries[start : start + _ROWS_PER_COMMAND]))


def _vectors(added: Continuation, write: AppendFacts, keys: StoreKeys) -> Iterator[Command]:
    content = dict(added.vectors)
    for run in runs(content):
        first = run[0]
        block = keys.fact_vectors(write.scope, first.embedder, dim=first.slot.dim, block=first.block)
        yield Command("SETRANGE", block, (first.offset, b"".join(content[place] for place in run)))


def _release(write: ReleaseTranscript, keys: StoreKeys) -> Plan:
    """Nothing is done for what nobody uploaded for this scope: a file stays, and so does a key of another kind."""
    key = key_of(write.dataref, within=keys.transcripts_of(write.scope))
    return Plan(commands=(Command("UNLINK", key, ()),)) if key else Plan()
