"""Translate each `Write` into a commit plan: preconditions and Redis commands. No I/O.

A plan is idempotent under the same preconditions, so a commit that broke off half-way can be repeated.
"""

from collections.abc import Iterator
from uuid import UUID

from nous.bus.redis.commit import Argument, CommitPlan, Precondition, RedisCommand
from nous.domain import effects
from nous.domain.episode import Tier
from nous.domain.fact import LogVersion
from nous.domain.record_codec import encode
from nous.domain.session_state import UNFINISHED, SessionState, SessionStatus
from nous.store.fact_rows import Continuation, continuation, runs
from nous.store.keys import StoreKeys, anchor_name, member_name
from nous.store.redis.episodes import STATE_HEAD, packed
from nous.store.transcript_source import key_of

# TTL in seconds of the state of a session that has ended or was abandoned.
_REMEMBERED = 30 * 86400
_ROWS_PER_COMMAND = 1000
"""Lua's `unpack`, which passes arguments to a command, fails near 8,000."""


def plan_for(write: effects.Write, keys: StoreKeys) -> CommitPlan:
    """Return the preconditions and commands of *write*. Raises `BadInput`, `Misconfigured`."""
    match write:
        case effects.SaveEpisode():
            return _save_episode(write, keys)
        case effects.RecordResummaryAttempt(scope=scope, episode_id=episode_id, by=by):
            return _command("HSET", keys.unrefined, member_name(scope, episode_id), by)
        case effects.RemoveFromResummaries(scope=scope, episode_id=episode_id):
            return _command("HDEL", keys.unrefined, member_name(scope, episode_id))
        case effects.SaveEpisodeVector():
            return _save_vector(write, keys)
        case effects.SaveDecision(scope=scope, episode_id=episode_id, event_id=event_id, decision=decision):
            return _command("HSET", keys.decisions(scope, episode_id), str(event_id), encode(decision))
        case effects.SaveAnchoredSummary():
            return _save_anchored_summary(write, keys)
        case effects.AppendFacts():
            return _append(write, keys)
        case effects.ExpectEpisode(scope=scope, episode_id=episode_id, state=state):
            return _expected(keys.episode_versions(scope), str(episode_id), state)
        case effects.ExpectAnchoredSummary(scope=scope, agent_id=agent_id, session_id=session_id, event_id=event_id):
            return _expected(keys.anchor_states(scope), anchor_name(agent_id, session_id), str(event_id or ""))
        case effects.ExpectSessionState():
            return CommitPlan(
                preconditions=(_is_still_at(write.by, keys.session_state(write.scope, write.session_id)),)
            )
        case effects.ReleaseTranscript():
            return _release(write, keys)
        case effects.SaveSessionState():
            return _save_session_state(write, keys)


def _save_episode(write: effects.SaveEpisode, keys: StoreKeys) -> CommitPlan:
    episode, scope, name = write.episode, write.episode.scope, str(write.episode.id)
    states = keys.episode_versions(scope)
    expected = write.replaces.state if write.replaces else ""
    return CommitPlan(
        preconditions=(Precondition("HGET", states, (name,), expected),),
        commands=(
            *_archived(write, keys),
            *_resummary_state(write, keys),
            RedisCommand("HSET", keys.episodes(scope), (name, encode(episode))),
            RedisCommand("HSET", states, (name, episode.state)),
            RedisCommand("ZADD", keys.episodes_by_end(scope), (episode.ended_at.timestamp(), name)),
            RedisCommand("SADD", keys.scopes, (str(scope),)),
        ),
    )


def _archived(write: effects.SaveEpisode, keys: StoreKeys) -> Iterator[RedisCommand]:
    if write.replaces:
        name = f"{write.replaces.id}/{write.replaces.edition}"
        yield RedisCommand("HSET", keys.episode_editions(write.episode.scope), (name, encode(write.replaces)))


def _resummary_state(write: effects.SaveEpisode, keys: StoreKeys) -> Iterator[RedisCommand]:
    scope, episode_id = write.episode.scope, write.episode.id
    if write.summary_input:
        yield RedisCommand("HSET", keys.summary_inputs(scope), (str(episode_id), packed(write.summary_input)))
    if write.episode.tier is Tier.LLM:
        yield RedisCommand("HDEL", keys.unrefined, (member_name(scope, episode_id),))
    elif write.summary_input:
        yield RedisCommand("HSET", keys.unrefined, (member_name(scope, episode_id), ""))


def _command(command: str, key: str, *arguments: Argument) -> CommitPlan:
    return CommitPlan(commands=(RedisCommand(command, key, arguments),))


def _expected(states: str, name: str, state: str) -> CommitPlan:
    return CommitPlan(preconditions=(Precondition("HGET", states, (name,), state),))


