"""Fit the segments of a prompt into a context window, by score and with compression.

System prompt, tool definitions and user prompt are kept word for word, the last turns as far as they fit. The others
compete by a score of importance, age, freshness, trust and the words of the query. Older turns that do not fit go to
the summarizer, whose summary stands in front of the turns. Pure but for the summarizer, the embedder and the sink.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import inf

import structlog

from nous.context.compression import CompressionMode, compress
from nous.context.segments import (
    AGELESS,
    ESSENTIAL,
    BlockEmitted,
    BudgetAllocated,
    BudgetExceeded,
    ContextBudget,
    ContextEvent,
    ContextMetrics,
    ContextSegment,
    ContextTier,
    Freshness,
    SegmentKind,
    SegmentMetrics,
    SummarizerFailed,
    SummarizerInvoked,
    TierSelected,
)
from nous.domain.anchored_summary import AnchoredSummary
from nous.domain.errors import BadInput
from nous.domain.summary_input import Segment
from nous.embedding.base import Embedder
from nous.summary.anchored import FailureKind, Summarizer, SummarizerError

log = structlog.get_logger(__name__)

Sink = Callable[[ContextEvent], object]

_DECAY = 0.9
_FRESHNESS = {Freshness.FRESH: 1.0, Freshness.UNKNOWN: 0.85, Freshness.STALE: 0.5}
_DOUBTED, _OF_DOUBTED = 0.5, 0.85
_OVERLAP, _NAMED_TOOL = 0.35, 0.5
_FEWEST_BYTES = 3
_WORD = re.compile(r"[\w-]+")
_MODES = {
    SegmentKind.TOOL_RESULT: CompressionMode.AGGRESSIVE,
    SegmentKind.OLDER_TURN: CompressionMode.BALANCED,
    SegmentKind.RECENT_TURN: CompressionMode.BALANCED,
}
_AHEAD_OF_RECALL = (SegmentKind.SYSTEM_PROMPT, SegmentKind.TOOL_DEFINITIONS, SegmentKind.MEMORY_BLOCK)


class ContextTooLarge(BadInput):
    """The segments that are never cut exceed the cap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledContext:
    """A prompt within its cap: segments in the order given, and the summary recalled among them.

    `dropped` are older turns that the summary does not cover either. Give them again with the next prompt.
    """

    segments: tuple[ContextSegment, ...]
    anchored_summary: AnchoredSummary
    dropped: tuple[ContextSegment, ...]
    metrics: ContextMetrics


def compile(  # noqa: A001  (the name is specified)
    segments: Iterable[ContextSegment],
    budget: ContextBudget | int = ContextBudget(),  # noqa: B008  (frozen)
    *,
    query: str | None = None,
    existing_summary: AnchoredSummary | None = None,
    summarizer: Summarizer | None = None,
    embedder: Embedder | None = None,
    sink: Sink = lambda _: None,
) -> CompiledContext:
    """Return the *segments* that fit into *budget*, compressed where that helps.

    An int is a window of that many tokens. The *query* defaults to the last user prompt. With a *summarizer*, older
    turns that do not fit join the *existing_summary*; if it fails, the call does not. With an *embedder* beside it,
    likeness in meaning counts like shared words. *sink* is called with each event. Raises ContextTooLarge if the
    segments that are never cut exceed the cap.
    """
    budget = ContextBudget(window=budget) if isinstance(budget, int) else budget
    given = tuple(segments)
    prompts = [each.content for each in given if each.kind is SegmentKind.USER_PROMPT]
    asked = "".join(prompts[-1:]) if query is None else query
    alike = _similarities(given, asked, embedder) if summarizer and embedder else []
    tier = ContextTier.EMBEDDING if alike else ContextTier.SUMMARIZATION if summarizer else ContextTier.HEURISTIC
    sink(TierSelected(tier))
    sink(BudgetAllocated(budget.cap, budget.reserved))
    slots = [
        _Slot(each, score(each, asked, similarity=near), budget.count(each.content))
        for each, near in zip(given, alike or [0.0] * len(given), strict=True)
    ]
    window = _Window(budget=budget, sink=sink, slots=slots, summary=existing_summary)
    window.keep_essential()
    window.fill()
    if summarizer and window.waiting:
        window.summarize(summarizer)
    for slot in window.shown:
        sink(BlockEmitted(slot.segment.kind, slot.tokens, slot.kept_tokens))
    return window.compiled(tier)


