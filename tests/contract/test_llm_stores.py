"""What pins, allowances and tallies promise: on fakeredis, and on a real server.

The third kind sends each command twice, as redis-py does when a reply is lost: nothing may be done twice.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

import pytest
from builders.llm_stores import ANSWER_TTL, KEYS, KINDS, Books, each_kind

from nous.domain.episode import Tokens
from nous.domain.scope import CacheSubject, Scope
from nous.llm.base import Question, Reply
from nous.llm.state import Reservation, TokenUsage

DAY, NEXT_DAY = date(2026, 11, 22), date(2026, 11, 23)
HOME, WORK = Scope(project="home"), Scope("ACME: Köln", project="a b*")
GPT, QWEN = "openai:gpt-5-mini", "ollama:qwen3:8b"
MATTER = CacheSubject(WORK, UUID(int=7))
OTHER, ELSEWHERE = CacheSubject(WORK, UUID(int=8)), CacheSubject(HOME, UUID(int=7))
QUESTION = Question(matter=MATTER, system="You sum up.", user="User: hi", name="summary", schema={}, most_tokens=900)
REPLY = Reply(text='{"title": "Gruß"}', model=GPT, tokens=Tokens(12, 34))


@pytest.fixture(params=KINDS)
def books(request: pytest.FixtureRequest, clock: Any) -> Iterator[Books]:
    yield from each_kind(request, clock)


def call(name: str, tokens: int = 10, **fields: Any) -> Reservation:
    return replace(Reservation(id=name, scope=HOME, day=DAY, tokens=tokens), **fields)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(max_workers=8) as pool:
        return [future.result() for future in [pool.submit(each) for each in calls]]


def test_a_pinned_answer_is_found_as_it_was(books: Books) -> None:
    cut_off = replace(REPLY, is_whole=False)

    assert books.responses.find(QUESTION, GPT) is None
    assert books.responses.save(QUESTION, GPT, cut_off) == cut_off
    assert books.responses.find(QUESTION, GPT) == cut_off


def test_answers_are_dropped_by_what_they_are_about(books: Books) -> None:
    other, elsewhere = (replace(QUESTION, matter=each) for each in (OTHER, ELSEWHERE))
    for each in (QUESTION, replace(QUESTION, user="User: bye"), other, elsewhere):
        books.responses.save(each, GPT, REPLY)

    assert books.responses.find(QUESTION, GPT) == REPLY
    books.responses.invalidate(WORK, UUID(int=7))
    assert [books.responses.find(each, GPT) for each in (QUESTION, other, elsewhere)] == [None, REPLY, REPLY]
    books.responses.invalidate(WORK)
    assert [books.responses.find(each, GPT) for each in (other, elsewhere)] == [None, REPLY]


def test_of_many_that_pin_at_once_all_get_the_same_answer(books: Books) -> None:
    replies = [replace(REPLY, text=f"answer {number}") for number in range(20)]

    kept = at_once(*(lambda reply=reply: books.responses.save(QUESTION, GPT, reply) for reply in replies))

    assert len(set(kept)) == 1
    assert books.responses.find(QUESTION, GPT) == kept[0]


@pytest.mark.parametrize(
    "other",
    [
        replace(QUESTION, user="User: ho"),
        replace(QUESTION, most_tokens=901),
        replace(QUESTION, matter=ELSEWHERE),
        replace(QUESTION, matter=OTHER),
        QUESTION.again("no JSON", "It is not JSON."),
    ],
)
def test_another_question_has_another_answer(books: Books, other: Question) -> None:
    books.responses.save(QUESTION, GPT, REPLY)

    assert books.responses.find(other, GPT) is None
    assert books.responses.find(QUESTION, QWEN) is None


@pytest.mark.parametrize("dropped", [MATTER.subject, None], ids=["the subject's", "all"])
def test_what_was_read_before_answers_were_dropped_is_not_kept(books: Books, dropped: UUID | None) -> None:
    books.responses.invalidate(WORK, dropped)

    assert books.responses.save(QUESTION, GPT, REPLY) == REPLY
    assert books.responses.find(QUESTION, GPT) is None
    now = replace(MATTER, invalidation_count=books.responses.invalidation_count(WORK, MATTER.subject))
    books.responses.save(replace(QUESTION, matter=now), GPT, REPLY)
    assert books.responses.find(QUESTION, GPT) == REPLY


@pytest.mark.parametrize("dropped", [OTHER, ELSEWHERE], ids=["another subject's", "another scope's"])
def test_what_is_dropped_of_other_matters_is_kept_of_this(books: Books, dropped: CacheSubject) -> None:
    books.responses.invalidate(dropped.scope, dropped.subject)

    books.responses.save(QUESTION, GPT, REPLY)

    assert books.responses.find(QUESTION, GPT) == REPLY


def test_an_answer_about_what_was_forgotten_before_it_was_asked_about_is_not_kept(books: Books) -> None:
    late = replace(QUESTION, matter=replace(MATTER, invalidation_count=None))

    assert books.responses.save(late, GPT, REPLY) == REPLY
    assert books.responses.find(late, GPT) is None


def test_what_is_spent_and_what_is_set_aside_count_towards_the_limit(books: Books) -> None:
    books.token_usage.reserve(call("a", 30), limit=100)
    books.token_usage.settle(call("a", 30), spent=40)
    books.token_usage.reserve(call("b", 30), limit=100)

    assert not books.token_usage.reserve(call("c", 31), limit=100)
    assert books.token_usage.reserve(call("c", 30), limit=100)
    assert books.token_usage.usage(DAY) == (TokenUsage(scope=HOME, day=DAY, spent=40, reserved=60),)


def test_a_day_on_which_nothing_was_used_has_room_for_one_call_however_large(books: Books) -> None:
    assert books.token_usage.reserve(call("a", 5000), limit=100)
    assert not books.token_usage.reserve(call("b", 1), limit=100)

    books.token_usage.settle(call("a", 5000), spent=0)  # it came to nothing

    assert books.token_usage.reserve(call("b", 5000), limit=100)


def test_reserving_and_settling_twice_is_done_once(books: Books) -> None:
    assert [books.token_usage.reserve(call("a", 60), limit=100) for _ in range(2)] == [True, True]
    for spent in (50, 70):
        books.token_usage.settle(call("a", 60), spent=spent)

    assert books.token_usage.reserve(call("a", 60), limit=100)  # it was under way when the call was settled
    assert books.token_usage.usage(DAY) == (TokenUsage(scope=HOME, day=DAY, spent=50, reserved=0),)


def test_scopes_and_days_have_their_own_tokens(books: Books) -> None:
    for reservation in (call("a", 80), call("a", 70, scope=WORK), call("a", 60, day=NEXT_DAY)):
        assert books.token_usage.reserve(reservation, limit=100)

    assert [(each.scope, each.reserved) for each in books.token_usage.usage(DAY)] == [(WORK, 70), (HOME, 80)]
    assert [(each.scope, each.reserved) for each in books.token_usage.usage(NEXT_DAY)] == [(HOME, 60)]


def test_calls_that_race_for_tokens_never_get_more_than_there_are(books: Books) -> None:
    calls = [call(f"call {number}", 7) for number in range(40)]

    granted = at_once(*(lambda each=each: books.token_usage.reserve(each, limit=100) for each in calls))

    assert sum(granted) == 14
    assert books.token_usage.usage(DAY) == (TokenUsage(scope=HOME, day=DAY, spent=0, reserved=98),)


def test_counts_are_added_up_by_model_and_name(books: Books) -> None:
    assert books.counters.counts() == {}

    books.counters.count(GPT, asked=1, input_tokens=100)
    books.counters.count(QWEN, asked=1)
    books.counters.count(GPT, asked=2, parse=1)

    assert books.counters.counts() == {GPT: {"asked": 3, "input_tokens": 100, "parse": 1}, QWEN: {"asked": 1}}


def test_each_is_kept_as_long_as_it_is_needed(books: Books) -> None:
    books.responses.save(QUESTION, GPT, REPLY)
    books.responses.invalidate(HOME)
    books.token_usage.reserve(call("a"), limit=100)
    books.token_usage.settle(call("b"), spent=3)

    names = (KEYS.answer(QUESTION, GPT), KEYS.invalidation_count(HOME), KEYS.tokens(DAY), KEYS.token_calls(DAY))
    lives = [books.client.ttl(name) for name in names]
    assert lives == pytest.approx([ANSWER_TTL, 7 * 86400, 8 * 86400, 86400], abs=60)
