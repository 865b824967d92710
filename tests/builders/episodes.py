"""Episodes as a worker writes them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid5

from nous.domain.episode import NAMESPACE, CandidateFact, Category, Episode, Outcome, Summary, Tier, episode_id
from nous.domain.scope import Scope

NOON = datetime(2026, 1, 2, 12, 0, 0, 250, tzinfo=UTC)
HOME, WORK = Scope(project="home"), Scope(project="work")


def episode(
    session: str = "s1", *, version: str = "v1", scope: Scope = HOME, ended_at: datetime = NOON, **more: Any
) -> Episode:
    """An extractive episode, with *more* of its fields."""
    return Episode(
        id=episode_id(scope, session),
        scope=scope,
        session_id=session,
        agent_id="agent",
        version=version,
        summary=Summary(
            title="A title",
            summary="Größe ist 🌍",
            key_points=("one", "two"),
            outcome=Outcome.PARTIAL,
            outcome_rationale="half of it",
            topics=("t",),
            open_threads=("the other half",),
        ),
        candidate_facts=(CandidateFact(text="The port is 6380.", turns=(1, 3), category=Category.TECHNICAL),),
        tier=more.pop("tier", Tier.EXTRACTIVE),
        event_id=uuid5(NAMESPACE, f"{session}/{version}"),
        ended_at=ended_at,
        format="claude_code",
        entries=12,
        bytes=3456,
        excerpt_digest="ab" * 32,
        excerpt_chars=800,
        excerpt_dropped=2,
        files_touched=("a.py",),
        skipped=(("torn line", 1),),
        started_at=ended_at - timedelta(minutes=5),
        **more,
    )
