"""Quotes of a careful model for a fact: of each turn, the words that say most of it.

fact = quoting(CandidateFact(text="Billing runs on port 9017.", turns=(1,)), session)
text = careful(answer(candidate_facts=[{"text": "Billing runs on port 9017.", "turns": [1]}]), question.user)
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson

from nous.domain.episode import CandidateFact, Quote
from nous.domain.summary_input import Segment, SummaryInput
from nous.summary.llm.source_index import CitedStatement, SourceIndex, SourceTurn, without_label

MOST_WORDS = 15
_TURN = re.compile(r"^--- turn (\d+) ---$", re.MULTILINE)


def careful(answer: str, prompt: str) -> str:
    """*answer* with quotes from *prompt* for the facts that have no "quotes" of their own."""
    said: Any = None
    with suppress(orjson.JSONDecodeError):
        said = orjson.loads(answer)
    if not isinstance(said, dict) or "candidate_facts" not in said:
        return answer
    session = shown_in(prompt)
    facts = [
        {"quotes": [{"turn": turn, "quote": text} for turn, text in _quoted(each, session)], **each}
        for each in said["candidate_facts"]
    ]
    return orjson.dumps({**said, "candidate_facts": facts}).decode()


def shown_in(prompt: str) -> SourceIndex:
    """The turns of the transcript that *prompt* shows."""
    _, *told = _TURN.split(prompt)
    segments = (Segment(text, turn=int(number)) for number, text in zip(told[::2], told[1::2], strict=True))
    return SourceIndex(SummaryInput(windows=(tuple(segments),)))


def _quoted(fact: dict[str, Any], session: SourceIndex) -> Iterable[tuple[int, str]]:
    quotes = quoting(CandidateFact(text=fact["text"], turns=tuple(fact.get("turns", ()))), session).quotes
    return ((quote.turn, quote.text) for quote in quotes)


def quoting(fact: CandidateFact, session: SourceIndex, turns: Iterable[int] = ()) -> CandidateFact:
    """*fact* with a quote of each turn that it cites, of *turns*, or else of all."""
    cited = [turn for turn in (turns or fact.turns or session.turns) if turn in session.turns]
    return replace(fact, quotes=tuple(nearest(fact.text, turn, session) for turn in cited))


def nearest(text: str, turn: int, session: SourceIndex) -> Quote:
    """The part of a turn, of `MOST_WORDS` words, that says most of *text*."""
    claim = CitedStatement.of(text)
    best = max(_runs(session.turns[turn].text), key=lambda run: claim.share_in(run.content), default=SourceTurn(""))
    return Quote(turn, best.text)


@lru_cache(maxsize=64)
def _runs(text: str) -> Sequence[SourceTurn]:
    """The runs of `MOST_WORDS` words in the sentences of *text*."""
    words = [without_label(said.text).split() for said in SourceTurn(text).sentences]
    starts = [(each, at) for each in words for at in range(0, max(1, len(each) - MOST_WORDS + 1), 5)]
    return [SourceTurn(" ".join(each[at : at + MOST_WORDS])) for each, at in starts]
