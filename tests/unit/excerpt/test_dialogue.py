"""Whether two people talk, and how much of it states a fact."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import pytest

from nous.excerpt.dialogue import WHOLE, is_talk, most_told, states
from nous.excerpt.items import Item, Items, Role
from nous.excerpt.layout import laid_out, text_of

CHATS = Path(__file__).parents[2] / "benchmarks" / "data" / "chats"
PLAIN_TEXT = Path(__file__).parents[4] / "shared" / "data" / "plain_text"
LABELS = {"User": Role.USER, "Assistant": Role.ASSISTANT}
FRIENDS = ["We moved to Denver in May, and my sister came along.", "Wow, how do you like it there?"] * 12
SERVICE = ["I would like to send back the blue lamp.", "Sure, how can I help you with your order today?"] * 12
DOCUMENTS = ["Which of the three should I take, and what for?", "- the first is cheap\n- the second is fast"] * 12
LECTURES = ["Tell me more about it, and spare no detail.", "It is a long story. " * 40] * 12


def items(texts: Sequence[str]) -> list[Item]:
    roles = (Role.USER, Role.ASSISTANT)
    return [Item(role=roles[n % 2], text=text, entries=(f"e{n}",)) for n, text in enumerate(texts)]


def test_two_friends_talk_whatever_their_turns_are_labelled() -> None:
    assert is_talk(items(FRIENDS))


@pytest.mark.parametrize("texts", [SERVICE, DOCUMENTS, LECTURES], ids=["service", "documents", "lectures"])
def test_who_serves_or_lectures_does_not_talk(texts: Sequence[str]) -> None:
    assert not is_talk(items(texts))


@pytest.mark.skipif(not PLAIN_TEXT.exists(), reason=f"no dialogues: {PLAIN_TEXT} is not there")
@pytest.mark.parametrize(("pattern", "expected"), [("smalltalk_*.txt", True), ("retail_*.txt", False)])
def test_real_small_talk_is_told_from_real_service(pattern: str, expected: bool) -> None:  # noqa: FBT001
    dialogues = [_spoken(path) for path in sorted(PLAIN_TEXT.glob(pattern))]

    assert dialogues
    assert {is_talk(dialogue) for dialogue in dialogues} == {expected}


def _spoken(path: Path) -> list[Item]:
    """What the two say, without the lines of tools."""
    pairs = [line.partition(": ")[::2] for line in path.read_text("utf-8").splitlines()]
    said = [(label.title(), text) for label, text in pairs if label.title() in LABELS and text not in {"", "None"}]
    return [Item(role=LABELS[label], text=text, entries=("e",)) for label, text in said]


@pytest.mark.parametrize(
    ("fact", "empty"),
    [
        ("I was born in Ghent and grew up on a farm.", "Where were you born?"),
        ("My brother bought a boat last week.", "That is so cool, good for you!"),
        ("We get married on the 9th of July.", "Congratulations, you deserve it!"),
        ("I started at the post office in 2011.", "Life is all about finding joy in the little things."),
        ("She lives in Lisbon with her three cats.", "Haha, that sounds amazing."),
        ("I've signed up for a marathon in October.", "You've always been such an inspiration!"),
        ("my mom quit her job at the hospital", "yeah i guess so"),
    ],
)
def test_a_fact_about_a_life_states_far_more_than_what_keeps_up_the_talk(fact: str, empty: str) -> None:
    assert states(fact, {}) > 2 * states(empty, {})


FACTS = ("We moved to Denver in May.", "My sister Anna is a dentist.", "I broke my wrist on Sunday.")
EMPTY = ("Wow, that sounds great!", "Oh, how cool is that?", "Haha, so true!", "You must be so happy!")


def talk(*, facts: tuple[str, ...] = FACTS, of_each: int = 8) -> Items:
    """Small talk with a fact now and then."""
    fillers = cycle(EMPTY)
    texts = [text for fact in facts for text in (*(next(fillers) for _ in range(of_each)), fact)]
    texts.extend(EMPTY)
    roles = (Role.USER, Role.ASSISTANT)
    return Items(Item(role=roles[n % 2], text=text, entries=(f"e{n}",)) for n, text in enumerate(texts))


def told(items: Items, room: int) -> str:
    return text_of(laid_out(items, most_told(items, room).spans))


def test_facts_are_kept_and_pleasantries_go() -> None:
    excerpt = told(talk(), 400)

    assert all(fact in excerpt for fact in FACTS)
    assert excerpt.count("Wow") < 3


def test_a_short_turn_is_whole_or_not_there() -> None:
    items = talk()

    assert all(spans == ((0, len(items[n].text)),) for n, spans in most_told(items, 500).spans.items())


def test_of_a_long_turn_the_sentences_that_tell_are_kept() -> None:
    long = f"{'It is what it is, you know. ' * 15}{FACTS[0]}{' That is life, I guess.' * 15}"
    assert len(long) > WHOLE

    excerpt = told(talk(facts=(long,)), 300)

    assert FACTS[0] in excerpt
    assert "[...]" in excerpt


@pytest.mark.parametrize("room", [160, 300, 1000])
def test_the_first_and_the_last_are_always_shown(room: int) -> None:
    items = talk()

    assert {0, len(items) - 1} <= set(most_told(items, room).spans)
