"""On session_ended, summarize the transcript, save the episode, emit episode_summarized."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog

from nous.domain.effects import (
    DegradedResult,
    Effects,
    ExpectEpisode,
    SaveAnchoredSummary,
    SaveEpisode,
    SaveSessionState,
    Write,
    released,
)
from nous.domain.episode import Decision, Episode, Tier, episode_id
from nous.domain.errors import Misconfigured
from nous.domain.events import EpisodeSummarized, SessionEnded
from nous.domain.scope import CacheSubject, Scope
from nous.domain.session_state import end_handled, is_ahead, not_ahead
from nous.domain.summary_input import SummaryInput
from nous.excerpt import Windows
from nous.knowledge.candidate_filter import without_candidates
from nous.llm.base import ModelTimeout, ModelUnreachable
from nous.pipeline.llm_summarizer import Fallback, LlmSummarizer, SummaryResult
from nous.pipeline.worker import Worker, WorkerContext
from nous.summary.decisions import announcement, decided_facts
from nous.summary.heuristic.narrative import title_of
from nous.summary.heuristic.outcome import contradiction
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.statements import verdicts
from nous.summary.heuristic.summarize import summarize
from nous.summary.llm.prompt import heading
from nous.summary.llm.vetting import UNTITLED, QuoteVetting
from nous.transcript.model import Kind, Transcript

NAME = "episode-summarizer"

_log = structlog.stdlib.get_logger(__name__)

FEWEST_CHARACTERS = 50
"""Characters of all speakers. A transcript with fewer is no session."""

_DEFAULT = Scope().project  # the name of an agent or a project that has none

TOO_SHORT = "too short"
NO_USER = "no user turn"
ALREADY_SUMMARIZED = "already summarized"
OLDER = "older than the stored version"

_WORDS = frozenset({Kind.USER, Kind.ASSISTANT, Kind.DECISION, Kind.SUMMARY, Kind.SUB_AGENT})


class EpisodeSummarizer:
    """Builds a session's episode from its transcript, once for each version of the transcript.

    The model writes it, if one is configured and answers. Otherwise it is extractive, and is regenerated later. A
    session may be published several times, at different lengths and in any order. A version that is stored already is
    skipped, and so is one that is *older* than the stored one: neither longer nor later to end, and not the same in
    both. So a late event of a shorter one replaces nothing, and a file that was truncated or rewritten only if it ends
    later.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    def __call__(self, event: SessionEnded, /) -> Effects:
        matter = self._context.cache_subject(event.scope, episode_id(event.scope, event.session_id))
        stored = self._context.episodes.get(event.scope, matter.subject)
        if stored and event.digest == stored.version:
            return self._skipped(event, ALREADY_SUMMARIZED, stored)
        transcript = self._context.transcripts.read(event)
        reason = _reason_to_skip(transcript, event, stored, self._context.clock())
        if reason:
            return self._skipped(event, reason, stored)
        decisions = self._decisions(event, transcript, stored)
        session = _Session(event, transcript, self._windows(transcript), decisions, stored)
        return self._effects(session, matter)

    def _windows(self, transcript: Transcript) -> Windows:
        windows = self._context.excerpts(transcript)
        if windows.wanted > len(windows.windows):
            made = len(windows.windows)
            _log.warning("session.windows_capped", wanted=windows.wanted, windows=made)
        return windows

    def _decisions(self, event: SessionEnded, transcript: Transcript, stored: Episode | None) -> tuple[Decision, ...]:
        before = stored.external_id if stored else None
        recorded = self._context.recorded_decisions(event.scope, event.session_id, event.episode_id, before)
        return tuple(dict.fromkeys((*recorded, *event.decided, *verdicts(SessionRecord(transcript)))))

    def _effects(self, session: "_Session", matter: CacheSubject) -> Effects:
        summarizer = self._context.summarizer
        if summarizer is None:
            return self._saved(session, session.by_itself(), *self._anchored(session, matter))
        try:
            made = summarizer.try_to_summarize(session.summary_input, matter=matter)
        except (ModelTimeout, ModelUnreachable) as error:
            lesser = session.by_itself(made_do=f"{error.failure}: {error}")
            raise DegradedResult(error, self._saved(session, lesser)) from error
        if isinstance(made, Fallback):
            _log.warning("summary.degraded", reason=made.reason)
            episode = session.by_itself(made_do=made.reason)
        else:
            episode = session.by_model(made, summarizer)
        return self._saved(session, episode, *self._anchored(session, matter))

    def _anchored(self, session: "_Session", matter: CacheSubject) -> Iterator[SaveAnchoredSummary]:
        """Yield the updated anchored summary of a session that was resumed after a compaction."""
        event = session.event
        previous = self._context.anchored_summaries.anchored_summary(
            event.scope, agent_id=event.agent_id, session_id=event.session_id
        )
        if previous is None:
            return
        anchor = self._context.anchored_summarizer.next(session.transcript, previous, event=event, matter=matter)
        if anchor:
            yield SaveAnchoredSummary(anchor=anchor, replaces=previous.event_id)

    def _saved(self, session: "_Session", episode: Episode, *also: Write) -> Effects:
        forgotten, now = self._context.suppressed(episode.scope), self._context.clock()
        episode = without_candidates(_in_time(episode, now), forgotten)
        replaces = without_candidates(session.stored, forgotten) if session.stored else None
        saved = SaveEpisode(episode=episode, replaces=replaces, summary_input=session.summary_input)
        said = announcement(episode, cause=session.event, by=NAME, at=now)
        return Effects(writes=(saved, *also, *self._done_with(session.event)), events=(said,))

    def _skipped(self, event: SessionEnded, reason: str, stored: Episode | None) -> Effects:
        """Skip on the precondition that *stored* is still there: it may be the only episode."""
        if stored is None:
            return Effects(writes=self._done_with(event), skipped=reason)
        expected = ExpectEpisode(scope=stored.scope, episode_id=stored.id, state=stored.state)
        return Effects(writes=(expected, *self._done_with(event)), skipped=reason)

    def _done_with(self, event: SessionEnded) -> tuple[Write, ...]:
        """Return the writes that end the session. Its state is read last: it may have gone on."""
        try:
            known = self._context.session_states.session_state(event.scope, event.session_id)
        except Misconfigured as error:  # a record of another release must not cost the episode
            _log.warning("session_state.read_failed", reason=str(error))
            return released(event)
        session_state = end_handled(known, event, now=self._context.clock())
        saved = SaveSessionState(session_state=session_state, replaces=known)
        return released(event) if session_state == known else (saved, *released(event))


