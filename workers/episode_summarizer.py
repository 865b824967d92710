"""session_ended → episode_summarized."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

import structlog

from nous.domain.effects import (
    Compromise,
    Effects,
    ExpectEpisode,
    NoteCourse,
    ReleaseTranscript,
    SaveAnchor,
    SaveEpisode,
    Write,
)
from nous.domain.episode import Decision, Episode, Seen, Tier
from nous.domain.errors import Misconfigured, NousError
from nous.domain.events import EpisodeSummarized, Event, SessionEnded, episode_id
from nous.domain.scope import Matter
from nous.domain.session_state import handled, is_ahead, not_ahead
from nous.domain.summary_input import Brief
from nous.excerpt import Manifest, Windows
from nous.facts.candidate_filter import without_candidates
from nous.llm.base import ModelTimeout, ModelUnreachable
from nous.pipeline.llm_summarizer import Author, MadeDo, Understood
from nous.pipeline.worker import Kit, Worker
from nous.summary.decisions import announcement, decided_facts, shown_decisions
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.summarize import summarize
from nous.transcript.model import Kind, Transcript

NAME = "episode-summarizer"

_log = structlog.stdlib.get_logger(__name__)

FEWEST_CHARACTERS = 50
"""Of anyone's words; what says less is no session."""

TOO_SHORT = "too short"
NO_USER = "no user turn"
ALREADY_SUMMARIZED = "already summarized"
OLDER = "older than the stored version"

_WORDS = frozenset({Kind.USER, Kind.ASSISTANT, Kind.DECISION, Kind.SUMMARY, Kind.SUB_AGENT})


class EpisodeSummarizer:
    """Makes a session's episode from its transcript, once for each version of it.

    By a model, where there is one and it answers; otherwise from the transcript's own words, to be made anew later.

    The same session may be named several times, at different lengths and in any order. A version that is stored already
    is skipped, and so is one that is *older* than the stored one: neither longer nor later to end, and not the same in
    both. So a transcript that grew replaces its episode, and a late event of a shorter one does not; a file that was
    cut or rewritten replaces it only if it ends later.
    """

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @classmethod
    def from_kit(cls, kit: Kit) -> Self:
        return cls(kit)

    def __call__(self, event: Event, /) -> Effects:
        if not isinstance(event, SessionEnded):
            raise TypeError(f"{NAME} consumes {SessionEnded.type}, not {event.type}")
        matter = self._kit.matter(event.scope, episode_id(event.scope, event.session_id))
        stored = self._kit.episodes.get(event.scope, matter.subject)
        if stored and event.digest == stored.version:
            return self._skipped(event, ALREADY_SUMMARIZED, stored)
        transcript = self._kit.transcripts.read(event)
        reason = _reason_to_skip(transcript, event, stored, self._kit.clock())
        if reason:
            return self._skipped(event, reason, stored)
        session = _Session(event, transcript, self._windows(transcript), self._decisions(event, transcript), stored)
        return self._effects(session, matter)

    def _windows(self, transcript: Transcript) -> Windows:
        windows = self._kit.excerpts(transcript)
        if windows.wanted > len(windows.windows):
            made = len(windows.windows)
            _log.warning("session seen in fewer windows than it takes", wanted=windows.wanted, windows=made)
        return windows

    def _decisions(self, event: SessionEnded, transcript: Transcript) -> tuple[Decision, ...]:
        """What was recorded, what the event brings, and what the transcript shows; the first may fail, at no harm."""
        try:
            recorded = self._kit.decisions.get_episode_decisions(
                episode_id(event.scope, event.session_id), scope=event.scope
            )
        except NousError as error:
            _log.warning("recorded decisions could not be read", reason=str(error))
            recorded = ()
        return tuple(dict.fromkeys((*recorded, *event.decided, *shown_decisions(transcript))))

    def _effects(self, session: "_Session", matter: Matter) -> Effects:
        author = self._kit.author
        if author is None:
            return self._saved(session, session.by_itself(), *self._anchored(session, matter))
        try:
            made = author.try_to_understand(session.brief, matter=matter)
        except (ModelTimeout, ModelUnreachable) as error:
            lesser = session.by_itself(made_do=f"{error.failure}: {error}")
            raise Compromise(error, self._saved(session, lesser)) from error
        if isinstance(made, MadeDo):
            _log.warning("made do without the model", reason=made.reason)
            return self._saved(session, session.by_itself(made_do=made.reason), *self._anchored(session, matter))
        return self._saved(session, session.by_model(made, author), *self._anchored(session, matter))

    def _anchored(self, session: "_Session", matter: Matter) -> Iterator[SaveAnchor]:
        """The anchored summary of a session that has one: it was resumed, and has gone on since."""
        event = session.event
        previous = self._kit.anchors.anchor(event.scope, agent_id=event.agent_id, session_id=event.session_id)
        if previous is None:
            return
        anchor = self._kit.anchorer.next(session.transcript, previous, event=event, matter=matter)
        if anchor:
            yield SaveAnchor(anchor=anchor, replaces=previous.event_id)

    def _saved(self, session: "_Session", episode: Episode, *also: Write) -> Effects:
        forgotten, now = self._kit.forgotten(episode.scope), self._kit.clock()
        episode = without_candidates(_in_time(episode, now), forgotten)
        replaces = without_candidates(session.stored, forgotten) if session.stored else None
        saved = SaveEpisode(episode=episode, replaces=replaces, brief=session.brief)
        said = announcement(episode, cause=session.event, by=NAME, at=now)
        return Effects(writes=(saved, *also, *self._done_with(session.event)), events=(said,))

    def _skipped(self, event: SessionEnded, reason: str, stored: Episode | None) -> Effects:
        """Do nothing, for that *reason*; if there is one, *stored* has to be there still: it may be all there is."""
        if stored is None:
            return Effects(writes=self._done_with(event), skipped=reason)
        expected = ExpectEpisode(scope=stored.scope, episode_id=stored.id, state=stored.state)
        return Effects(writes=(expected, *self._done_with(event)), skipped=reason)

    def _done_with(self, event: SessionEnded) -> tuple[Write, ...]:
        """What follows whatever came of the session: it has ended, unless it goes on already.

        How far it has come is read last of all, since it may go on while a model is asked.
        """
        return (*self._noted(event), *_releases(event))

    def _noted(self, event: SessionEnded) -> Iterator[NoteCourse]:
        try:
            known = self._kit.courses.course(event.scope, event.session_id)
        except Misconfigured as error:  # what another release has written must not cost the episode
            _log.warning("how far the session has come could not be read", reason=str(error))
            return
        course = handled(known, event, now=self._kit.clock())
        if course != known:
            yield NoteCourse(course=course, replaces=known)


