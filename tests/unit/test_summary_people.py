"""What two people who talk say of themselves, and where one sentence of theirs runs into the next."""

from collections.abc import Callable

import pytest

from nous.summary.evidence import Evidence
from nous.summary.facts import candidate_facts
from nous.transcript.model import Transcript

Told = Callable[..., Transcript]


def texts(told: Told, said: str) -> list[str]:
    chat = [("user", said), ("assistant", "Oh, that must be so nice for all of you, I think.")] * 3
    return [fact.text for fact in candidate_facts(Evidence(told(*chat)))]


JOINING = "whenever unless wherever once before after whether how hope believe feel say because if when while"


@pytest.mark.parametrize("joined", JOINING.split())
def test_a_word_that_joins_keeps_a_liking_with_what_follows_it(told: Told, joined: str) -> None:
    liking = f"really like hiking in the Alps {joined} it's sunny."

    assert texts(told, f"I {liking}") == [f"The user {liking.replace('like', 'likes', 1)}"]


@pytest.mark.parametrize("end", ["field", "mountain"])
def test_a_liking_that_runs_into_another_sentence_is_left_out(told: Told, end: str) -> None:
    assert texts(told, f"I really like the lilies of the {end} it's beautiful.") == []
