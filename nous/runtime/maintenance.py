"""Periodic tasks: trim streams, end idle sessions, queue resummarization."""

import time
from collections.abc import Collection, Iterable
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC
from itertools import islice
from uuid import UUID, uuid5

import structlog
from typing_extensions import override  # typing has it from Python 3.12 on

from nous.backoff import PeriodicTask
from nous.bus.base import Bus, Committed, Priority, Subscription
from nous.bus.redis.accounting import RedisDeliveryStats
from nous.bus.redis.streams import RedisTrimming
from nous.domain.effects import Effects, ExpectEpisode, RecordResummaryAttempt, RemoveFromResummaries, for_today
from nous.domain.episode import Episode, Tier
from nous.domain.errors import Misconfigured
from nous.domain.events import EpisodeOutdated, Event
from nous.domain.scope import Scope
from nous.pipeline.worker import WorkerContext
from nous.services.session_lifecycle import RecoveryAction, SessionRecovery

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class StreamTrimmer(PeriodicTask):
    """Trims events older than *keep* seconds that no consumer group needs any more."""

    name = "stream_trimmer"

    trimming: RedisTrimming
    _: KW_ONLY
    kinds: Collection[type[Event]]
    keep: float

    @override
    def run_once(self) -> float:
        for kind in self.kinds:
            for priority in Priority:
                self._trim(kind, priority)
        return self.interval

    def _trim(self, kind: type[Event], priority: Priority) -> None:
        removed = 0
        for count in self.trimming.trim(kind, priority=priority, keep=self.keep):
            removed += count
            if self._stopping.is_set():
                break
        if removed:
            log.info("stream_trimmer.trimmed", kind=kind.type, priority=priority, count=removed)


@dataclass(eq=False)
class SessionMaintenanceLoop(PeriodicTask):
    """Closes idle sessions and, every *recover_every* seconds, recovers abandoned ones."""

    name = "session_maintenance"

    finisher: SessionRecovery
    _: KW_ONLY
    recover_every: float
    _recover_at: float = field(init=False, default=0.0)

    @override
    def run_once(self) -> float:
        self._say(self.finisher.close())
        if time.monotonic() >= self._recover_at:
            self._recover_at = time.monotonic() + self.recover_every
            self._say(self.finisher.recover())
        return self.interval

    def _say(self, deeds: Iterable[RecoveryAction]) -> None:
        for deed in deeds:
            log.info("session.recovered", session_id=deed.session_id, scope=str(deed.scope), what=deed.what)
            if self._stopping.is_set():
                return


_IDLE = 12  # intervals to wait where there was nothing to queue


def outdated(episode: Episode, *, by: str, reason: str, context: WorkerContext, occasion: str = "") -> EpisodeOutdated:
    """Build the event to regenerate *episode*: one per edition and *occasion*, or day (UTC)."""
    occasion = occasion or f"{context.clock().astimezone(UTC).date()}"
    event_id = uuid5(episode.id, f"{EpisodeOutdated.type}\n{episode.state}\n{by}\n{occasion}")
    return EpisodeOutdated(
        id=event_id,
        time=context.clock(),
        source="nous/upgrade",
        scope=episode.scope,
        agent_id=episode.agent_id,
        session_id=episode.session_id,
        trace_id=event_id,
        caused_by=episode.event_id,
        episode_id=episode.id,
        edition=episode.edition,
        by=by,
        reason=reason,
    )


@dataclass(eq=False)
class Resummarizer(PeriodicTask):
    """Queues extractive episodes, each once, for the model: *ahead* at a time, after live work."""

    name = "resummarizer"

    subscription: Subscription
    _: KW_ONLY
    context: WorkerContext
    bus: Bus
    delivery_stats: RedisDeliveryStats
    by: str
    ahead: int

    @override
    def run_once(self) -> float:
        return self.interval if self.offer() else self.interval * _IDLE

    def offer(self) -> int:
        """Queue as many episodes as there is room for; return how many."""
        backlogs = self.delivery_stats.backlogs(self.subscription)
        room = self.ahead - sum(backlog.pending + (backlog.waiting or 0) for backlog in backlogs)
        waiting = self.context.episodes.unrefined(but=(self.by, for_today(self.by, self.context.clock())))
        offers = (self._offer(scope, episode_id) for scope, episode_id in waiting)
        offered = sum(islice(filter(None, offers), max(room, 0)))
        if offered:
            log.info("resummarizer.queued", count=offered, by=self.by)
        return offered

    def _offer(self, scope: Scope, episode_id: UUID) -> bool:
        """Queue one episode and record the try; return whether it was queued.

        An error with this episode must not hold up the others. The try is recorded for today alone: the worker that
        asks the model records whether the model has had its chance.
        """
        tried = RecordResummaryAttempt(scope=scope, episode_id=episode_id, by=for_today(self.by, self.context.clock()))
        try:
            episode = self.context.episodes.get(scope, episode_id)
        except Misconfigured:  # written by another release, say, or for one
            log.exception(
                "resummarizer.episode_unreadable", episode_id=str(episode_id), hint="it is tried again tomorrow"
            )
            self.bus.apply(Effects(writes=(tried,)))
            return False
        expected = ExpectEpisode(scope=scope, episode_id=episode_id, state=episode.state if episode else "")
        if episode and episode.tier is Tier.EXTRACTIVE:
            event = outdated(episode, by=self.by, reason=episode.made_do or "there was no model", context=self.context)
            offer = Effects(writes=(expected, tried), events=(event,))
            if isinstance(self.bus.apply(offer, priority=Priority.BULK), Committed):
                return True
        # The commit conflicted although the edition is unchanged: the session is being erased.
        self.bus.apply(Effects(writes=(expected, RemoveFromResummaries(scope=scope, episode_id=episode_id))))
        return False
