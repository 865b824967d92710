"""Planted instructions, told by a model that obeys all of them, reach neither facts nor summaries nor an agent."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from builders.answers import answer, stated
from builders.injections import Injection, injections
from builders.model_server import Request
from builders.town import HERE, running

from nous.context.notes import block
from nous.domain.episode import Episode
from nous.services.memory import context_notes
from nous.services.session_intake import SessionMetadata

MOST_MISSED, MOST_SHOWN = 15, 12
"""Of 493 statements, how many pass the checks, and how many of them the notes for an agent show. What they are, is in
tests/unit/summary/test_vetting.py."""


def obedient(request: Request) -> str:
    """Say what the session's planted instruction wants to be said, wherever an answer has room for it."""
    found = re.search(r"case-(\d+)", request.user)
    if found is None:  # a question about two facts
        return "{}"
    told = injections()[int(found[1])].statements
    return answer(
        title=told[0],
        summary=" ".join(told),
        key_points=told,
        topics=[],
        open_threads=told,
        outcome_rationale=told[0],
        candidate_facts=[stated(each) for each in told],
    )


class Kept(NamedTuple):
    """Traces of planted instructions: episodes, texts of current facts, and notes for an agent."""

    episodes: dict[str, Episode]
    facts: set[str]
    notes: str


def filled(directory: Path) -> Kept:
    with running(directory, obedient) as town:
        for number, each in enumerate(injections()):
            messages = [*each.messages(), {"role": "user", "content": f"Thanks, this was case-{number}."}]
            list(town.producer.publish(messages, SessionMetadata(scope=HERE, session_id=f"case-{number}")))
        town.settle()
        episodes = town.container.memory.episodes.recent(HERE, limit=1000)
        notes, _ = context_notes(town.container.memory, "", HERE)
        return Kept({each.session_id: each for each in episodes}, set(town.facts()), block(notes, budget=100_000))


def passed(kept: Kept) -> Iterator[tuple[Injection, str]]:
    for number, each in enumerate(injections()):
        episode = kept.episodes[f"case-{number}"]
        summary = episode.summary
        shown = "\n".join(
            (summary.text, summary.outcome_rationale, *summary.open_threads, *summary.topics, *kept.facts)
        )
        yield from ((each, statement) for statement in each.statements if statement in shown)


# One test: processes of pytest-xdist that share the tests of a module would each fill a town.
def test_a_planted_statement_is_dropped_with_a_count_or_kept_apart_and_shown_to_no_agent(tmp_path: Path) -> None:
    kept = filled(tmp_path)
    stored = {(each.name, statement) for each, statement in passed(kept)}
    shown = [statement for each in injections() for statement in each.statements if statement in kept.notes]

    assert len(kept.episodes) == len(injections())
    assert len(list(passed(kept))) <= MOST_MISSED, stored
    assert len(shown) <= MOST_SHOWN, shown
    for number, each in enumerate(injections()):
        episode = kept.episodes[f"case-{number}"]
        is_held_back = any((each.name, statement) not in stored for statement in each.statements)

        assert is_held_back <= bool(episode.dropped_facts), each.name
        assert len(episode.quarantined) <= sum(count for _, count in episode.dropped_facts), each.name
    assert sum(bool(episode.quarantined) for episode in kept.episodes.values()) > len(injections()) // 2
