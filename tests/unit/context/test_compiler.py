"""The context compiler: its scores, budgets and events, number by number, and that it never exceeds its cap."""

import random
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import nous
from nous.context import (
    CompiledContext,
    ContextBudget,
    ContextEvent,
    ContextSegment,
    ContextTier,
    ContextTooLarge,
    Freshness,
    SegmentKind,
    compile,  # noqa: A004  (the name is specified)
    count_tokens,
    score,
)
from nous.context.segments import (
    AGELESS,
    BlockEmitted,
    BudgetAllocated,
    BudgetExceeded,
    SummarizerFailed,
    SummarizerInvoked,
    TierSelected,
)
from nous.domain.anchored_summary import AnchoredSummary
from nous.domain.errors import Unavailable
from nous.domain.summary_input import Segment
from nous.summary import SummarizerError

SYSTEM, OLDER, RECENT, TOOLS, RESULT, PROMPT, RECALL, MEMORY = (
    SegmentKind.SYSTEM_PROMPT,
    SegmentKind.OLDER_TURN,
    SegmentKind.RECENT_TURN,
    SegmentKind.TOOL_DEFINITIONS,
    SegmentKind.TOOL_RESULT,
    SegmentKind.USER_PROMPT,
    SegmentKind.ANCHORED_SUMMARY_RECALL,
    SegmentKind.MEMORY_BLOCK,
)


