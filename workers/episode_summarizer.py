"""session_ended → episode_summarized."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Self
from uuid import UUID, uuid5

import structlog

from nous.effects import Effects, ReleaseTranscript, SaveEpisode, Write
from nous.episode import Episode, Seen, Tier
from nous.events import NAMESPACE, EpisodeSummarized, Event, ExcerptSeen, SessionEnded, TranscriptSeen
from nous.excerpt import Manifest, Windows
from nous.kit import Kit, Worker
from nous.scope import Scope
from nous.summary.extractive import Extracted, summarize
from nous.summary.merging import merged
from nous.transcript.model import Kind, Transcript

NAME = "episode-summarizer"

_log = structlog.stdlib.get_logger(__name__)

FEWEST_CHARACTERS = 50
"""Of anyone's words; what says less is no session."""

TOO_SHORT = "too short"
ALREADY_SUMMARIZED = "already summarized"
OLDER = "older than the stored version"

_WORDS = frozenset({Kind.USER, Kind.ASSISTANT, Kind.DECISION, Kind.SUMMARY, Kind.SUB_AGENT})


class EpisodeSummarizer:
    """Makes a session's episode from its transcript, once for each version of it.

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
        stored = self._kit.episodes.get(event.scope, episode_id(event.scope, event.session_id))
        if stored and event.digest == stored.version:
            return _skipped(event, ALREADY_SUMMARIZED)
        transcript = self._kit.transcripts.read(event)
        reason = _reason_to_skip(transcript, event, stored)
        return _skipped(event, reason) if reason else self._effects(event, transcript, stored)

    def _effects(self, event: SessionEnded, transcript: Transcript, stored: Episode | None) -> Effects:
        windows = self._kit.excerpts(transcript)
        if windows.wanted > len(windows.windows):
            made = len(windows.windows)
            _log.warning("session seen in fewer windows than it takes", wanted=windows.wanted, windows=made)
        episode = _episode(event, transcript, windows, _summarized(transcript, windows))
        return Effects(
            writes=(SaveEpisode(episode=episode, replaces=stored), *_releases(event)),
            events=(self._summarized(event, episode),),
        )

    def _summarized(self, cause: SessionEnded, episode: Episode) -> EpisodeSummarized:
        return EpisodeSummarized.after(
            cause,
            by=NAME,
            at=self._kit.clock(),
            episode_id=episode.id,
            version=episode.version,
            summary=episode.summary,
            candidate_facts=episode.candidate_facts,
            tier=str(episode.tier),
            transcript=TranscriptSeen(digest=episode.version, entries=episode.entries, bytes=episode.bytes),
            excerpt=ExcerptSeen(
                digest=episode.excerpt_digest, chars=episode.excerpt_chars, dropped=episode.excerpt_dropped
            ),
        )


def episode_id(scope: Scope, session_id: str) -> UUID:
    """The id of a session's episode, which is the same in every version."""
    return uuid5(NAMESPACE, f"episode\n{scope}\n{session_id}")


def _reason_to_skip(transcript: Transcript, event: SessionEnded, stored: Episode | None) -> str | None:
    if sum(len(entry.text) for entry in transcript if entry.kind in _WORDS) < FEWEST_CHARACTERS:
        return TOO_SHORT
    if stored is None:
        return None
    if transcript.digest == stored.version:
        return ALREADY_SUMMARIZED
    return OLDER if _is_older(transcript, event, stored) else None


def _is_older(transcript: Transcript, event: SessionEnded, stored: Episode) -> bool:
    ended_at = _ended_at(event, transcript)
    is_no_newer = transcript.bytes <= stored.bytes and ended_at <= stored.ended_at
    return is_no_newer and (transcript.bytes, ended_at) != (stored.bytes, stored.ended_at)


def _ended_at(event: SessionEnded, transcript: Transcript) -> datetime:
    """When the session ended, by its last entry; programs that write no times are taken at the event's word."""
    return transcript.ended_at or event.ended_at or event.time


def _skipped(event: SessionEnded, reason: str) -> Effects:
    return Effects(writes=_releases(event), skipped=reason)


def _releases(event: SessionEnded) -> tuple[Write, ...]:
    """An uploaded transcript has done its duty when its event has, whatever came of it."""
    is_uploaded = event.dataref is not None and event.dataref.startswith("redis:")
    return (ReleaseTranscript(dataref=event.dataref),) if is_uploaded and event.dataref else ()


def _summarized(transcript: Transcript, windows: Windows) -> Extracted:
    """*transcript* as a whole; where it takes several windows, with what each of them has to say."""
    whole = summarize(transcript)
    if len(windows.windows) == 1:
        return whole
    parts = [summarize(window.transcript) for window in windows.windows]
    return merged(parts, told=whole.summary.summary)


def _episode(event: SessionEnded, transcript: Transcript, windows: Windows, extracted: Extracted) -> Episode:
    seen = _seen([window.excerpt.manifest for window in windows.windows])
    return Episode(
        id=episode_id(event.scope, event.session_id),
        scope=event.scope,
        session_id=event.session_id,
        agent_id=event.agent_id,
        version=transcript.digest,
        summary=extracted.summary,
        candidate_facts=extracted.candidate_facts,
        tier=Tier.EXTRACTIVE,
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
        files_touched=extracted.files_touched,
        skipped=tuple(sorted(transcript.skipped.items())),
        cwd=event.cwd or transcript.header.cwd,
        dataref=event.dataref if not _releases(event) else None,
    )


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
