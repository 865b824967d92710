"""Segments of a prompt, the budget that they share, and what a compiler reports of them."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum

from nous.context.compression import count_tokens
from nous.summary.anchored import FailureKind
from nous.text.token_estimate import Counter


class SegmentKind(StrEnum):
    SYSTEM_PROMPT = "system_prompt"
    OLDER_TURN = "older_turn"
    RECENT_TURN = "recent_turn"
    TOOL_DEFINITIONS = "tool_definitions"
    TOOL_RESULT = "tool_result"
    USER_PROMPT = "user_prompt"
    ANCHORED_SUMMARY_RECALL = "anchored_summary_recall"
    MEMORY_BLOCK = "memory_block"


class Freshness(StrEnum):
    FRESH = "fresh"
    STALE = "stale"
    UNKNOWN = "unknown"


AGELESS = 2**32 - 1
"""Age of a segment that does not grow old."""

ESSENTIAL = (SegmentKind.SYSTEM_PROMPT, SegmentKind.TOOL_DEFINITIONS, SegmentKind.USER_PROMPT)
"""Kinds that are kept word for word."""

_IMPORTANCE: Mapping[SegmentKind, float] = {
    SegmentKind.USER_PROMPT: 2.0,
    SegmentKind.SYSTEM_PROMPT: 1.5,
    SegmentKind.ANCHORED_SUMMARY_RECALL: 1.5,
    SegmentKind.TOOL_DEFINITIONS: 1.2,
    SegmentKind.RECENT_TURN: 1.0,
    SegmentKind.MEMORY_BLOCK: 1.0,
    SegmentKind.TOOL_RESULT: 0.8,
    SegmentKind.OLDER_TURN: 0.7,
}
_ROLES = {
    SegmentKind.USER_PROMPT: "user",
    SegmentKind.OLDER_TURN: "assistant",
    SegmentKind.RECENT_TURN: "assistant",
    SegmentKind.TOOL_RESULT: "tool",
}


@dataclass(frozen=True, slots=True)
class ContextSegment:
    """One part of a prompt. What is not given follows from its kind.

    `age_index` is 0 for the newest, `AGELESS` for what does not grow old, and `trust` lies between 0 and 1. The `role`
    is system, user, assistant or tool.
    """

    kind: SegmentKind
    content: str
    _: KW_ONLY
    role: str = ""
    age_index: int = -1
    tool_name: str = ""
    base_importance: float = -1.0
    freshness: Freshness = Freshness.FRESH
    trust: float = 1.0

    def __post_init__(self) -> None:
        kind = SegmentKind(self.kind)
        ageless = kind in (SegmentKind.SYSTEM_PROMPT, SegmentKind.TOOL_DEFINITIONS)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "role", self.role or _ROLES.get(kind, "system"))
        if self.age_index < 0:
            object.__setattr__(self, "age_index", AGELESS if ageless else 0)
        if self.base_importance < 0:
            object.__setattr__(self, "base_importance", _IMPORTANCE[kind])


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBudget:
    """Room of a prompt in tokens as `count` counts them.

    A prompt takes at most `cap`. Parts of the window are reserved for the system prompt, the tool definitions and the
    user prompt. Nothing is compressed while everything takes at most `compact_at` of the cap.
    """

    window: int = 30_000
    soft_cap: int = 30_000
    system_reserve: float = 0.10
    tools_reserve: float = 0.10
    user_reserve: float = 0.05
    recent_turns: int = 6
    compact_at: float = 0.70
    count: Counter = count_tokens

    @property
    def cap(self) -> int:
        return max(min(self.window, self.soft_cap), 0)

    @property
    def reserved(self) -> Mapping[SegmentKind, int]:
        shares = (self.system_reserve, self.tools_reserve, self.user_reserve)
        return {kind: int(self.window * share) for kind, share in zip(ESSENTIAL, shares, strict=True)}

    @property
    def flexible(self) -> int:
        """Tokens for everything that is not reserved for."""
        return self.window - sum(self.reserved.values())


class ContextTier(StrEnum):
    HEURISTIC = "heuristic"
    SUMMARIZATION = "heuristic_summarization"
    EMBEDDING = "heuristic_summarization_embedding"


@dataclass(frozen=True, slots=True)
class TierSelected:
    tier: ContextTier


@dataclass(frozen=True, slots=True)
class BudgetAllocated:
    total: int
    per_kind: Mapping[SegmentKind, int]


@dataclass(frozen=True, slots=True)
class BlockEmitted:
    kind: SegmentKind
    original_tokens: int
    kept_tokens: int


@dataclass(frozen=True, slots=True)
class SummarizerInvoked:
    segments_in: int
    summary_tokens: int


@dataclass(frozen=True, slots=True)
class SummarizerFailed:
    error_kind: FailureKind
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetExceeded:
    overage: int


ContextEvent = TierSelected | BudgetAllocated | BlockEmitted | SummarizerInvoked | SummarizerFailed | BudgetExceeded


@dataclass(frozen=True, slots=True)
class SegmentMetrics:
    """Fate of one segment: its tokens before and after, 0 if it was dropped, and why."""

    segment: ContextSegment
    original_tokens: int
    kept_tokens: int
    is_dropped: bool
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMetrics:
    """Counts of one compilation: of each segment, in their order, and in total."""

    tier: ContextTier
    cap: int
    per_segment: Sequence[SegmentMetrics]
    summarizer_calls: int = 0
    summarizer_failures: int = 0

    @property
    def original_tokens(self) -> int:
        return sum(each.original_tokens for each in self.per_segment)

    @property
    def kept_tokens(self) -> int:
        return sum(each.kept_tokens for each in self.per_segment)
