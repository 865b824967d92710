"""The event that says what a session has become."""

from datetime import datetime

from nous.episode import Episode, ExcerptSeen, TranscriptSeen
from nous.events import EpisodeSummarized, Event


def announcement(episode: Episode, *, cause: Event, by: str, at: datetime) -> EpisodeSummarized:
    """What the worker *by* says of *episode*, which it has made because of *cause*."""
    tokens = episode.tokens
    return EpisodeSummarized.after(
        cause,
        by=by,
        at=at,
        episode_id=episode.id,
        version=episode.version,
        summary=episode.summary,
        candidate_facts=episode.candidate_facts,
        tier=str(episode.tier),
        model=episode.model,
        prompt_version=episode.prompt_version,
        tokens=None if tokens is None else {"in": tokens.input, "out": tokens.output},
        ended_at=episode.ended_at,
        transcript=TranscriptSeen(digest=episode.version, entries=episode.entries, bytes=episode.bytes),
        excerpt=ExcerptSeen(
            digest=episode.excerpt_digest, chars=episode.excerpt_chars, dropped=episode.excerpt_dropped
        ),
    )
