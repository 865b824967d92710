"""The same conversation, whatever wrote it down, has the same excerpt."""

from collections.abc import Callable
from itertools import pairwise

import orjson
import pytest

from nous.excerpt import fit
from nous.excerpt.strategies import names
from nous.transcript.load import parse_transcript

Turns = list[tuple[str, str]]

SAID = "It depends on the port, on the path and on the cache, and one could go on about each of them. " * 3
TURNS: Turns = [
    ("user", "Please move the service billing to port 9017."),
    ("assistant", f"I looked at it. {SAID}"),
    ("user", "And keep `retry_limit` at 7, because the bank wants it so."),
    ("assistant", f"That is done. {SAID}"),
    ("user", "Does it fail locally?"),
    ("assistant", f"No. {SAID} The tests in tests/billing pass."),
]


def openai_chat(turns: Turns) -> str:
    return orjson.dumps([{"role": role, "content": text} for role, text in turns]).decode()


def sharegpt(turns: Turns) -> str:
    speakers = {"user": "human", "assistant": "gpt"}
    return orjson.dumps({"conversations": [{"from": speakers[role], "value": text} for role, text in turns]}).decode()


def langchain(turns: Turns) -> str:
    types = {"user": "human", "assistant": "ai"}
    return orjson.dumps([{"type": types[role], "data": {"content": text}} for role, text in turns]).decode()


def plain_text(turns: Turns) -> str:
    return "\n\n".join(f"{role.capitalize()}: {text.strip()}" for role, text in turns)


DIALECTS: list[Callable[[Turns], str]] = [openai_chat, sharegpt, langchain, plain_text]


@pytest.mark.parametrize("strategy", names())
@pytest.mark.parametrize("budget", [200, 500, 900, 5000])
def test_every_dialect_gives_the_same_excerpt(strategy: str, budget: int) -> None:
    texts = [fit(parse_transcript(written(TURNS)), budget, strategy=strategy).text for written in DIALECTS]

    assert all(one == other for one, other in pairwise(texts))
    assert texts[0]