@dataclass(frozen=True)
class _Session:
    event: SessionEnded
    transcript: Transcript
    windows: Windows
    decisions: tuple[Decision, ...]
    stored: Episode | None

    @property
    def summary_input(self) -> SummaryInput:
        segments = tuple(window.excerpt.segments for window in self.windows.windows)
        return SummaryInput(windows=segments, decisions=self.decisions, heading=self._heading)

    @property
    def _heading(self) -> str:
        event, header = self.event, self.transcript.header
        ended = _ended_at(event, self.transcript)
        return heading(
            date=f"{ended:%Y-%m-%d}",
            agent=event.agent_id if event.agent_id != _DEFAULT else self.transcript.format,
            directory=event.cwd or header.cwd,
            project=event.scope.project if event.scope.project != _DEFAULT else None,
            branch=header.git_branch,
        )

    def by_itself(self, *, made_do: str | None = None) -> Episode:
        """Return the extractive episode; *made_do* says why there is none by a model."""
        extract = summarize(self.transcript)
        vetting = QuoteVetting(self.transcript)
        facts, apart = vetting.sorted_out(extract.candidate_facts)
        told, held_back = vetting.held_back(extract.summary)
        decided, apart_too = decided_facts(self.decisions)
        return self._episode(
            summary=told,
            candidate_facts=(*decided, *facts),
            quarantined=(*apart_too, *apart),
            dropped_facts=tuple(sorted(held_back.items())),
            tier=Tier.EXTRACTIVE,
            files_touched=extract.files_touched,
            is_sure=extract.is_sure,
            outcome_turns=extract.outcome_turns,
            made_do=made_do,
        )

    def by_model(self, understood: SummaryResult, summarizer: LlmSummarizer) -> Episode:
        decided, apart = decided_facts(self.decisions)
        record = SessionRecord(self.transcript)
        summary, doubt = understood.summary, contradiction(understood.summary, record)
        if summary.title == UNTITLED:
            summary = replace(summary, title=title_of(record, summary.topics))
        if doubt and not summary.outcome_rationale:
            summary = replace(summary, outcome_rationale=doubt)
        return self._episode(
            summary=summary,
            candidate_facts=(*decided, *understood.candidate_facts),
            tier=Tier.LLM,
            is_sure=doubt is None,
            contradiction=doubt,
            files_touched=tuple(record.files),
            model=summarizer.model.id,
            prompt_version=summarizer.prompt.version,
            tokens=understood.tokens,
            dropped_facts=understood.dropped,
            quarantined=(*apart, *understood.quarantined),
        )

    def _episode(self, **fields: Any) -> Episode:
        event, transcript, windows = self.event, self.transcript, self.windows
        dropped = (record for window in windows.windows for record in window.excerpt.manifest.dropped)
        return Episode(
            id=episode_id(event.scope, event.session_id),
            scope=event.scope,
            session_id=event.session_id,
            external_id=event.episode_id or (self.stored.external_id if self.stored else None),
            agent_id=event.agent_id,
            version=transcript.digest,
            edition=self.stored.edition + 1 if self.stored else 1,
            event_id=event.id,
            started_at=transcript.started_at or event.started_at,
            ended_at=_ended_at(event, transcript),
            format=transcript.format,
            entries=len(transcript.entries),
            bytes=transcript.bytes,
            excerpt_digest=windows.digest,
            excerpt_chars=windows.chars,
            excerpt_dropped=sum(len(record.entries) for record in dropped),
            windows=len(windows.windows),
            decisions=self.decisions,
            skipped=tuple(sorted(transcript.skipped.items())),
            cwd=event.cwd or transcript.header.cwd,
            dataref=event.dataref if not released(event) else None,
            **fields,
        )


