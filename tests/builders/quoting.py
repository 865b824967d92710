"""Quotes that a careful model gives for a fact: of each turn, the sentence that says most of it.

fact = quoting(CandidateFact(text="Billing runs on port 9017.", turns=(1,)), session)
"""

from collections.abc import Iterable
from dataclasses import replace

from nous.domain.episode import CandidateFact, Quote
from nous.summary.llm.source_index import CitedStatement, SourceIndex, SourceTurn

MOST_WORDS = 15


def quoting(fact: CandidateFact, session: SourceIndex, turns: Iterable[int] = ()) -> CandidateFact:
    """*fact* with a quote of each turn that it cites, of *turns*, or else of all."""
    cited = [turn for turn in (turns or fact.turns or session.turns) if turn in session.turns]
    return replace(fact, quotes=tuple(nearest(fact.text, turn, session) for turn in cited))


def nearest(text: str, turn: int, session: SourceIndex) -> Quote:
    """The part of a turn, of `MOST_WORDS` words, that says most of *text*."""
    claim = CitedStatement.of(text)
    runs = (run for said in session.turns[turn].sentences for run in _runs(said.text.split()))
    return Quote(turn, max(runs, key=lambda run: claim.share_in(SourceTurn(run).content), default=""))


def _runs(words: list[str]) -> Iterable[str]:
    return (" ".join(words[at : at + MOST_WORDS]) for at in range(0, max(1, len(words) - MOST_WORDS + 1), 5))
