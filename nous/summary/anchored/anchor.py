"""An anchored summary as it is kept, with what it was made from."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nous.episode import Tier, Tokens
from nous.scope import Scope
from nous.summary.anchored.model import AnchoredSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An agent's anchored summary of a session: one, replaced each time that the session compacts or ends.

    The first `entries` of the transcript, `bytes` long and of that `digest`, are in it. Of those a model has seen the
    first `seen_by_model`; the others are shown to it next time, since `made_do` says why it could not see them.
    `put_back` counts the lines of the one before that a model had left out. `event_id` is what it was made for, and
    `at` when the last of it was said, or, where the transcript tells no times, when that was published.
    """

    scope: Scope
    agent_id: str
    session_id: str
    summary: AnchoredSummary
    digest: str
    entries: int
    bytes: int
    event_id: UUID
    at: datetime
    tier: Tier
    model: str | None = None
    prompt_version: str | None = None
    tokens: Tokens | None = None
    made_do: str | None = None
    seen_by_model: int = 0
    put_back: int = 0
