"""What is kept of two people's talk."""

from itertools import cycle

import pytest

from nous.excerpt.dialogue_selection import WHOLE, most_told
from nous.excerpt.items import Item, Items, Role
from nous.excerpt.layout import laid_out, text_of

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
