"""Episodes that a model has not made yet are offered to it, a few at a time."""

import threading
from datetime import UTC
from itertools import islice
from uuid import UUID, uuid5

import structlog

from nous.bus.base import Bus, Committed, Lane, Subscription
from nous.bus.ledger import Ledger
from nous.effects import Effects, ExpectEpisode, NoteTried, StopOffering, for_today
from nous.episode import Episode, Tier
from nous.errors import Misconfigured, NousError
from nous.events import EpisodeOutdated
from nous.kit import Kit
from nous.scope import Scope

_IDLE = 12
"""How many intervals to wait where there was nothing to offer."""

log = structlog.get_logger(__name__)


def outdated(episode: Episode, *, by: str, reason: str, kit: Kit, occasion: str = "") -> EpisodeOutdated:
    """The event that has *episode* made anew by *by*.

    Said of the same edition on the same *occasion*, by default the day, it is the same event however often.
    """
    occasion = occasion or f"{kit.clock().astimezone(UTC).date()}"
    event_id = uuid5(episode.id, f"{EpisodeOutdated.type}\n{episode.state}\n{by}\n{occasion}")
    return EpisodeOutdated(
        id=event_id,
        time=kit.clock(),
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


class Upgrader:
    """Runs until stopped, in any number of processes: what one has offered, the others find offered.

    At most *ahead* episodes are on offer at a time, behind all live work. *interval* is in seconds.
    """

    def __init__(
        self, subscription: Subscription, *, kit: Kit, bus: Bus, ledger: Ledger, by: str, ahead: int, interval: float
    ) -> None:
        self._subscription = subscription
        self._kit = kit
        self._bus = bus
        self._ledger = ledger
        self._by = by
        self._ahead = ahead
        self._interval = interval
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Offer what there is room for, now and then, until `stop`."""
        while not self._stopping.is_set():
            offered = 0
            try:
                offered = self.offer()
            except NousError as error:
                log.warning("episodes could not be offered to the model; will try again", error=str(error))
            except Exception:  # the outermost loop: an upgrader that dies leaves a worker that looks healthy
                log.exception("the upgrader stumbled")
            self._stopping.wait(self._interval if offered else self._interval * _IDLE)

    def offer(self) -> int:
        """Offer as many episodes as there is room for; returns how many."""
        backlogs = self._ledger.backlogs(self._subscription)
        room = self._ahead - sum(backlog.pending + (backlog.waiting or 0) for backlog in backlogs)
        waiting = self._kit.briefs.unrefined(but=(self._by, for_today(self._by, self._kit.clock())))
        offers = (self._offer(scope, episode_id) for scope, episode_id in waiting)
        offered = sum(islice(filter(None, offers), max(room, 0)))
        if offered:
            log.info("episodes are offered to the model", count=offered, by=self._by)
        return offered

    def _offer(self, scope: Scope, episode_id: UUID) -> bool:
        """Offer one, and note that this is done; what goes wrong with it must not keep the others waiting.

        It is noted for today alone: whether the model has had its chance is for whoever asks it to say. One that has a
        new edition by now is left for the next look; one that is gone, or is being forgotten, or made by a model, is
        not looked at again.
        """
        tried = NoteTried(scope=scope, episode_id=episode_id, by=for_today(self._by, self._kit.clock()))
        try:
            episode = self._kit.episodes.get(scope, episode_id)
        except Misconfigured:  # what another release wrote, say, or is to read soon
            log.exception("an episode cannot be read, and is not made anew today", episode_id=str(episode_id))
            self._bus.apply(Effects(writes=(tried,)))
            return False
        expected = ExpectEpisode(scope=scope, episode_id=episode_id, state=episode.state if episode else "")
        if episode and episode.tier is Tier.EXTRACTIVE:
            event = outdated(episode, by=self._by, reason=episode.made_do or "there was no model", kit=self._kit)
            offer = Effects(writes=(expected, tried), events=(event,))
            if isinstance(self._bus.apply(offer, lane=Lane.BULK), Committed):
                return True
        # Refused though that very edition is there still: its session is being forgotten.
        self._bus.apply(Effects(writes=(expected, StopOffering(scope=scope, episode_id=episode_id))))
        return False
