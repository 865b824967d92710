"""The estimate of tokens: near the real count for every kind of text, and bounded however texts are put together."""

# ruff: noqa: RUF001  letters of other scripts are what it is about

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nous.text.language import words_in
from nous.text.sanitize import one_line, readable, shortened
from nous.text.token_estimate import estimate

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.text("aAé1 _\t\n.-漢か한д→🙂", max_size=60),
    st.sampled_from(["The quick fox. ", "x" * 400, "\t\treturn nil\n", "4f2a9c1be07d", "队列。", " " * 90, "\ud83d"]),
)

PROSE = (
    "The queue was drained twice yesterday, and both times the last message stayed pending until its lease ran out. "
    "I looked at the log and found that the worker had already written its answer; it only never said so, because the "
    "connection was closed a moment too early. Let us confirm before we close, and write a test that cuts the "
    "connection between the two steps."
)
CODE = '''def drained(queue: Queue, limit: int = 100) -> list[Message]:
    """Take what is there, up to *limit*, and confirm each message."""
    found: list[Message] = []
    while len(found) < limit and (message := queue.get(timeout=0.5)) is not None:
        if message.attempts > MAX_ATTEMPTS:
            raise DeadLetter(f"{message.id} failed {message.attempts} times")
        found.append(message)
        queue.confirm(message.id)
    return found
'''
RECORD = (
    '{"session_id":"0c97beba-bfcb-4f84-9950-e0354bfc808b","cwd":"/home/ana/src/shop/backend","tool_name":"Bash",'
    '"tool_input":{"command":"git log --oneline -5 -- src/orders/export.py","timeout":120000},'
    '"usage":{"input_tokens":10,"cache_read_input_tokens":36600,"output_tokens":214},'
    '"timestamp":"2026-01-19T09:41:07.512Z"}'
)
CHINESE = (
    "昨天下午我们把队列的消费者改成了线程池，压测结果比预想的好。不过还有一个问题没有解决：进程收到 SIGTERM 之后，"
    "最后几个任务有时候会被重复执行。"
)
JAPANESE = (
    "昨日の夕方、ワーカーのプロセスが三回落ちました。"
    "ログを見ると、どれも同じイベントを処理している途中で止まっています。"
)
KOREAN = (
    "어제 배포한 뒤로 작업자 프로세스의 메모리가 계속 늘어나고 있습니다. "
    "확인해 보니 닫지 않은 연결이 쌓이고 있었습니다."
)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        pytest.param(PROSE, 73, id="English"),
        pytest.param(CODE, 112, id="code"),
        pytest.param(RECORD, 104, id="JSON"),
        pytest.param(CHINESE, 48, id="Chinese"),
        pytest.param(JAPANESE, 39, id="Japanese"),
        pytest.param(KOREAN, 38, id="Korean"),
    ],
)
def test_a_short_text_of_any_kind_is_estimated_near_what_o200k_base_makes_of_it(text: str, counted: int) -> None:
    assert 0.9 * counted <= estimate(text) <= 1.15 * counted


@given(TEXTS, TEXTS)
def test_what_is_put_together_counts_about_what_its_parts_count(one: str, other: str) -> None:
    apart = estimate(one) + estimate(other)

    assert apart - 1 <= estimate(one + other) <= apart + 3


@given(st.lists(TEXTS, max_size=12).map("".join))
def test_a_longer_beginning_never_counts_less(text: str) -> None:
    counts = [estimate(text[:end]) for end in range(len(text) + 1)]

    assert all(shorter <= longer for shorter, longer in pairwise(counts))


MARKS = "\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\u200b", "\u00ad"
BREAKS = "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"


@pytest.mark.parametrize("sign", ["\x1b", "\x9b", *BREAKS])
def test_a_blank_stands_for_what_steers(sign: str) -> None:
    assert readable(f"paid{sign}back") == "paid back"


@pytest.mark.parametrize("mark", MARKS)
def test_nothing_stands_for_what_turns_around_or_is_never_seen(mark: str) -> None:
    assert readable(f"paid{mark} back") == "paid back"


@pytest.mark.parametrize("lines", ["\n", "\r\n", "\n\n  \n", " \n\t", *BREAKS])
def test_what_is_a_row_stays_one(lines: str) -> None:
    assert one_line(f"a fact{lines}resolved  99 facts") == "a fact resolved  99 facts"


def test_the_breaks_of_a_long_blank_text_are_found_at_once() -> None:
    assert one_line(" " * 1_000_000) == ""


@pytest.mark.parametrize(
    ("text", "most", "left"),
    [("as it is", 8, "as it is"), ("as it is not", 8, "as it i…"), (" on\n one \t line", 11, "on one line")],
)
def test_a_text_that_is_shortened_is_one_line_that_shows_where_it_was_cut(text: str, most: int, left: str) -> None:
    assert shortened(text, most) == left
    assert len(left) <= most


ENGLISH = """
openers = "well"
[sets]
stopwords = "the a"
[contains]
says_why = ["because"]
[begins]
question = ["what"]
"""
GERMAN = """
openers = "also"
[sets]
stopwords = "der ein"
[contains]
says_why = ["weil", "entschieden"]
"""


def test_another_language_adds_its_words_to_those_of_the_others() -> None:
    both = words_in([ENGLISH, GERMAN])

    assert both.sets["stopwords"] == {"the", "a", "der", "ein"}
    assert both.says("says_why", "Das bleibt so, weil es warm ist.")
    assert both.says("says_why", "It stays because it is warm.")
    assert both.opens("question", "Also, what now?")


def test_words_count_only_where_they_are_whole() -> None:
    both = words_in([ENGLISH, GERMAN])

    assert not both.says("says_why", "Weiler and becausement")