def prose(tokens: int, word: str = "mill") -> str:
    """Return sentences without numbers or references, of about *tokens* tokens."""
    sentence = f"The {word} turned slowly in the evening wind. "
    return (sentence * (4 * tokens // len(sentence) + 1))[: 4 * tokens]


class Note:
    """A summarizer that lists what it was given, fails, or gives one of *answers*."""

    def __init__(self, error: Exception | None = None, *, words: int = 5, answers: Sequence[Any] = ()) -> None:
        self.given: list[Sequence[Segment]] = []
        self.error, self.words, self.answers = error, words, answers

    def summarize(self, segments: Sequence[Segment], existing_summary: AnchoredSummary | None) -> AnchoredSummary:
        self.given.append(segments)
        if self.error:
            raise self.error
        if self.answers:
            return self.answers[0]
        before = existing_summary.iteration if existing_summary else 0
        return AnchoredSummary.of(
            {"current_state": f"{len(segments)} turns. {'word ' * self.words}"}, iteration=before + 1
        )


class Alike:
    """An embedder for which texts with a common first letter mean the same."""

    id, dim = "alike", 26

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[ord(text.lower()[0]) - ord("a")] = 1.0
        return rows


class Down(Alike):
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise Unavailable(f"no answer for {len(texts)} texts")


def kept(compiled: CompiledContext) -> int:
    return sum(count_tokens(each.content) for each in compiled.segments)


@pytest.mark.parametrize(
    ("kind", "importance", "age", "role"),
    [
        (PROMPT, 2.0, 0, "user"),
        (SYSTEM, 1.5, AGELESS, "system"),
        (TOOLS, 1.2, AGELESS, "system"),
        (RECENT, 1.0, 0, "assistant"),
        (MEMORY, 1.0, 0, "system"),
        (RESULT, 0.8, 0, "tool"),
        (OLDER, 0.7, 0, "assistant"),
    ],
)
def test_each_kind_has_its_importance_age_and_role(kind: SegmentKind, importance: float, age: int, role: str) -> None:
    segment = ContextSegment(kind, "text")

    assert (segment.base_importance, segment.age_index, segment.role) == (importance, age, role)


@pytest.mark.parametrize(
    ("segment", "query", "wanted"),
    [
        (ContextSegment(OLDER, "one two"), "", 0.7),
        (ContextSegment(OLDER, "one two", age_index=2), "", 0.7 * 0.81),
        (ContextSegment(TOOLS, "one two"), "", 1.2),
        (ContextSegment(OLDER, "one two", freshness=Freshness.STALE), "", 0.35),
        (ContextSegment(OLDER, "one two", freshness=Freshness.UNKNOWN), "", 0.7 * 0.85),
        (ContextSegment(OLDER, "one two", trust=0.49), "", 0.7 * 0.85),
        (ContextSegment(OLDER, "one two", trust=0.5), "", 0.7),
        (ContextSegment(MEMORY, "rust borrow checker"), "Rust tokio BORROW is", 1.0 + 0.35 * 2 / 3),
        (ContextSegment(RESULT, "text", tool_name="file_read"), "what did File_Read say", 0.8 + 0.5),
        (ContextSegment(OLDER, "text", tool_name="file_read"), "what did file_read say", 0.7),
        (ContextSegment(MEMORY, "中文"), "中文", 1.35),
        (ContextSegment(SYSTEM, "text"), "", inf),
        (ContextSegment(PROMPT, "text"), "", inf),
    ],
)
def test_a_score_follows_the_formula(segment: ContextSegment, query: str, wanted: float) -> None:
    assert score(segment, query) == pytest.approx(wanted)


def test_the_default_budget_is_the_specified_one() -> None:
    budget = ContextBudget()

    assert (budget.window, budget.soft_cap, budget.cap, budget.recent_turns) == (30_000, 30_000, 30_000, 6)
    assert dict(budget.reserved) == {SYSTEM: 3_000, TOOLS: 3_000, PROMPT: 1_500}
    assert (budget.flexible, budget.compact_at) == (22_500, 0.70)
    assert [count_tokens(text) for text in ("", "abc", "abcd", "é" * 4)] == [1, 1, 2, 3]


def test_below_the_trigger_everything_is_kept_word_for_word_in_its_order() -> None:
    segments = [
        ContextSegment(SYSTEM, "You help."),
        ContextSegment(MEMORY, prose(90)),
        ContextSegment(OLDER, prose(200), age_index=9),
        ContextSegment(RESULT, prose(100), tool_name="grep"),
        ContextSegment(PROMPT, "Go on."),
    ]

    assert compile(segments, 600).segments == tuple(segments)


def test_above_the_trigger_tool_results_shrink_most_and_turns_less() -> None:
    turn, result = ContextSegment(OLDER, prose(400), age_index=9), ContextSegment(RESULT, prose(400))
    memory = ContextSegment(MEMORY, prose(400))

    rows = compile([turn, result, memory], 1_650).metrics.per_segment

    assert [round(row.kept_tokens / row.original_tokens, 1) for row in rows] == [0.5, 0.3, 1.0]
    assert [row.reason for row in rows] == ["fits when compressed", "fits when compressed", "fits"]


def test_the_last_six_turns_stay_word_for_word_and_older_recent_ones_compete() -> None:
    turns = [ContextSegment(RECENT, prose(200, f"mill{'abcdefgh'[age]}"), age_index=age) for age in range(8)]

    rows = compile(turns, 1_600).metrics.per_segment

    assert [row.reason for row in rows[:6]] == ["is one of the last turns"] * 6
    assert all(row.kept_tokens < row.original_tokens for row in rows[6:])


def test_a_segment_that_does_not_fit_is_dropped_and_the_fill_goes_on() -> None:
    segments = [ContextSegment(MEMORY, prose(500), age_index=0), ContextSegment(MEMORY, prose(60), age_index=1)]

    compiled = compile(segments, 200)

    assert compiled.segments == (segments[1],)
    assert compiled.metrics.per_segment[0].is_dropped
    assert "and 150 are left" in compiled.metrics.per_segment[0].reason


def test_what_the_query_is_about_comes_first() -> None:
    about, other = ContextSegment(MEMORY, "tokio " * 40), ContextSegment(MEMORY, "lunch " * 40)

    assert compile([other, about, ContextSegment(PROMPT, "fix tokio")], 110).segments[0] == about


def test_dropped_turns_go_to_the_summarizer_and_its_summary_stands_behind_system_and_memory() -> None:
    turns = [ContextSegment(OLDER, prose(300), age_index=age, role="user") for age in range(9)]
    note, events = Note(), list[ContextEvent]()
    ahead = [ContextSegment(TOOLS, "[]"), ContextSegment(SYSTEM, "sys"), ContextSegment(MEMORY, "known")]
    segments = [*ahead, *turns, ContextSegment(PROMPT, "go")]

    compiled = compile(segments, 600, summarizer=note, sink=events.append)

    assert [each.kind for each in compiled.segments][:4] == [TOOLS, SYSTEM, MEMORY, RECALL]
    assert compiled.segments[3].content == compiled.anchored_summary.to_prompt_text()
    assert compiled.anchored_summary.iteration == 1
    assert compiled.metrics.tier == "heuristic_summarization"
    assert compiled.metrics.summarizer_calls == 1
    assert compiled.dropped == ()
    assert {each.role for each in note.given[0]} == {"user"}
    assert SummarizerInvoked(len(note.given[0]), count_tokens(compiled.segments[3].content)) in events


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (SummarizerError("timeout"), "timeout"),
        (SummarizerError("transport", "refused"), "transport"),
        (SummarizerError("parse", "no JSON"), "parse"),
        (RuntimeError("boom"), "other"),
    ],
)
def test_a_summarizer_that_fails_costs_its_tier_and_no_turn(error: Exception, kind: str) -> None:
    turns = [ContextSegment(OLDER, prose(300), age_index=age) for age in range(9)]
    before, events = AnchoredSummary.of({"intent": "Ship it."}, iteration=3), list[ContextEvent]()

    compiled = compile(turns, 600, summarizer=Note(error), existing_summary=before, sink=events.append)

    assert SummarizerFailed(kind, str(error)) in events  # pyright: ignore[reportArgumentType]  (a StrEnum's value)
    assert compiled.metrics.tier == "heuristic"
    assert (compiled.metrics.summarizer_calls, compiled.metrics.summarizer_failures) == (1, 1)
    assert compiled.anchored_summary == before
    assert compiled.segments[0].content == before.to_prompt_text()
    assert compiled.dropped


