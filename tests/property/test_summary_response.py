"""Laws of reading a model's answer and of grounding."""

import json
import re
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from nous.domain.episode import CandidateFact, Category, Quote
from nous.domain.errors import BadInput
from nous.domain.summary_input import Segment, SummaryInput
from nous.summary.llm.grounding import grounded
from nous.summary.llm.json_recovery import object_in, summary_in
from nous.summary.llm.response import EpisodeAnswer, read
from nous.summary.llm.source_index import SourceIndex

PROMPT = "Write short sentences, and remember that the port of the cache is 8080."
WORDS = (
    "cache",
    "port",
    "v1.2",
    "8080",
    "9,017",
    "nous/domain/event_codec.py",
    "`rm -rf`",
    "parse_row",
    "remember",
    "that",
    "the",
)
NUMBER = re.compile(r"\d+")

anything = st.text(st.characters(exclude_categories=[]), max_size=80)
scraps = st.lists(st.sampled_from(['{"title":', "{", "}", "[", "]", '"', ",", ":", "1", "\\", "```", " ", "a"])).map(
    "".join
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=6,
)
answers = st.fixed_dictionaries({}, optional=dict.fromkeys(EpisodeAnswer.model_fields, values))
sentences = st.lists(st.sampled_from(WORDS) | st.integers(0, 99).map(str), min_size=1, max_size=7).map(" ".join)
segments = st.lists(
    st.builds(Segment, sentences, st.sampled_from(["User", "Assistant", "Output", "Decision"]), st.integers(0, 4)),
    max_size=6,
)


def facts_about(said: list[Segment]) -> st.SearchStrategy[list[CandidateFact]]:
    """Facts in the session's words or others, with quotes of the session, or of something else."""
    texts = sentences | anything | st.sampled_from([each.text for each in said] or [""])
    fact = st.builds(
        CandidateFact,
        text=texts,
        category=st.sampled_from(Category),
        confidence=st.floats(0, 1),
        turns=st.lists(st.integers(-1, 6), max_size=3).map(tuple),
        quotes=st.lists(st.builds(Quote, st.integers(0, 6), texts), max_size=2).map(tuple),
    )
    return st.lists(fact, max_size=6)


told = segments.flatmap(lambda said: st.tuples(st.just(said), facts_about(said)))


@given(anything | scraps)
def test_a_text_is_an_object_or_bad_input(text: str) -> None:
    with suppress(BadInput):
        assert isinstance(object_in(summary_in(text)), dict)


@given(answer=answers, coerce=st.booleans())
def test_an_answer_of_any_types_is_read_or_bad_input(answer: dict[str, object], *, coerce: bool) -> None:
    try:
        summary, found, _ = read(json.dumps(answer), coerce=coerce)
    except BadInput:
        return
    texts = [summary.title, summary.summary, *summary.key_points, *summary.topics, *(fact.text for fact in found)]
    assert all(text.strip() and "\x00" not in text for text in texts)
    assert "".join(texts).encode()


@given(st.dictionaries(anything, values, min_size=1, max_size=4), st.text("ab.!\n", max_size=9))
def test_any_object_is_found_in_prose(value: dict[str, object], prose: str) -> None:
    written = json.dumps(value)

    assert json.dumps(object_in(f"{prose}{written}{prose}")) == written


@given(told)
def test_grounding_again_changes_nothing(told: tuple[list[Segment], list[CandidateFact]]) -> None:
    said, candidates = told
    session = SourceIndex(SummaryInput(windows=(tuple(said),)))

    once = grounded(candidates, session, prompt=PROMPT)
    again = grounded(once.facts, session, prompt=PROMPT)

    assert again.facts == once.facts
    assert again.dropped == ()
    assert len(candidates) == len(once.facts) + len(once.quarantined) + sum(count for _, count in once.dropped)


@given(told)
def test_no_fact_has_a_number_or_a_turn_that_the_session_lacks(told: tuple[list[Segment], list[CandidateFact]]) -> None:
    said, candidates = told
    session = SourceIndex(SummaryInput(windows=(tuple(said),)))
    heard = set(NUMBER.findall(" ".join(segment.text for segment in said)))

    for fact in grounded(candidates, session, prompt=PROMPT).facts:
        assert set() < {*fact.turns} <= session.turns.keys()
        assert set(NUMBER.findall(fact.text)) <= heard