def score(segment: ContextSegment, query: str, *, similarity: float = 0.0) -> float:
    """Rank a segment for *query*; infinity for a system prompt and a user prompt.

    *similarity*, the cosine of both texts, counts if it is more than the share of the query's words in the segment.
    """
    if segment.kind in (SegmentKind.SYSTEM_PROMPT, SegmentKind.USER_PROMPT):
        return inf
    recency = 1.0 if segment.age_index >= AGELESS else _DECAY**segment.age_index
    trust = _OF_DOUBTED if segment.trust < _DOUBTED else 1.0
    wanted = _words(query)
    shared = len(wanted & _words(segment.content)) / len(wanted) if wanted else 0.0
    is_named = segment.tool_name and segment.tool_name.lower() in query.lower()
    named = _NAMED_TOOL if is_named and segment.kind is SegmentKind.TOOL_RESULT else 0.0
    base = segment.base_importance * recency * _FRESHNESS[segment.freshness] * trust
    return base + _OVERLAP * max(shared, similarity) + named


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word.encode("utf-8", "replace")) >= _FEWEST_BYTES}


def _similarities(given: Sequence[ContextSegment], query: str, embedder: Embedder) -> list[float]:
    """Return each segment's cosine with *query*; [] without one, or if the embedder fails."""
    if not query.strip():
        return []
    try:
        asked, *rows = embedder.embed([query, *(each.content for each in given)])
        return [float(asked @ row) for _, row in zip(given, rows, strict=True)]
    except Exception as error:  # noqa: BLE001  whatever a caller's embedder raises, the prompt is due
        log.warning("context.embedder_failed", reason=str(error))
        return []


@dataclass(slots=True, eq=False)
class _Slot:
    """A segment on its way into a window: its text there, None while it is left out, and why."""

    segment: ContextSegment
    score: float
    tokens: int
    text: str | None = None
    kept_tokens: int = 0
    reason: str = ""

    def keep(self, text: str, tokens: int, reason: str) -> None:
        self.text, self.kept_tokens, self.reason = text, tokens, reason

    def leave_out(self, reason: str) -> None:
        self.text, self.kept_tokens, self.reason = None, 0, reason