class _Session:
    """A session as it was read, and the episodes that can be made of it."""

    def __init__(
        self,
        event: SessionEnded,
        transcript: Transcript,
        windows: Windows,
        decisions: tuple[Decision, ...],
        stored: Episode | None,
    ) -> None:
        self.event = event
        self.stored = stored
        self.transcript = transcript
        self._windows = windows
        passages = tuple(window.excerpt.passages for window in windows.windows)
        self.brief = Brief(windows=passages, decisions=decisions)

    def by_itself(self, *, made_do: str | None = None) -> Episode:
        """The episode in the transcript's own words; *made_do* says why there is no better one."""
        told = summarize(self.transcript)
        return self._episode(
            summary=told.summary,
            candidate_facts=(*decided_facts(self.brief.decisions), *told.candidate_facts),
            tier=Tier.EXTRACTIVE,
            files_touched=told.files_touched,
            is_sure=told.is_sure,
            outcome_turns=told.outcome_turns,
            made_do=made_do,
        )

    def by_model(self, understood: Understood, author: Author) -> Episode:
        """The episode in the words of *author*'s model."""
        return self._episode(
            summary=understood.summary,
            candidate_facts=(*decided_facts(self.brief.decisions), *understood.candidate_facts),
            tier=Tier.LLM,
            files_touched=tuple(SessionRecord(self.transcript).files),
            model=author.model.id,
            prompt_version=author.prompt.version,
            tokens=understood.tokens,
            dropped_facts=understood.dropped,
        )

    def _episode(self, **told: Any) -> Episode:
        event, transcript, windows = self.event, self.transcript, self._windows
        seen = _seen([window.excerpt.manifest for window in windows.windows])
        return Episode(
            id=episode_id(event.scope, event.session_id),
            scope=event.scope,
            session_id=event.session_id,
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
            excerpt_dropped=sum(count for _, count in seen.dropped),
            windows=len(windows.windows),
            seen=seen,
            decisions=self.brief.decisions,
            skipped=tuple(sorted(transcript.skipped.items())),
            cwd=event.cwd or transcript.header.cwd,
            dataref=event.dataref if not _releases(event) else None,
            **told,
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
    if is_ahead(ended_at, now):  # by a clock that tells nothing
        return transcript.bytes < stored.bytes
    is_no_newer = transcript.bytes <= stored.bytes and ended_at <= stored.ended_at
    return is_no_newer and (transcript.bytes, ended_at) != (stored.bytes, stored.ended_at)


def _in_time(episode: Episode, now: datetime) -> Episode:
    """*episode* as far as its clock can be believed."""
    began, ended = episode.started_at, not_ahead(episode.ended_at, now)
    return replace(episode, started_at=not_ahead(began, now) if began else None, ended_at=ended)


def _ended_at(event: SessionEnded, transcript: Transcript) -> datetime:
    """When the session ended, by its last entry; programs that write no times are taken at the event's word."""
    return transcript.ended_at or event.ended_at or event.time


def _releases(event: SessionEnded) -> tuple[Write, ...]:
    """An uploaded transcript has done its duty when its event has, whatever came of it."""
    is_uploaded = event.dataref is not None and event.dataref.startswith("redis:")
    return (ReleaseTranscript(scope=event.scope, dataref=event.dataref),) if is_uploaded and event.dataref else ()


def _seen(manifests: Sequence[Manifest]) -> Seen:
    dropped: Counter[str] = Counter()
    for record in (record for manifest in manifests for record in manifest.dropped):
        dropped[record.reason] += len(record.entries)
    return Seen(
        whole=tuple(entry for manifest in manifests for record in manifest.kept for entry in record.entries),
        cut=tuple(
            (entry, record.shown, record.chars)
            for manifest in manifests
            for record in manifest.cut
            for entry in record.entries
        ),
        dropped=tuple(sorted(dropped.items())),
    )


WORKER = Worker(NAME, SessionEnded, EpisodeSummarizer.from_kit, emits=(EpisodeSummarized,))
