"""An episode that brought no facts, read again by a model, if there is one; a failed call is never taken for "none"."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from builders.answers import stated
from builders.llm_stores import fake_counters
from builders.scripted_model import Answer, ScriptedModel

from nous.domain.episode import CandidateFact, Outcome, Summary, Trust
from nous.domain.errors import NousError
from nous.domain.scope import CacheSubject, Scope
from nous.domain.summary_input import Segment, SummaryInput
from nous.llm.base import Failure, ModelMisconfigured, ModelTimeout, Question, TokenBudgetExceeded
from nous.pipeline.llm_fact_extractor import MOST, MOST_DATED, MOST_SHOWN, LlmFactExtractor
from nous.summary.heuristic.statements import facts_of
from nous.summary.llm.prompt import built_in

SCOPE, SUBJECT = Scope(project="billing"), UUID(int=7)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SUMMARY = Summary(
    title="Billing moves to another port",
    summary="Billing was moved to port 9017.",
    key_points=("The import of prices fails because `parse_row` expects a header.",),
    outcome=Outcome.RESOLVED,
    outcome_rationale="The user was content.",
    topics=("billing",),
)
SAID = (
    Segment("[User] From now on, never run the import on Fridays.", "User", 1),
    Segment("[Assistant] The import of prices fails because `parse_row` expects a header.", "Assistant", 1),
    Segment("[Assistant] Billing listens on port 9017 since May 7, 2026.", "Assistant", 2),
)
BRIEF = SummaryInput(windows=(SAID,))


def fact(text: str, **fields: Any) -> dict[str, Any]:
    return stated(text, **{"category": "technical", "subject": "billing", "turns": [2], **fields})


def answer(*facts: object) -> str:
    return orjson.dumps({"candidate_facts": facts}).decode()


def extracted(
    answers: Callable[[Question], Answer] | list[Answer],
    summary_input: SummaryInput | None = BRIEF,
    summary: Summary = SUMMARY,
) -> tuple[tuple[CandidateFact, ...], tuple[Question, ...]]:
    model = ScriptedModel(answers)
    extractor = LlmFactExtractor(model=model, prompt=built_in("facts"), counters=fake_counters())
    return extractor.extract(summary, summary_input, matter=CacheSubject.of(SCOPE, SUBJECT)), model.questions


def test_a_model_is_asked_once_on_the_summary_and_what_was_shown() -> None:
    found, (question,) = extracted([answer(fact("Billing listens on port 9017."))])

    assert [(each.text, each.turns, each.trust) for each in found] == [
        ("Billing listens on port 9017.", (2,), Trust.ASSISTANT)
    ]
    assert (question.matter.scope, question.matter.subject) == (SCOPE, SUBJECT)
    for told in (SUMMARY.title, SUMMARY.summary, *SUMMARY.key_points, "--- turn 2 ---", SAID[2].text):
        assert told in question.user


def test_facts_that_the_session_does_not_say_are_not_let_through() -> None:
    found, _ = extracted(
        [
            answer(
                fact("Billing listens on port 9018."),
                fact("The Quillfeather importer needs its staging database on port 6543."),
                fact("Billing listens on port 9017."),
            )
        ]
    )

    assert [each.text for each in found] == ["Billing listens on port 9017."]


def test_what_the_model_is_not_sure_of_is_skipped() -> None:
    found, _ = extracted(
        [
            answer(
                fact("Billing listens on port 9017.", confidence=0.59),
                fact("The import of prices expects a header.", confidence=0.6, turns=[1]),
            )
        ]
    )

    assert [each.text for each in found] == ["The import of prices expects a header."]


def test_the_surest_five_are_kept_and_thirty_more_of_a_known_day() -> None:
    names = [f"billing_{number}" for number in range(50)]
    said = Segment(f"[Assistant] {' '.join(names)} listen since 2026-05-07.", "Assistant", 1)
    plain = [
        fact(f"{name} listens.", turns=[1], confidence=0.9 if number > 44 else 0.7) for number, name in enumerate(names)
    ]
    dated = [fact(f"{name} listens since 2026-05-07.", turns=[1], event_date="2026-05-07") for name in names]

    kept, _ = extracted([answer(*plain[20:], *dated[:20])], SummaryInput(windows=((said,),)))
    assert [each.text for each in kept if not each.event_date] == [f"{name} listens." for name in names[-MOST:]]
    assert sum(each.event_date is not None for each in kept) == 20

    kept, _ = extracted([answer(*dated)], SummaryInput(windows=((said,),)))
    assert len(kept) == MOST_DATED


def test_of_a_long_session_the_beginning_is_shown() -> None:
    segments = tuple(Segment(f"[User] {number} {'word ' * 300}", "User", number) for number in range(1, 60))

    _, (question,) = extracted([answer()], SummaryInput(windows=(segments[:30], segments[30:])))
    assert "[User] 9 word" in question.user
    assert "[User] 12 word" not in question.user
    assert len(question.user) < MOST_SHOWN + 1_000

    _, (question,) = extracted([answer()], SummaryInput(windows=((Segment("[User] " + "a" * 99_999, "User", 1),),)))
    assert "a" * 1_000 in question.user
    assert len(question.user) < MOST_SHOWN + 1_000


def test_a_model_that_finds_nothing_has_found_nothing() -> None:
    found, questions = extracted([answer()])

    assert found == ()
    assert len(questions) == 1


@pytest.mark.parametrize("useless", ["There is nothing.", '{"title": "Billing"}', '{"candidate_facts": ['])
def test_an_answer_that_is_none_does_not_say_that_there_are_no_facts(useless: str) -> None:
    found, questions = extracted([useless, answer(fact("Billing listens on port 9017."))])
    assert (len(found), len(questions)) == (1, 2)

    found, questions = extracted([useless, useless])
    assert found == facts_of(SUMMARY, BRIEF) != ()
    assert len(questions) == 2


PAUSE: dict[str, Any] = {"until": NOW, "since": NOW, "failure": Failure.TRANSPORT}


@pytest.mark.parametrize(
    "error",
    [ModelTimeout("late"), TokenBudgetExceeded("spent", **PAUSE), ModelMisconfigured("no key")],
    ids=lambda error: type(error).__name__,
)
def test_a_call_that_fails_is_raised_so_that_it_is_made_again(error: NousError) -> None:
    with pytest.raises(type(error)):
        extracted([error])