@dataclass(slots=True, eq=False, kw_only=True)
class _Window:
    """The slots of one prompt, in the caller's order, and the recalled summary."""

    budget: ContextBudget
    sink: Sink
    slots: list[_Slot]
    summary: AnchoredSummary | None
    recall: _Slot | None = None
    covered: set[_Slot] = field(default_factory=set[_Slot])
    calls: int = 0
    failures: int = 0

    @property
    def left(self) -> int:
        """Tokens below the cap that nothing takes yet."""
        return self.budget.cap - sum(slot.kept_tokens for slot in self.shown)

    @property
    def _most_recalled(self) -> int:
        return self.budget.cap - sum(slot.kept_tokens for slot in self.slots if slot.segment.kind in ESSENTIAL)

    @property
    def shown(self) -> list[_Slot]:
        """Kept slots in order. The recalled summary stands behind system prompt, tools and memory."""
        kept = [slot for slot in self.slots if slot.text is not None]
        if self.recall is None or self.recall.text is None:
            return kept
        ahead = sum(1 for _ in takewhile(lambda slot: slot.segment.kind in _AHEAD_OF_RECALL, kept))
        return [*kept[:ahead], self.recall, *kept[ahead:]]

    @property
    def waiting(self) -> list[_Slot]:
        """Older turns that are neither shown nor covered by the summary."""
        left_out = (slot for slot in self.slots if slot.text is None and slot not in self.covered)
        return [slot for slot in left_out if slot.segment.kind is SegmentKind.OLDER_TURN]

    def keep_essential(self) -> None:
        """Keep what is never cut. Raises ContextTooLarge."""
        for slot in self.slots:
            if slot.segment.kind in ESSENTIAL:
                slot.keep(slot.segment.content, slot.tokens, "is never cut")
        if self.left < 0:
            self.sink(BudgetExceeded(-self.left))
            raise ContextTooLarge(
                f"system prompt, tool definitions and user prompt take {self.budget.cap - self.left:,} tokens, and the "
                f"cap is {self.budget.cap:,}: shorten them, or raise the window and the soft cap"
            )

    def fill(self) -> None:
        """Keep the summary so far, the last turns as they are, and of the rest the best that fits."""
        is_tight = sum(slot.tokens for slot in self.slots) > self.budget.compact_at * self.budget.cap
        self.put_recall()
        rest = [slot for slot in self.slots if slot.text is None]
        for slot in sorted(filter(self._is_recent, rest), key=lambda slot: slot.segment.age_index):
            if slot.tokens <= self.left:
                slot.keep(slot.segment.content, slot.tokens, "is one of the last turns")
        left = min(self.left, self.budget.flexible)
        for slot in sorted((slot for slot in rest if slot.text is None), key=lambda slot: -slot.score):
            mode = _MODES.get(slot.segment.kind, CompressionMode.OFF) if is_tight else CompressionMode.OFF
            text = compress(slot.segment.content, mode).text
            tokens = self.budget.count(text)
            if tokens > left:
                slot.leave_out(f"takes {tokens:,}, and {max(left, 0):,} are left")
                continue
            slot.keep(text, tokens, "fits" if text == slot.segment.content else "fits when compressed")
            left -= tokens

    def _is_recent(self, slot: _Slot) -> bool:
        segment = slot.segment
        return segment.kind is SegmentKind.RECENT_TURN and segment.age_index < self.budget.recent_turns

    def summarize(self, summarizer: Summarizer) -> None:
        """Let the summary cover the older turns left out. If the summarizer fails, they wait."""
        turns, self.calls = self.waiting, 1
        try:
            self.summary = self._joined(turns, summarizer)
        except Exception as error:  # noqa: BLE001  whatever a caller's summarizer raises, the prompt is due
            self.failures = 1
            kind = error.kind if isinstance(error, SummarizerError) else FailureKind.OTHER
            log.warning("context.summarizer_failed", failure=kind, reason=str(error))
            self.sink(SummarizerFailed(kind, str(error)))
            return
        self.covered = set(turns)
        self.sink(SummarizerInvoked(len(turns), self.budget.count(self.summary.to_prompt_text())))
        self.put_recall()

    def _joined(self, turns: Sequence[_Slot], summarizer: Summarizer) -> AnchoredSummary:
        said = [Segment(slot.segment.content, slot.segment.role) for slot in turns]
        summary = summarizer.summarize(said, self.summary)
        tokens = self.budget.count(summary.to_prompt_text())
        if summary.is_empty or tokens > self._most_recalled:
            size = "is empty" if summary.is_empty else f"takes {tokens:,} tokens, and {self._most_recalled:,} are left"
            raise BadInput(f"its summary {size}")
        return summary

    def put_recall(self) -> None:
        """Put the summary in. The lowest ranks make room; it is left out if that cannot be enough."""
        if self.summary is None or self.summary.is_empty:
            return
        segment = ContextSegment(SegmentKind.ANCHORED_SUMMARY_RECALL, self.summary.to_prompt_text())
        self.recall = _Slot(segment, inf, self.budget.count(segment.content))
        if self.recall.tokens > self._most_recalled:
            self.recall.leave_out(f"takes {self.recall.tokens:,}, and {self._most_recalled:,} are left")
            self.sink(BudgetExceeded(self.recall.tokens - self._most_recalled))
            return
        movable = [slot for slot in self.shown if slot.segment.kind not in ESSENTIAL]
        for slot in sorted(movable, key=lambda slot: (self._is_recent(slot), slot.score)):
            if self.left >= self.recall.tokens:
                break
            slot.leave_out("made room for the summary")
        self.recall.keep(segment.content, self.recall.tokens, "is the summary of earlier turns")

    def compiled(self, tier: ContextTier) -> CompiledContext:
        rows = [*self.slots, *([self.recall] if self.recall else [])]
        per_segment = [
            SegmentMetrics(each.segment, each.tokens, each.kept_tokens, each.text is None, each.score, each.reason)
            for each in rows
        ]
        return CompiledContext(
            segments=tuple(replace(slot.segment, content=slot.text or "") for slot in self.shown),
            anchored_summary=self.summary or AnchoredSummary.empty(),
            dropped=tuple(slot.segment for slot in self.waiting),
            metrics=ContextMetrics(
                tier=ContextTier.HEURISTIC if self.failures else tier,
                cap=self.budget.cap,
                per_segment=per_segment,
                summarizer_calls=self.calls,
                summarizer_failures=self.failures,
            ),
        )
