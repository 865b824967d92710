"""On episode_summarized, deduplicate and save facts (extract if none); emit fact events.

It emits fact_learned, fact_confirmed, fact_superseded and fact_linked, and facts_unembedded or episodes_unembedded for
data that waits for the embedder.
"""

from dataclasses import replace
from datetime import datetime

import structlog

from nous.domain.effects import DegradedResult, Effects, SaveEpisodeVector
from nous.domain.episode import CandidateFact, Tier
from nous.domain.errors import BadInput, Deferred, Unavailable
from nous.domain.events import (
    EpisodeSummarized,
    EpisodesUnembedded,
    FactConfirmed,
    FactLearned,
    FactLinked,
    FactsUnembedded,
    FactSuperseded,
)
from nous.domain.fact import Source
from nous.domain.session_state import not_ahead
from nous.knowledge.candidate_filter import (
    DropReason,
    FilteredCandidates,
    filter_candidates,
    lost_candidates,
    without_instructions,
)
from nous.knowledge.decision import announcements
from nous.llm.base import Failure, ModelMisconfigured, ModelPaused, ModelTimeout, ModelUnreachable
from nous.pipeline.fact_learner import FactLearner
from nous.pipeline.llm_summarizer import NO_LIST
from nous.pipeline.worker import Worker, WorkerContext

NAME = "fact-extractor"
NO_FACTS = "no candidate facts, and nothing in the summary to make any of"
NONE_STATED = "the model found no facts in it"
FORGOTTEN = "what it brings that can be learned was forgotten on request"
ALREADY_LEARNED = "already learned"

_OF_EPISODES = 10**6
"""Index of the follow-up event for episodes. It differs from the index of every fact's event."""


_log = structlog.stdlib.get_logger(__name__)


class FactExtractor:
    """Learns the candidate facts of an episode, each once, and publishes the outcomes.

    If an episode has no candidates, the extractor looks for some in it, unless they were erased, or a model found none.
    What cannot be embedded now, is so later.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    def __call__(self, event: EpisodeSummarized, /) -> Effects:
        brought = self._usable(event, self._unplanted(event))
        if brought.candidates or _is_forgotten(brought):
            return self._learned(event, brought)
        episode = self._context.episodes.get(event.scope, event.episode_id)
        if episode and not episode.candidate_facts and lost_candidates(episode):
            findable = self._findable(event)
            return Effects(writes=findable.writes, events=findable.events, skipped=FORGOTTEN)
        if episode and episode.tier is Tier.LLM and NO_LIST not in dict(episode.dropped_facts):
            return replace(self._findable(event), skipped=NONE_STATED)
        return self._found(event)

    def _found(self, event: EpisodeSummarized) -> Effects:
        matter = self._context.cache_subject(event.scope, event.episode_id)
        summary_input = self._context.episodes.summary_input(event.scope, event.episode_id)
        extractor = self._context.fact_extractor
        try:
            found = extractor.extract(event.summary, summary_input, matter=matter)
        except (ModelTimeout, ModelUnreachable) as error:
            lesser = self._usable(event, extractor.by_itself(event.summary, summary_input))
            raise DegradedResult(error, self._learned(event, lesser)) from error
        except (ModelMisconfigured, ModelPaused) as error:
            if error.failure is not Failure.OTHER:
                raise
            _log.warning("fact_extraction.degraded", failure=error.failure, reason=str(error))
            found = extractor.by_itself(event.summary, summary_input)
        return self._learned(event, self._usable(event, found))

    def _learned(self, event: EpisodeSummarized, found: FilteredCandidates) -> Effects:
        findable = self._findable(event)
        if not found.candidates:
            return replace(findable, skipped=FORGOTTEN if _is_forgotten(found) else NO_FACTS)
        lesson = FactLearner(self._context).ingest(
            found.candidates, scope=event.scope, source=_source(event, self._context.clock())
        )
        if not lesson.append.rows:
            reason = ALREADY_LEARNED if lesson.fact_decisions else FORGOTTEN
            return replace(findable, writes=(lesson.append, *findable.writes), skipped=reason)
        now = self._context.clock()
        events = announcements(event, lesson.fact_decisions, by=NAME, at=now, waits=lesson.waits)
        return Effects(writes=(lesson.append, *findable.writes), events=(*events, *findable.events))

    def _unplanted(self, event: EpisodeSummarized) -> tuple[CandidateFact, ...]:
        """Return the candidates without instructions; those of a stored episode were checked."""
        episode = self._context.episodes.get(event.scope, event.episode_id)
        if episode and set(event.candidate_facts) <= set(episode.candidate_facts):
            return event.candidate_facts
        kept, count = without_instructions(event.candidate_facts)
        if count:
            _log.warning("fact_candidates.dropped", dropped={str(DropReason.INSTRUCTION): count})
        return kept

    def _usable(self, event: EpisodeSummarized, candidates: tuple[CandidateFact, ...]) -> FilteredCandidates:
        context = self._context
        found = filter_candidates(candidates, cap=context.policy.cap, forgotten=context.suppressed(event.scope))
        if found.dropped:
            _log.warning("fact_candidates.dropped", dropped=dict(found.dropped), episode_id=str(event.episode_id))
        return found

    def _findable(self, event: EpisodeSummarized) -> Effects:
        """Return the vector of the stored episode; without one, only its words find it."""
        episode, embedder = self._context.episodes.get(event.scope, event.episode_id), self._context.embedder
        if episode is None:
            return Effects()
        try:
            [vector] = embedder.embed([episode.summary.text])
        except BadInput as error:
            _log.warning("episode.embedding_rejected", reason=str(error), episode_id=str(episode.id))
            return Effects()
        except (Unavailable, Deferred) as error:
            _log.warning("episode.embedding_deferred", reason=str(error), episode_id=str(episode.id))
            waits = EpisodesUnembedded.after(event, by=NAME, index=_OF_EPISODES, at=self._context.clock())
            return Effects(events=(waits,))
        kept = SaveEpisodeVector(
            scope=event.scope, episode_id=episode.id, of=episode.state, embedder=embedder.id, vector=vector
        )
        return Effects(writes=(kept,))


def _is_forgotten(found: FilteredCandidates) -> bool:
    return DropReason.FORGOTTEN in dict(found.dropped)


def _source(event: EpisodeSummarized, now: datetime) -> Source:
    return Source(
        episode_id=event.episode_id,
        event_id=event.id,
        session_id=event.session_id,
        turns=(),
        said_at=not_ahead(event.ended_at, now) if event.ended_at else None,
        digest=event.transcript.digest if event.transcript else event.version or None,
        by=f"{event.model} with {event.prompt_version}" if event.model else event.tier,
    )


WORKER = Worker(
    NAME,
    EpisodeSummarized,
    FactExtractor,
    emits=(FactLearned, FactConfirmed, FactSuperseded, FactLinked, FactsUnembedded, EpisodesUnembedded),
)