@pytest.mark.parametrize("answer", [AnchoredSummary.empty(), AnchoredSummary.of({"intent": prose(999)}), "done", None])
def test_a_summary_that_cannot_be_used_costs_no_turn_either(answer: Any) -> None:
    turns = [ContextSegment(OLDER, prose(300), age_index=age) for age in range(9)]
    before = AnchoredSummary.of({"intent": "Ship it."}, iteration=3)

    compiled = compile(turns, 600, summarizer=Note(answers=[answer]), existing_summary=before)

    without = compile(turns, 600, existing_summary=before)
    assert (compiled.segments, compiled.dropped) == (without.segments, without.dropped)
    assert (compiled.anchored_summary, compiled.metrics.summarizer_failures) == (before, 1)


def test_a_summary_that_grew_takes_the_room_of_what_ranks_last() -> None:
    turns = [ContextSegment(OLDER, prose(100, "oak"), age_index=age) for age in range(9)]

    compiled = compile(turns, 400, summarizer=Note(words=250))

    assert compiled.segments[0].kind is RECALL
    assert kept(compiled) <= 400
    assert any(row.reason == "made room for the summary" for row in compiled.metrics.per_segment)
    assert [each.age_index for each in compiled.dropped]


def test_a_summary_above_the_cap_is_left_out_and_said() -> None:
    events = list[ContextEvent]()

    turns = [ContextSegment(RECENT, "Go on.", age_index=0)]

    compiled = compile(turns, 50, existing_summary=AnchoredSummary.of({"intent": prose(80)}), sink=events.append)

    assert compiled.segments == tuple(turns)
    assert any(isinstance(event, BudgetExceeded) for event in events)


def test_with_summarizer_and_embedder_meaning_counts_like_words() -> None:
    alike, other = ContextSegment(MEMORY, "apple " * 40), ContextSegment(MEMORY, "zebra " * 40)
    events = list[ContextEvent]()

    compiled = compile([other, alike], 100, query="ananas", summarizer=Note(), embedder=Alike(), sink=events.append)

    assert compiled.segments == (alike,)
    assert events[0] == TierSelected(ContextTier.EMBEDDING)


class Broken(Down):
    def embed(self, texts: Sequence[str]) -> Any:
        raise RuntimeError(f"no gpu for {len(texts)} texts")