def _save_vector(write: effects.SaveEpisodeVector, keys: StoreKeys) -> CommitPlan:
    name, vector = str(write.episode_id), write.vector.astype("<f4").tobytes()
    states = keys.episode_vector_states(write.scope, write.embedder)
    return CommitPlan(
        preconditions=(Precondition("HGET", keys.episode_versions(write.scope), (name,), write.of),),
        commands=(
            # In this order: a commit that breaks off leaves a vector without its state, which is computed again.
            RedisCommand("HDEL", states, (name,)),
            RedisCommand("HSET", keys.episode_vectors(write.scope, write.embedder), (name, vector)),
            RedisCommand("HSET", states, (name, write.of)),
        ),
    )


def _save_anchored_summary(write: effects.SaveAnchoredSummary, keys: StoreKeys) -> CommitPlan:
    anchor, states = write.anchor, keys.anchor_states(write.anchor.scope)
    name = anchor_name(anchor.agent_id, anchor.session_id)
    return CommitPlan(
        preconditions=(Precondition("HGET", states, (name,), str(write.replaces or "")),),
        commands=(
            RedisCommand("HSET", keys.anchors(anchor.scope), (name, encode(anchor))),
            RedisCommand("HSET", states, (name, str(anchor.event_id))),
        ),
    )


def _append(write: effects.AppendFacts, keys: StoreKeys) -> CommitPlan:
    head, rows = keys.fact_head(write.scope), keys.fact_rows(write.scope)
    expected = "" if write.expected == LogVersion() else str(write.expected)
    unchanged = Precondition("GET", head, (), expected)
    if not write.rows:
        return CommitPlan(preconditions=(unchanged,))
    added = continuation(write)
    return CommitPlan(
        preconditions=(unchanged,),
        commands=(
            # Entries behind the head were left by a commit that broke off.
            RedisCommand("LTRIM", rows, (0, write.expected.n - 1) if write.expected.n else (1, 0)),
            *_pushed(added, rows),
            *_vectors(added, write, keys),
            RedisCommand("SET", head, (str(added.version),)),
            RedisCommand("SADD", keys.scopes, (str(write.scope),)),
        ),
        waits_for=(keys.rewriting(write.scope),),
    )


def _pushed(added: Continuation, rows: str) -> Iterator[RedisCommand]:
    entries = [entry.encode() for entry in added.entries]
    for start in range(0, len(entries), _ROWS_PER_COMMAND):
        yield RedisCommand("RPUSH", rows, tuple(entries[start : start + _ROWS_PER_COMMAND]))


def _vectors(added: Continuation, write: effects.AppendFacts, keys: StoreKeys) -> Iterator[RedisCommand]:
    content = dict(added.vectors)
    for run in runs(content):
        first = run[0]
        block = keys.fact_vectors(write.scope, first.embedder, dim=first.slot.dim, block=first.block)
        yield RedisCommand("SETRANGE", block, (first.offset, b"".join(content[place] for place in run)))


def _release(write: effects.ReleaseTranscript, keys: StoreKeys) -> CommitPlan:
    """Delete the upload, if *write* names one of its scope; a file or another key stays."""
    key = key_of(write.dataref, within=keys.transcripts_of(write.scope))
    return _command("UNLINK", key) if key else CommitPlan()


def _save_session_state(write: effects.SaveSessionState, keys: StoreKeys) -> CommitPlan:
    session_state = write.session_state
    key = keys.session_state(session_state.scope, session_state.session_id)
    packed = str(session_state.by).encode() + encode(session_state)
    life = () if session_state.status in {SessionStatus.OPEN, SessionStatus.CLOSING} else ("EX", _REMEMBERED)
    return CommitPlan(
        preconditions=(_is_still_at(write.replaces.by if write.replaces else None, key),),
        commands=(RedisCommand("SET", key, (packed, *life)), *_listed(session_state, keys)),
    )


def _is_still_at(by: UUID | None, key: str) -> Precondition:
    """Return the precondition that event *by* caused the state under *key* (None: no state)."""
    return Precondition("GETRANGE", key, (0, STATE_HEAD - 1), str(by or ""))


def _listed(session_state: SessionState, keys: StoreKeys) -> Iterator[RedisCommand]:
    """Yield the commands that list the session under its status, and under no other."""
    name, since = member_name(session_state.scope, session_state.session_id), session_state.since
    for stage in UNFINISHED:
        if stage is session_state.status and since:
            yield RedisCommand("ZADD", keys.sessions_at(stage), (since.timestamp(), name))
        else:
            yield RedisCommand("ZREM", keys.sessions_at(stage), (name,))
    if session_state.status is SessionStatus.ABANDONED and since:
        abandoned = keys.sessions_at(SessionStatus.ABANDONED)
        yield RedisCommand("ZREMRANGEBYSCORE", abandoned, ("-inf", since.timestamp() - _REMEMBERED))
        yield RedisCommand("EXPIRE", abandoned, (_REMEMBERED,))
