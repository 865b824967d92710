"""The fold of a scope's log."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

import numpy as np
from builders import fact_rows
from builders.fact_rows import NOON as AT
from builders.fact_rows import fact_id, superseded
from builders.knowing import source
from numpy.typing import NDArray

from nous.domain.fact import Confirmed, Learned, Row
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.fact_index import FactIndex

EMBEDDER = HashingEmbedder()
TEA = "Tim likes tea"
learned = partial(fact_rows.learned, embedded_by=EMBEDDER.id)


def confirmed(session: str, text: str = "Tim enjoys tea") -> Confirmed:
    return Confirmed(fact_id=fact_id(TEA), source=source(session), text=text, reason="the same", at=AT)


def vectors_of(rows: Sequence[Row]) -> dict[UUID, NDArray[np.float32]]:
    return {row.fact.id: EMBEDDER.embed([row.fact.text])[0] for row in rows if isinstance(row, Learned)}


def knowing(*rows: Row) -> FactIndex:
    knowledge = FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)
    knowledge.extend(rows, vectors_of(rows))
    return knowledge


def near(knowledge: FactIndex, text: str) -> list[str]:
    return [found.statement.text for found in knowledge.near(EMBEDDER.embed([text])[0], 0.5)]


def test_sources_are_counted_once_each_and_their_words_lead_to_the_fact() -> None:
    knowledge = knowing(learned(TEA), *map(confirmed, ("second", "third", "second")))
    [known] = knowledge.revisions("tim enjoys tea")

    assert known.times_confirmed == 3
    assert known.said_as == ("Tim enjoys tea",) * 3
    assert known.was_said_in(source("third").episode_id)
    assert not known.was_said_in(source("fourth").episode_id)
    assert knowledge.revisions("tim loathes tea") == ()


def test_what_is_superseded_leads_to_its_successor_and_is_near_nothing() -> None:
    new = "Tim likes green tea"
    knowledge = knowing(learned(TEA), learned(new), superseded(TEA, by=new))

    assert [known.fact.text for known in knowledge.revisions("tim likes tea")] == [TEA, new]
    assert near(knowledge, TEA) == [new]
    assert [known.fact.text for known in knowledge.current()] == [new]
    assert [known.fact.text for known in knowledge] == [TEA, new]


def test_a_branch_sees_what_both_know_and_changes_only_itself() -> None:
    trunk = knowing(learned("Tim likes tea"))
    branch = trunk.fork()
    more = learned("Tim likes green tea")
    gone = superseded(TEA, by=more.fact.text)

    branch.extend([more, gone], vectors_of([more]))

    assert near(branch, "Tim likes tea") == ["Tim likes green tea"]
    assert [known.is_current for known in branch] == [False, True]
    assert near(trunk, "Tim likes tea") == ["Tim likes tea"]
    assert [known.is_current for known in trunk] == [True]


def test_the_newest_current_facts_of_a_subject_are_found_in_a_branch_and_below_it() -> None:
    rows = [learned(f"port {number}") for number in range(20)]
    about = [replace(row, fact=replace(row.fact, subject="The API")) for row in rows]
    trunk = knowing(*about[:18], learned("port of another"))
    branch = trunk.fork()

    gone = [superseded(f"port {at}", by="port 19") for at in (17, 18)]
    branch.extend([*about[18:], *gone], vectors_of(about[18:]))

    found = [statement.text for statement in branch.namesakes("the API.").values()]
    assert found == [f"port {number}" for number in (19, *reversed(range(2, 17)))]
    assert len(trunk.namesakes("The API")) == 16
    assert next(iter(trunk.namesakes("The API").values())).text == "port 17"
    assert branch.namesakes("") == {}
