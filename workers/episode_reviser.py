"""episode_outdated → episode_summarized, of an edition that a model has made."""

from dataclasses import replace
from datetime import timedelta
from typing import Self

import structlog

from nous.domain.effects import Compromise, Effects, ExpectEpisode, NoteTried, SaveEpisode, StopOffering, for_today
from nous.domain.episode import Episode, Tier
from nous.domain.errors import Deferred, NousError
from nous.domain.events import EpisodeOutdated, EpisodeSummarized, Event
from nous.domain.scope import Matter
from nous.domain.summary_input import Brief
from nous.facts.candidate_filter import without_candidates
from nous.llm.base import (
    AllowanceSpent,
    AnswerUnusable,
    Failure,
    ModelPaused,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
)
from nous.pipeline.llm_summarizer import Author, Understood
from nous.pipeline.worker import Kit, Worker
from nous.summary.decisions import announcement, decided_facts

NAME = "episode-reviser"

_log = structlog.stdlib.get_logger(__name__)

NO_MODEL = "no background_model is set here"
NO_EPISODE = "there is no such episode"
NO_BRIEF = "nothing was kept that it could be made from"
UP_TO_DATE = "made by this model and prompt already"

_LOOK_AGAIN = timedelta(minutes=5)
_LONGEST_WAIT = timedelta(days=1)


class EpisodeReviser:
    """Makes an episode anew from the brief that was kept of its session, and takes the place of what was there.

    It waits for the model, a day at a time: the session has an episode meanwhile. One that a model made already is made
    anew because somebody asked for it, and nobody offers that again: it waits for a model that is out as long as it
    takes, and is dead where one never answers.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @classmethod
    def from_kit(cls, kit: Kit) -> Self:
        return cls(kit)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, EpisodeOutdated):
            raise TypeError(f"{NAME} consumes {EpisodeOutdated.type}, not {event.type}")
        author = self._kit.author
        if author is None:
            raise Deferred(NO_MODEL, until=self._kit.clock() + _LOOK_AGAIN)
        matter = self._kit.matter(event.scope, event.episode_id)
        stored = self._kit.episodes.get(event.scope, event.episode_id)
        if stored is None:
            return _nothing_left(event, "", NO_EPISODE)
        if stored.by == author.by:
            return _nothing_left(event, stored.state, UP_TO_DATE)
        brief = self._kit.briefs.brief(event.scope, event.episode_id)
        if brief is None:
            return _nothing_left(event, stored.state, NO_BRIEF)
        return self._revised(event, stored, self._with_decisions(brief, event), author, matter)

    def _with_decisions(self, brief: Brief, event: EpisodeOutdated) -> Brief:
        """*brief*, with what was recorded since it was made; that may fail, at no harm."""
        try:
            recorded = self._kit.decisions.get_episode_decisions(event.episode_id, scope=event.scope)
        except NousError as error:
            _log.warning("recorded decisions could not be read", reason=str(error))
            return brief
        return replace(brief, decisions=tuple(dict.fromkeys((*recorded, *brief.decisions))))

    def _revised(
        self, event: EpisodeOutdated, stored: Episode, brief: Brief, author: Author, matter: Matter
    ) -> Effects:
        try:
            understood = author.understand(brief, matter=matter)
        except (ModelTimeout, ModelUnreachable) as error:
            if not _is_offered(stored):
                raise
            raise Compromise(error, self._tomorrow(event, stored, author, error.failure)) from error
        except ModelPaused as pause:
            has_time = not isinstance(pause, AllowanceSpent) and self._kit.clock() - event.time < _LONGEST_WAIT
            if has_time or not _is_offered(stored):
                raise
            return self._tomorrow(event, stored, author, pause.failure)
        except (AnswerUnusable, ModelRefused) as error:
            return _tried(event, stored, author.by, str(error.failure))
        return self._effects(event, revised(stored, understood, brief, author, event), stored, brief)

    def _tomorrow(self, event: EpisodeOutdated, stored: Episode, author: Author, why: Failure) -> Effects:
        """Make room for others today; whoever offers episodes to the model offers this one again tomorrow."""
        return _tried(event, stored, for_today(author.by, self._kit.clock()), f"{why}, for today")

    def _effects(self, event: EpisodeOutdated, episode: Episode, stored: Episode, brief: Brief) -> Effects:
        forgotten = self._kit.forgotten(episode.scope)
        episode, stored = without_candidates(episode, forgotten), without_candidates(stored, forgotten)
        said = announcement(episode, cause=event, by=NAME, at=self._kit.clock())
        return Effects(writes=(SaveEpisode(episode=episode, replaces=stored, brief=brief),), events=(said,))


def _expected(event: EpisodeOutdated, state: str) -> ExpectEpisode:
    return ExpectEpisode(scope=event.scope, episode_id=event.episode_id, state=state)


def _nothing_left(event: EpisodeOutdated, state: str, reason: str) -> Effects:
    """Skip what leaves nothing to do, for that *reason*, and have nobody offer it again."""
    done = StopOffering(scope=event.scope, episode_id=event.episode_id)
    return Effects(writes=(_expected(event, state), done), skipped=reason)


def _tried(event: EpisodeOutdated, stored: Episode, by: str, reason: str) -> Effects:
    """Skip *stored*, for that *reason*, and note that *by* has tried it, if it is one that is offered to models."""
    tried = NoteTried(scope=event.scope, episode_id=event.episode_id, by=by)
    noted = (tried,) if _is_offered(stored) else ()
    return Effects(writes=(_expected(event, stored.state), *noted), skipped=reason)


def _is_offered(stored: Episode) -> bool:
    return stored.tier is Tier.EXTRACTIVE


def revised(stored: Episode, understood: Understood, brief: Brief, author: Author, event: EpisodeOutdated) -> Episode:
    """The next edition of *stored*. Lessons that it had stay where the model tells none."""
    told = understood.summary
    return replace(
        stored,
        edition=stored.edition + 1,
        summary=replace(told, key_points=told.key_points or stored.summary.key_points),
        candidate_facts=(*decided_facts(brief.decisions), *understood.candidate_facts),
        decisions=brief.decisions,
        tier=Tier.LLM,
        model=author.model.id,
        prompt_version=author.prompt.version,
        tokens=understood.tokens,
        dropped_facts=understood.dropped,
        made_do=None,
        is_sure=True,
        outcome_turns=(),
        event_id=event.id,
    )


WORKER = Worker(NAME, EpisodeOutdated, EpisodeReviser.from_kit, emits=(EpisodeSummarized,))