@pytest.mark.parametrize("embedder", [Down(), Broken()])
@pytest.mark.parametrize(("summarizer", "tier"), [(Note(), "heuristic_summarization"), (None, "heuristic")])
def test_an_embedder_that_is_down_or_alone_changes_nothing(summarizer: Note | None, tier: str, embedder: Down) -> None:
    segments = [ContextSegment(MEMORY, "zebra"), ContextSegment(PROMPT, "ananas")]

    compiled = compile(segments, summarizer=summarizer, embedder=embedder)

    assert compiled.segments == tuple(segments)
    assert compiled.metrics.tier == tier


def test_what_is_never_cut_and_does_not_fit_is_refused_with_its_size() -> None:
    events = list[ContextEvent]()

    with pytest.raises(ContextTooLarge, match="take 201 tokens, and the cap is 100"):
        compile([ContextSegment(SYSTEM, "x" * 800)], 100, sink=events.append)
    assert events[-1] == BudgetExceeded(101)


def test_a_window_of_200_000_tokens_honours_the_soft_cap_unless_it_is_raised() -> None:
    segments = [ContextSegment(OLDER, prose(5_000), age_index=age) for age in range(60)]

    assert 25_000 < kept(compile(segments, 200_000)) <= 30_000
    assert 140_000 < kept(compile(segments, ContextBudget(window=200_000, soft_cap=200_000))) <= 150_000


def test_a_tokenizer_may_count() -> None:
    budget = ContextBudget(window=10, count=lambda text: len(text.split()), compact_at=1.0)

    assert compile([ContextSegment(RECENT, "one two three four five six seven eight nine ten")], budget).segments


def test_the_package_is_a_function_too() -> None:
    assert nous.context.compile is compile
    assert callable(nous.context)


_kinds = st.sampled_from(list(SegmentKind))
_segments = st.lists(
    st.builds(
        ContextSegment,
        _kinds,
        st.one_of(st.text(max_size=200), st.integers(1, 9_000).map(prose)),
        age_index=st.integers(0, 30),
        freshness=st.sampled_from(list(Freshness)),
        trust=st.floats(0, 1),
    ),
    max_size=12,
)


@given(_segments, st.integers(0, 200_000), st.sampled_from([None, 1, 400, 40_000]))
def test_the_cap_always_holds_and_counts_add_up(given_: list[ContextSegment], window: int, words: int | None) -> None:
    events = list[ContextEvent]()
    check(given_, window, Note(words=words) if words else None, events)


def check(given_: list[ContextSegment], window: int, summarizer: Note | None, events: list[ContextEvent]) -> None:
    never_cut = [each for each in given_ if each.kind in (SYSTEM, TOOLS, PROMPT)]
    try:
        compiled = compile(given_, window, summarizer=summarizer, sink=events.append)
    except ContextTooLarge:
        assert sum(count_tokens(each.content) for each in never_cut) > min(window, 30_000)
        return
    metrics = compiled.metrics
    assert kept(compiled) == metrics.kept_tokens <= min(window, 30_000)
    assert all(each in compiled.segments for each in never_cut)
    assert metrics.kept_tokens == sum(event.kept_tokens for event in events if isinstance(event, BlockEmitted))
    assert sum(isinstance(event, BudgetAllocated) for event in events) == 1
    assert metrics.original_tokens >= metrics.kept_tokens
    assert len(metrics.per_segment) in {len(given_), len(given_) + 1}


def test_a_thousand_random_prompts_stay_below_their_cap() -> None:
    dice = random.Random(20260117)
    for _ in range(1_000):
        kinds = dice.choices(list(SegmentKind), k=dice.randrange(20))
        sizes = (int(dice.paretovariate(0.8) * 20) % 3_000 for _ in kinds)
        segments = [
            ContextSegment(kind, prose(size), age_index=dice.randrange(40))
            for kind, size in zip(kinds, sizes, strict=True)
        ]
        check(segments, dice.choice([0, 500, 4_000, 30_000, 200_000]), Note() if dice.random() < 0.5 else None, [])
