"""Events that came to rest long ago are let go, now and then."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC
from itertools import islice
from uuid import UUID, uuid5

import structlog

from nous.backoff import Setbacks
from nous.bus.accounting import Account, Ledger, Trimming
from nous.bus.base import Bus, Committed, Lane, Subscription
from nous.domain.effects import Effects, ExpectEpisode, NoteTried, StopOffering, for_today
from nous.domain.episode import Episode, Tier
from nous.domain.errors import Misconfigured, NousError
from nous.domain.events import EpisodeOutdated, Event
from nous.domain.scope import Scope
from nous.pipeline.worker import Kit
from nous.services.session_lifecycle import Deed, Finisher

log = structlog.get_logger(__name__)


class Housekeeper:
    """Runs until stopped, in any number of processes: what one has removed, the others find removed.

    Events of *kinds* stay for *keep* seconds, and as long as somebody needs them. *interval* is in seconds.
    """

    def __init__(self, trimming: Trimming, *, kinds: Iterable[type[Event]], keep: float, interval: float) -> None:
        self._trimming = trimming
        self._kinds = tuple(kinds)
        self._keep = keep
        self._interval = interval
        self._stopping = threading.Event()
        self._setbacks = Setbacks()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Tidy up now and then, until `stop`; what goes wrong is tried again, and told, ever more rarely."""
        while not self._stopping.is_set():
            wait = self._interval
            try:
                self.tidy()
            except NousError as error:
                if self._setbacks.met(error):
                    log.warning("old events could not be removed; will try again", error=str(error))
                wait = self._setbacks.wait
            except Exception as error:  # the outermost loop: one that dies leaves a worker that looks healthy
                if self._setbacks.met(error):
                    log.exception("the housekeeper stumbled")
                wait = self._setbacks.wait
            else:
                self._setbacks.over()
            self._stopping.wait(wait)

    def tidy(self) -> int:
        """Remove what has stayed long enough; returns how many events."""
        return sum(self._trim(kind, lane) for kind in self._kinds for lane in Lane)

    def _trim(self, kind: type[Event], lane: Lane) -> int:
        removed = 0
        for count in self._trimming.trim(kind, lane=lane, keep=self._keep):
            removed += count
            if self._stopping.is_set():
                break
        if removed:
            log.info("old events are removed", kind=kind.type, lane=lane, count=removed)
        return removed


class Auditor:
    """Looks at the account of each group every *interval* seconds, in one transaction each, until stopped.

    What does not add up is looked at once more after *again* seconds, since a sweep mends some of it, and then told
    once, and again when the difference is another one. *dangers* says how the server could lose what it has accepted,
    which somebody may have brought about since the process began.
    """

    def __init__(
        self,
        subscriptions: Sequence[Subscription],
        *,
        ledger: Ledger,
        interval: float,
        again: float,
        dangers: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._subscriptions = subscriptions
        self._ledger = ledger
        self._interval = interval
        self._again = again
        self._dangers = dangers
        self._known: Sequence[str] = ()
        self._suspected: dict[str, int] = {}
        self._told: dict[str, int] = {}
        self._setbacks = Setbacks()
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        while not self._stopping.wait(self._again if self._suspected != self._told else self._interval):
            try:
                self.look()
            except NousError as error:
                if self._setbacks.met(error):
                    log.warning("the accounts could not be looked at", error=str(error))
            except Exception as error:  # the outermost loop: what goes wrong here must not end the process's work
                if self._setbacks.met(error):
                    log.exception("the accounts could not be looked at")
            else:
                self._setbacks.over()

    def look(self) -> None:
        """Look at every account, and tell of those that have not added up at this look and the one before."""
        found = self._dangers()
        for danger in (each for each in found if each not in self._known):
            log.error("the server has become unsafe", reason=danger)
        self._known = found
        for each in self._subscriptions:
            self._look(each.group, self._ledger.account(each))

    def _look(self, group: str, account: Account) -> None:
        difference = account.balance
        if difference == 0:
            self._suspected.pop(group, None)
            if self._told.pop(group, None):
                log.info("the account adds up again", group=group)
        elif self._suspected.get(group) and self._told.get(group) != difference:
            self._suspected[group] = self._told[group] = difference
            log.error("the account does not add up", group=group, difference=difference, why=account.why)
        else:
            self._suspected[group] = difference


class Tender:
    """Runs until stopped, in any number of processes. *interval* and *recover_every* are in seconds."""

    def __init__(self, finisher: Finisher, *, interval: float, recover_every: float) -> None:
        self._finisher = finisher
        self._interval = interval
        self._recover_every = recover_every
        self._recover_at = 0.0
        self._setbacks = Setbacks()
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Look after sessions until `stop`; what goes wrong is tried again, and told, ever more rarely."""
        while not self._stopping.is_set():
            try:
                self.tend()
            except NousError as error:
                if self._setbacks.met(error):
                    log.warning("sessions could not be looked after; will try again", error=str(error))
            except Exception as error:  # the outermost loop: a tender that dies leaves a worker that looks healthy
                if self._setbacks.met(error):
                    log.exception("looking after sessions stumbled")
            else:
                if failures := self._setbacks.over():
                    log.info("sessions are looked after again", failures=failures)
            self._stopping.wait(self._interval)

    def tend(self) -> None:
        """End what is idle, and when it is time, recover what was left lying."""
        self._say(self._finisher.close())
        if time.monotonic() >= self._recover_at:
            self._recover_at = time.monotonic() + self._recover_every
            self._say(self._finisher.recover(patiently=True))

    def _say(self, deeds: Iterable[Deed]) -> None:
        for deed in deeds:
            log.info("looked after a session", session_id=deed.session_id, scope=str(deed.scope), what=deed.what)
            if self._stopping.is_set():
                return


_IDLE = 12
"""How many intervals to wait where there was nothing to offer."""


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
