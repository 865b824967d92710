"""Excerpts of gold sessions, by a strategy or a plain cut. `nous.app.quality.gold` reads the data sets."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from nous.app.quality.gold import GoldTurn, transcript_of
from nous.excerpt import fit
from nous.transcript.model import Transcript

DATA = Path(__file__).parents[4] / "shared" / "data" / "retention"
BASELINES = ("head", "middle")
"""Plain cuts to compare with: of all that was said the beginning, or the beginning and the end."""

_CUT = "\n\n[...]\n\n"
_UNBOUNDED = 10**9
_TURNS = TypeAdapter(list[GoldTurn])


def kept(turns: Iterable[Mapping[str, Any]], budget: int, *, strategy: str = "default") -> str:
    """Return the excerpt of *turns* by *strategy*."""
    return excerpt_of(transcript_of(_TURNS.validate_python(list(turns))), budget, strategy)


def excerpt_of(transcript: Transcript, budget: int, strategy: str) -> str:
    """Return the excerpt by *strategy*; by one of `BASELINES`, a cut of all that was said."""
    if strategy not in BASELINES:
        return fit(transcript, budget, strategy=strategy).text
    everything = fit(transcript, _UNBOUNDED, strategy="spec").text  # which shows no output of tools
    if len(everything) <= budget or strategy == "head":
        return everything[:budget]
    half = (budget - len(_CUT)) // 2
    return f"{everything[:half]}{_CUT}{everything[-half:]}"


kept_spec = partial(kept, strategy="spec")


def megabytes(turns: Iterable[GoldTurn]) -> float:
    """The length of their text in UTF-8, in millions of bytes."""
    return sum(len(turn.text.encode()) for turn in turns) / 1e6
