"""On episode_outdated, regenerate it by LLM from stored input, emit episode_summarized."""

from dataclasses import replace
from datetime import timedelta

from nous.domain.effects import (
    DegradedResult,
    Effects,
    ExpectEpisode,
    RecordResummaryAttempt,
    RemoveFromResummaries,
    SaveEpisode,
    for_today,
)
from nous.domain.episode import Episode, Tier
from nous.domain.errors import Deferred
from nous.domain.events import EpisodeOutdated, EpisodeSummarized
from nous.domain.scope import CacheSubject
from nous.domain.summary_input import SummaryInput
from nous.knowledge.candidate_filter import without_candidates
from nous.llm.base import (
    AnswerUnusable,
    Failure,
    ModelPaused,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    TokenBudgetExceeded,
)
from nous.pipeline.llm_summarizer import LlmSummarizer, SummaryResult
from nous.pipeline.worker import Worker, WorkerContext
from nous.summary.decisions import announcement, decided_facts
from nous.summary.llm.vetting import UNTITLED

NAME = "episode-reviser"

NO_MODEL = "no background_model is set here"
NO_EPISODE = "there is no such episode"
NO_BRIEF = "nothing was kept that it could be made from"
UP_TO_DATE = "made by this model and prompt already"

_LOOK_AGAIN = timedelta(minutes=5)
_LONGEST_WAIT = timedelta(days=1)


class EpisodeReviser:
    """Regenerates an episode from its session's summary input, and replaces the stored one.

    The wait for the model is limited to a day, because the session has an extractive episode meanwhile, which is queued
    again later. One that a model has made is regenerated because a user asked. So its event waits as long as it takes,
    and is dead-lettered if the model never answers.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    def __call__(self, event: EpisodeOutdated, /) -> Effects:
        summarizer = self._context.summarizer
        if summarizer is None:
            raise Deferred(NO_MODEL, until=self._context.clock() + _LOOK_AGAIN)
        matter = self._context.cache_subject(event.scope, event.episode_id)
        stored = self._context.episodes.get(event.scope, event.episode_id)
        if stored is None:
            return _nothing_left(event, "", NO_EPISODE)
        if stored.by == summarizer.by:
            return _nothing_left(event, stored.state, UP_TO_DATE)
        summary_input = self._context.episodes.summary_input(event.scope, event.episode_id)
        if summary_input is None:
            return _nothing_left(event, stored.state, NO_BRIEF)
        recorded = self._context.recorded_decisions(event.scope, stored.session_id, stored.external_id)
        since = replace(summary_input, decisions=tuple(dict.fromkeys((*recorded, *summary_input.decisions))))
        return self._revised(event, stored, since, summarizer, matter)

    def _revised(
        self,
        event: EpisodeOutdated,
        stored: Episode,
        summary_input: SummaryInput,
        summarizer: LlmSummarizer,
        matter: CacheSubject,
    ) -> Effects:
        try:
            understood = summarizer.summarize(summary_input, matter=matter)
        except (ModelTimeout, ModelUnreachable) as error:
            if stored.tier is not Tier.EXTRACTIVE:
                raise
            raise DegradedResult(error, self._tomorrow(event, stored, summarizer, error.failure)) from error
        except ModelPaused as pause:
            has_time = not isinstance(pause, TokenBudgetExceeded) and self._context.clock() - event.time < _LONGEST_WAIT
            if has_time or stored.tier is not Tier.EXTRACTIVE:
                raise
            return self._tomorrow(event, stored, summarizer, pause.failure)
        except (AnswerUnusable, ModelRefused) as error:
            return _tried(event, stored, summarizer.by, str(error.failure))
        forgotten = self._context.suppressed(stored.scope)
        episode = without_candidates(revised(stored, understood, summary_input, summarizer, event), forgotten)
        saved = SaveEpisode(
            episode=episode, replaces=without_candidates(stored, forgotten), summary_input=summary_input
        )
        said = announcement(episode, cause=event, by=NAME, at=self._context.clock())
        return Effects(writes=(saved,), events=(said,))

    def _tomorrow(self, event: EpisodeOutdated, stored: Episode, summarizer: LlmSummarizer, why: Failure) -> Effects:
        """Stop trying today, to make room for other episodes."""
        return _tried(event, stored, for_today(summarizer.by, self._context.clock()), f"{why}, for today")


def _expected(event: EpisodeOutdated, state: str) -> ExpectEpisode:
    return ExpectEpisode(scope=event.scope, episode_id=event.episode_id, state=state)


def _nothing_left(event: EpisodeOutdated, state: str, reason: str) -> Effects:
    done = RemoveFromResummaries(scope=event.scope, episode_id=event.episode_id)
    return Effects(writes=(_expected(event, state), done), skipped=reason)


def _tried(event: EpisodeOutdated, stored: Episode, by: str, reason: str) -> Effects:
    """Skip *stored*; an extractive one, which would be queued again, is recorded as tried."""
    tried = RecordResummaryAttempt(scope=event.scope, episode_id=event.episode_id, by=by)
    noted = (tried,) if stored.tier is Tier.EXTRACTIVE else ()
    return Effects(writes=(_expected(event, stored.state), *noted), skipped=reason)


def revised(
    stored: Episode,
    understood: SummaryResult,
    summary_input: SummaryInput,
    summarizer: LlmSummarizer,
    event: EpisodeOutdated,
) -> Episode:
    """Return the next edition of *stored*; its key points stay if the model returns none."""
    summary, before = understood.summary, stored.summary
    title = before.title if summary.title == UNTITLED else summary.title
    decided, apart = decided_facts(summary_input.decisions)
    return replace(
        stored,
        edition=stored.edition + 1,
        summary=replace(summary if summary.key_points else summary.teaching(before.lessons), title=title),
        candidate_facts=(*decided, *understood.candidate_facts),
        quarantined=(*apart, *understood.quarantined),
        decisions=summary_input.decisions,
        tier=Tier.LLM,
        model=summarizer.model.id,
        prompt_version=summarizer.prompt.version,
        tokens=understood.tokens,
        dropped_facts=understood.dropped,
        made_do=None,
        is_sure=bool(summary.outcome_rationale),
        contradiction=None,
        outcome_turns=(),
        event_id=event.id,
    )


WORKER = Worker(NAME, EpisodeOutdated, EpisodeReviser, emits=(EpisodeSummarized,))
