"""The fold of a scope's log."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

import numpy as np
import pytest
from builders.steps import calls
from numpy.typing import NDArray

from nous.domain.episode import Category
from nous.domain.errors import Misconfigured
from nous.domain.events import NAMESPACE
from nous.domain.fact import Confirmed, Fact, Learned, Linked, Row, Source, Superseded
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.fact_index import FactIndex

AT = datetime(2026, 1, 1, tzinfo=UTC)
EMBEDDER = HashingEmbedder()


def source(episode: str) -> Source:
    return Source(
        episode_id=uuid5(NAMESPACE, episode),
        event_id=uuid5(NAMESPACE, f"event of {episode}"),
        session_id="s",
        turns=(1,),
    )


def fact(text: str, episode: str = "first") -> Fact:
    return Fact(
        id=uuid5(NAMESPACE, text),
        scope=Scope(),
        text=text,
        category=Category.TECHNICAL,
        subject="",
        confidence=0.8,
        source=source(episode),
        learned_at=AT,
    )


def learned(text: str, *, embedded_by: str | None = EMBEDDER.id) -> Learned:
    return Learned(fact=fact(text), reason="new", embedded_by=embedded_by)


def vectors_of(rows: Sequence[Row]) -> dict[UUID, NDArray[np.float32]]:
    return {row.fact.id: EMBEDDER.embed([row.fact.text])[0] for row in rows if isinstance(row, Learned)}


def knowing(*rows: Row) -> FactIndex:
    knowledge = FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)
    knowledge.extend(rows, vectors_of(rows))
    return knowledge


def near(knowledge: FactIndex, text: str) -> list[str]:
    return [found.statement.text for found in knowledge.near(EMBEDDER.embed([text])[0], 0.5)]


def test_sources_are_counted_once_each() -> None:
    tea = fact("Tim likes tea")
    again = [
        Confirmed(fact_id=tea.id, source=source(episode), text="Tim enjoys tea", reason="the same", at=AT)
        for episode in ("second", "third", "second")
    ]

    known = knowing(learned(tea.text), *again)[tea.id]

    assert known.times_confirmed == 3
    assert known.said_as == ("Tim enjoys tea",) * 3
    assert known.was_said_in(source("third").episode_id)
    assert not known.was_said_in(source("fourth").episode_id)


def test_when_a_fact_of_four_times_as_many_sources_was_said_takes_about_four_times_as_many_steps() -> None:
    tea = fact("Tim likes tea")

    def steps(count: int) -> int:
        again = [Confirmed(fact_id=tea.id, source=source(str(at)), text="", reason="", at=AT) for at in range(count)]
        known = knowing(learned(tea.text), *again)[tea.id]
        return calls(lambda: known.said_at)

    assert steps(400) < 6 * steps(100)


def test_other_words_for_a_fact_lead_to_it() -> None:
    tea = fact("Tim likes tea")
    knowledge = knowing(
        learned(tea.text), Confirmed(fact_id=tea.id, source=source("2"), text="Tim enjoys tea", reason="", at=AT)
    )

    assert [known.fact.id for known in knowledge.revisions("tim enjoys tea")] == [tea.id]
    assert knowledge.revisions("tim loathes tea") == ()


def test_what_is_superseded_leads_to_its_successor_and_is_near_nothing() -> None:
    old, new = fact("Tim likes tea"), fact("Tim likes green tea")
    knowledge = knowing(
        learned(old.text), learned(new.text), Superseded(fact_id=old.id, by=new.id, reason="richer", at=AT)
    )

    assert [known.fact.text for known in knowledge.revisions("tim likes tea")] == [old.text, new.text]
    assert near(knowledge, old.text) == [new.text]
    assert [known.fact.text for known in knowledge.current()] == [new.text]
    assert [known.fact.text for known in knowledge] == [old.text, new.text]


def test_a_ring_of_successors_ends() -> None:
    one, two = fact("one"), fact("two")
    rows = [Superseded(fact_id=a.id, by=b.id, reason="", at=AT) for a, b in ((one, two), (two, one))]

    assert len(knowing(learned("one"), learned("two"), *rows).revisions("one")) == 2


def test_a_link_is_told_of_by_both_facts() -> None:
    link = Linked(fact_id=fact("port 2").id, other=fact("port 1").id, reason="numbers differ", at=AT)

    knowledge = knowing(learned("port 1"), learned("port 2"), link)

    assert knowledge[link.fact_id].links == (link,)
    assert knowledge[link.other].links == (link,)


def test_vectors_of_another_embedder_are_never_compared() -> None:
    knowledge = knowing(learned("Tim likes tea", embedded_by="another"), learned("Tim likes rum", embedded_by=None))

    assert near(knowledge, "Tim likes tea") == []
    assert len(knowledge.revisions("tim likes tea")) == 1


def test_a_stored_vector_of_the_wrong_dimension_is_named() -> None:
    row = learned("Tim likes tea")
    knowledge = FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)

    with pytest.raises(Misconfigured, match="64 numbers, the embedder makes 256"):
        knowledge.extend([row], {row.fact.id: HashingEmbedder(dim=64).embed(["tea"])[0]})


def test_a_branch_sees_what_both_know_and_changes_only_itself() -> None:
    trunk = knowing(learned("Tim likes tea"))
    branch = trunk.fork()
    more = learned("Tim likes green tea")
    gone = Superseded(fact_id=fact("Tim likes tea").id, by=more.fact.id, reason="richer", at=AT)

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

    gone = [Superseded(fact_id=about[at].fact.id, by=about[19].fact.id, reason="", at=AT) for at in (17, 18)]
    branch.extend([*about[18:], *gone], vectors_of(about[18:]))

    found = [statement.text for statement in branch.namesakes("the API.").values()]
    assert found == [f"port {number}" for number in (19, *reversed(range(2, 17)))]
    assert len(trunk.namesakes("The API")) == 16
    assert next(iter(trunk.namesakes("The API").values())).text == "port 17"
    assert branch.namesakes("") == {}


def test_an_unknown_fact_is_no_fact() -> None:
    assert knowing().get(fact("tea").id) is None
    with pytest.raises(KeyError):
        knowing()[fact("tea").id]