def _reason_to_skip(transcript: Transcript, event: SessionEnded, stored: Episode | None, now: datetime) -> str | None:
    kinds = {entry.kind for entry in transcript}
    if kinds and Kind.USER not in kinds:
        return NO_USER
    has_work = {Kind.TOOL_CALL, Kind.TOOL_RESULT} <= kinds  # a request and a call that ran say enough
    if not has_work and sum(len(entry.text) for entry in transcript if entry.kind in _WORDS) < FEWEST_CHARACTERS:
        return TOO_SHORT
    if stored is None:
        return None
    if transcript.digest == stored.version:
        return ALREADY_SUMMARIZED
    return OLDER if _is_older(transcript, event, stored, now) else None


def _is_older(transcript: Transcript, event: SessionEnded, stored: Episode, now: datetime) -> bool:
    ended_at = _ended_at(event, transcript)
    if is_ahead(ended_at, now):  # by a wrong clock
        return transcript.bytes < stored.bytes
    is_no_newer = transcript.bytes <= stored.bytes and ended_at <= stored.ended_at
    return is_no_newer and (transcript.bytes, ended_at) != (stored.bytes, stored.ended_at)


def _in_time(episode: Episode, now: datetime) -> Episode:
    """Return *episode* with times of a clock that is ahead clamped to *now*."""
    began, ended = episode.started_at, not_ahead(episode.ended_at, now)
    return replace(episode, started_at=not_ahead(began, now) if began else None, ended_at=ended)


def _ended_at(event: SessionEnded, transcript: Transcript) -> datetime:
    return transcript.ended_at or event.ended_at or event.time


WORKER = Worker(NAME, SessionEnded, EpisodeSummarizer, emits=(EpisodeSummarized,))
