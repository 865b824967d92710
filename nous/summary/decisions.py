"""Convert recorded decisions to candidate facts; build the `EpisodeSummarized` event."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from nous.domain.episode import CandidateFact, Category, Decision, Episode, ExcerptSeen, QuarantinedFact, TranscriptSeen
from nous.domain.events import EpisodeSummarized, Event
from nous.redaction.redactor import tells_secret
from nous.summary.heuristic.sentences import names
from nous.text.injection import aims

LEAST_SURE = 0.6  # the lowest confidence of a recorded decision that becomes a fact as well
MOST = 20  # the most decisions that become facts, the newest ones; the other facts are for what the episode taught
_LONGEST = 1000


def decided_facts(recorded: Sequence[Decision]) -> tuple[tuple[CandidateFact, ...], tuple[QuarantinedFact, ...]]:
    """Return recorded decisions as facts in their recorded words, and those to keep apart.

    An agent may have recorded one that a tool or a page gave it.
    """
    found = [(fact, aims(fact.text, of_agent=True)) for fact in _told(recorded)]
    apart = (QuarantinedFact(candidate=fact, reason=f"instruction: {min(aim)}") for fact, aim in found if aim)
    return tuple(fact for fact, aim in found if not aim), tuple(apart)


def _told(recorded: Sequence[Decision]) -> Iterator[CandidateFact]:
    sure = (each for each in recorded if not each.turns and each.confidence >= LEAST_SURE)
    told = [each for each in sure if len(each.description) <= _LONGEST and not tells_secret(each.description)]
    for decision in told[-MOST:]:
        yield CandidateFact(
            text=decision.description,
            category=Category.DECISION,
            subject=next(iter(names(decision.description)), decision.category),
            confidence=decision.confidence,
        )


def announcement(episode: Episode, *, cause: Event, by: str, at: datetime) -> EpisodeSummarized:
    tokens = episode.tokens
    return EpisodeSummarized.after(
        cause,
        by=by,
        at=at,
        episode_id=episode.id,
        external_id=episode.external_id,
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
