"""episode_summarized → fact_learned | fact_confirmed | fact_superseded | fact_linked | what waits for the embedder."""

from dataclasses import replace
from datetime import datetime
from typing import Self

import structlog

from nous.domain.effects import Compromise, Effects, KeepVector
from nous.domain.episode import CandidateFact
from nous.domain.errors import BadInput, Deferred, Unavailable
from nous.domain.events import (
    EpisodeSummarized,
    EpisodesUnembedded,
    Event,
    FactConfirmed,
    FactLearned,
    FactLinked,
    FactsUnembedded,
    FactSuperseded,
)
from nous.domain.fact import Source
from nous.domain.session_state import not_ahead
from nous.facts.candidate_filter import Unusable, Usable, lost_candidates, usable
from nous.facts.events import announcements
from nous.llm.base import Failure, ModelMisconfigured, ModelPaused, ModelTimeout, ModelUnreachable
from nous.pipeline.worker import Kit, Worker

NAME = "fact-extractor"
NO_FACTS = "no candidate facts, and nothing in the summary to make any of"
FORGOTTEN = "what it brings that can be learned was forgotten on request"
ALREADY_LEARNED = "already learned"

_OF_EPISODES = 10**6
"""The place among the events that follow of the one that no session waits for; it is none of the facts' numbers."""

_log = structlog.stdlib.get_logger(__name__)


class FactExtractor:
    """Learns what an episode may have taught, each fact once, and says what became of it.

    An episode that brings no candidate is read again for some, but not where they were forgotten. What cannot be
    embedded now is learned all the same, and compared by its sense later; so is the episode itself.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @classmethod
    def from_kit(cls, kit: Kit) -> Self:
        return cls(kit)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, EpisodeSummarized):
            raise TypeError(f"{NAME} consumes {EpisodeSummarized.type}, not {event.type}")
        brought = self._usable(event, event.candidate_facts)
        if brought.candidates or _is_forgotten(brought):
            return self._learned(event, brought)
        episode = self._kit.episodes.get(event.scope, event.episode_id)
        if episode and not episode.candidate_facts and lost_candidates(episode):
            findable = self._findable(event)
            return Effects(writes=findable.writes, events=findable.events, skipped=FORGOTTEN)
        return self._found(event)

    def _found(self, event: EpisodeSummarized) -> Effects:
        """What is learned of an episode that brought nothing, by reading it again."""
        matter = self._kit.matter(event.scope, event.episode_id)
        brief = self._kit.briefs.brief(event.scope, event.episode_id)
        extractor = self._kit.extractor
        try:
            found = extractor.extract(event.summary, brief, matter=matter)
        except (ModelTimeout, ModelUnreachable) as error:
            lesser = self._usable(event, extractor.by_itself(event.summary, brief))
            raise Compromise(error, self._learned(event, lesser)) from error
        except (ModelMisconfigured, ModelPaused) as error:
            if error.failure is not Failure.OTHER:
                raise
            _log.warning("facts are found without the model", failure=error.failure, reason=str(error))
            found = extractor.by_itself(event.summary, brief)
        return self._learned(event, self._usable(event, found))

    def _learned(self, event: EpisodeSummarized, found: Usable) -> Effects:
        findable = self._findable(event)
        if not found.candidates:
            return replace(findable, skipped=FORGOTTEN if _is_forgotten(found) else NO_FACTS)
        lesson = self._kit.learner.teach(found.candidates, scope=event.scope, source=_source(event, self._kit.clock()))
        if not lesson.append.rows:
            reason = ALREADY_LEARNED if lesson.findings else FORGOTTEN
            return replace(findable, writes=(lesson.append, *findable.writes), skipped=reason)
        at = self._kit.clock()
        told: list[Event] = [*announcements(event, lesson.findings, by=NAME, at=at)]
        if lesson.waits:
            told.append(FactsUnembedded.after(event, by=NAME, index=len(told), at=at))
        return Effects(writes=(lesson.append, *findable.writes), events=(*told, *findable.events))

    def _usable(self, event: EpisodeSummarized, candidates: tuple[CandidateFact, ...]) -> Usable:
        kit = self._kit
        found = usable(candidates, cap=kit.policy.cap, forgotten=kit.forgotten(event.scope))
        if found.dropped:
            _log.warning("candidates are not learned", dropped=dict(found.dropped), episode_id=str(event.episode_id))
        return found

    def _findable(self, event: EpisodeSummarized) -> Effects:
        """The vector by which the stored episode is found; while it has none, it is found by its words."""
        episode, embedder = self._kit.episodes.get(event.scope, event.episode_id), self._kit.embedder
        if episode is None:
            return Effects()
        try:
            [vector] = embedder.embed([episode.summary.text])
        except BadInput as error:
            _log.warning("an episode is found by its words alone", reason=str(error), episode_id=str(episode.id))
            return Effects()
        except (Unavailable, Deferred) as error:
            _log.warning("an episode is found by its words for now", reason=str(error), episode_id=str(episode.id))
            waits = EpisodesUnembedded.after(event, by=NAME, index=_OF_EPISODES, at=self._kit.clock())
            return Effects(events=(waits,))
        kept = KeepVector(
            scope=event.scope, episode_id=episode.id, of=episode.state, embedder=embedder.id, vector=vector
        )
        return Effects(writes=(kept,))


def _is_forgotten(found: Usable) -> bool:
    """Whether some of what was found is not to be known again."""
    return Unusable.FORGOTTEN in dict(found.dropped)


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
    FactExtractor.from_kit,
    emits=(FactLearned, FactConfirmed, FactSuperseded, FactLinked, FactsUnembedded, EpisodesUnembedded),
)
