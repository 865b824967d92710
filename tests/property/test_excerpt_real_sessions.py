"""The laws of the excerpt on real sessions: never over the budget, and every entry accounted for once."""

from collections.abc import Sequence
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from builders.gold import SAMPLES

from nous.app.quality.gold import excerpts_in, transcript_of
from nous.domain.errors import BadInput
from nous.excerpt import Manifest, fit
from nous.excerpt.strategies import names
from nous.transcript import read_transcript
from nous.transcript.model import Transcript

NO_SESSIONS = {"embedding", "facts", "gold", "retention", "openai_chat"}
"""Folders of other things; those of `openai_chat` are read as the set `tau_dev`, each on its own."""

BUDGETS = (0, 1, 2, 5, 10, 37, 100, 333, 1000, 2000, 8000, 16_000, 100_000)
NORMALISED = tuple(excerpts_in(SAMPLES / "retention"))


@cache
def sessions_in(folder: str) -> tuple[Transcript, ...]:
    """Every session in a folder of files, but for files that hold none."""
    read = (_read(path) for path in sorted((SAMPLES / folder).rglob("*")) if path.is_file())
    return tuple(transcript for transcript in read if transcript)


@cache
def sessions_of(data_set: str) -> tuple[Transcript, ...]:
    """Every session of a set of normalised turns."""
    found = excerpts_in(SAMPLES / "retention").get(data_set, ())
    return tuple(transcript_of(session.turns) for session in found)


@cache
def all_sessions() -> tuple[Transcript, ...]:
    return tuple(chain(*map(sessions_in, FOLDERS), *map(sessions_of, NORMALISED)))


def _read(path: Path) -> Transcript | None:
    try:
        return read_transcript(path)
    except BadInput:
        return None


FOLDERS = sorted({path.name for path in SAMPLES.glob("*/")} - NO_SESSIONS)


def is_accounted(manifest: Manifest, transcript: Transcript) -> bool:
    """Whether each entry of *transcript* is named once, and nothing else is."""
    records = (*manifest.kept, *manifest.cut, *manifest.dropped)
    named = [entry for record in records for entry in record.entries]
    return len(named) == len(transcript.entries) and set(named) == {entry.id for entry in transcript}


def broken(sessions: Sequence[Transcript], strategy: str) -> list[tuple[str, int]]:
    """Where a law does not hold: the session, and the budget that shows it.

    A session is tried at every second budget with the default strategy, which everybody gets, and at every fourth with
    another, by turns: where there are as many sessions, each budget is tried with one of them.
    """
    step = min(len(sessions), 2 if strategy == "default" else 4)
    tried = [(session, budget) for number, session in enumerate(sessions) for budget in BUDGETS[number % step :: step]]
    excerpts = [fit(session, budget, strategy=strategy) for session, budget in tried]
    return [
        (session.source or session.digest, budget)
        for (session, budget), found in zip(tried, excerpts, strict=True)
        if len(found.text) > budget or not is_accounted(found.manifest, session)
    ]


@pytest.mark.parametrize("strategy", names())
@pytest.mark.parametrize("name", [*FOLDERS, *NORMALISED])
def test_an_excerpt_of_a_real_session_keeps_its_budget_and_accounts_for_every_entry(name: str, strategy: str) -> None:
    sessions = sessions_of(name) if name in NORMALISED else sessions_in(name)

    assert sessions
    assert broken(sessions, strategy) == []
