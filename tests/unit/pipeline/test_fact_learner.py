"""Which facts an adjudicator is asked about, and what its rulings do to the log."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from builders.contexts import context_over
from builders.knowing import AT, source
from builders.stores import WholeStore
from numpy.typing import NDArray

from nous.domain.effects import AppendFacts
from nous.domain.episode import CandidateFact, Trust
from nous.domain.fact import Embedded, LinkKind
from nous.domain.scope import CacheSubject, Scope
from nous.knowledge.decision import FactDecision
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.precedence import keeping_apart, unsettling
from nous.knowledge.verdict import Adjudication, Relation, Rulings, UncertainFact
from nous.pipeline.fact_learner import FactLearner

BASE, NEAR, FAR = "Deploys leave from main", "Releases go out of trunk", "Shipping starts at develop"
SAME, LESS, MORE, CORRECTS, DIFFERENT = (Adjudication(relation, "reader", "so it is") for relation in Relation)


class Angles:
    """Embedder that gives each text a vector with a chosen cosine to the first axis; 1 if none was chosen."""

    id, dim = "angles", 2

    def __init__(self, cosines: Mapping[str, float]) -> None:
        self._cosines = cosines

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found = [self._cosines.get(text, 1.0) for text in texts]
        return np.array([(cosine, np.sqrt(1 - cosine**2)) for cosine in found], dtype=np.float32)


class Reader:
    """`Adjudicator` with fixed rulings by the words of both facts; other pairs are different, without a reason."""

    def __init__(self, rulings: Mapping[tuple[str, str], Adjudication]) -> None:
        self.rulings = rulings
        self.asked: list[dict[str, list[str]]] = []

    def adjudicate(self, facts: Sequence[UncertainFact], *, matter: CacheSubject) -> Rulings:
        assert matter.scope == Scope()
        self.asked.append({each.fact.text: [known.fact.text for known, _ in each.known] for each in facts})
        silent = Adjudication(Relation.DIFFERENT, "reader")
        return {
            each.fact.id: {
                known.fact.id: self.rulings.get((each.fact.text, known.fact.text), silent) for known, _ in each.known
            }
            for each in facts
        }


class Desk:
    """A scope that sessions teach, month by month, with a reader as the adjudicator."""

    def __init__(self, rulings: Mapping[tuple[str, str], Adjudication] = {}, cosines: Mapping[str, float] = {}) -> None:
        self.reader, self.store, embedder = Reader(rulings), WholeStore(), Angles(cosines)
        self.context = context_over(self.store, clock=lambda: AT, embedder=embedder, adjudicator=self.reader)

    def hear(self, *texts: str, month: int, subject: str = "", trust: Trust = Trust.USER) -> Sequence[FactDecision]:
        said_by = source(f"month {month}", said_at=datetime(2026, month, 1, tzinfo=UTC))
        facts = [CandidateFact(text=text, subject=subject, trust=trust) for text in texts]
        learned = FactLearner(self.context).ingest(facts, scope=Scope(), source=said_by)
        assert self.store.apply((learned.append,)) is None
        return learned.fact_decisions

    @property
    def knowledge(self) -> FactIndex:
        with self.context.fact_cache.current(self.store, Scope(), self.context.embedder) as knowledge:
            return knowledge

    @property
    def current(self) -> list[str]:
        return [known.fact.text for known in self.knowledge.current()]

    def known(self, text: str) -> KnownFact:
        return next(known for known in self.knowledge if known.fact.text == text)


def test_neighbors_from_the_least_cosine_on_and_facts_of_the_same_subject_reach_the_adjudicator() -> None:
    desk = Desk(cosines={NEAR: 0.451, FAR: 0.449})
    desk.hear(NEAR, FAR, month=1)
    desk.hear("Tim drinks tea", month=2, subject="deploys")
    desk.reader.asked.clear()

    desk.hear(BASE, month=3)
    desk.hear(f"{BASE} alone, as ever", month=4, subject="Deploys")

    assert desk.reader.asked == [
        {BASE: ["Tim drinks tea", NEAR]},
        {f"{BASE} alone, as ever": [BASE, "Tim drinks tea", NEAR]},
    ]


def test_the_eight_nearest_are_asked_about_in_one_call_for_all_facts_of_an_episode() -> None:
    words = ["apple", "birch", "cedar", "daisy", "elder", "fig", "grape", "hazel", "iris", "juniper"]
    desk = Desk(cosines={f"Someone planted a {word}": 0.5 + at / 50 for at, word in enumerate(words)})
    for word in words:
        desk.hear(f"Someone planted a {word}", month=1)
    desk.reader.asked.clear()

    desk.hear("The gate creaks", "Rain is due", month=2)

    [asked] = desk.reader.asked
    nearest = [f"Someone planted a {word}" for word in reversed(words)]
    assert asked == {"The gate creaks": nearest[:8], "Rain is due": ["The gate creaks", *nearest[:7]]}


@pytest.mark.parametrize("again", [BASE, "deploys leave from Main.", "From main, the deploys leave"])
def test_what_the_texts_show_to_be_known_is_not_asked(again: str) -> None:
    desk = Desk()
    desk.hear(BASE, month=1)
    desk.reader.asked.clear()

    [decision] = desk.hear(again, month=2)

    assert (decision.verdict.name, desk.reader.asked) == ("known", [])


@pytest.mark.parametrize(
    ("ruling", "name"), [(SAME, "known"), (LESS, "known"), (MORE, "richer"), (CORRECTS, "supersedes")]
)
def test_a_ruling_is_applied_and_its_reason_recorded(ruling: Adjudication, name: str) -> None:
    desk = Desk({(NEAR, BASE): ruling}, {NEAR: 0.46})
    desk.hear(BASE, month=1)

    [decision] = desk.hear(NEAR, month=2)

    assert decision.verdict.name == name
    assert {row.reason for row in decision.rows if not isinstance(row, Embedded)} == {decision.verdict.reason}
    assert decision.verdict.reason == f"{ruling.relation}, says reader: so it is"
    assert desk.current == [BASE if name == "known" else NEAR]


def test_an_older_statement_that_arrives_late_replaces_nothing() -> None:
    desk = Desk({(BASE, NEAR): CORRECTS}, {NEAR: 0.46})
    desk.hear(NEAR, month=5)

    [late] = desk.hear(BASE, month=2)

    assert desk.current == [NEAR]
    assert "the other was said later" in late.verdict.reason
    gone = desk.known(BASE).superseded
    assert gone is not None
    assert (gone.by, gone.valid_to) == (desk.known(NEAR).fact.id, datetime(2026, 5, 1, tzinfo=UTC))


@pytest.mark.parametrize(("subject", "other"), [("deploys", "branches"), ("", "branches")])
def test_a_model_may_find_an_update_under_another_subject_but_not_above_a_users_word(subject: str, other: str) -> None:
    desk = Desk({(NEAR, BASE): CORRECTS, (FAR, NEAR): CORRECTS}, {NEAR: 0.46, FAR: 0.46})
    desk.hear(BASE, month=1, subject=other, trust=Trust.ASSISTANT)
    desk.hear(NEAR, month=2, subject=subject)

    [decision] = desk.hear(FAR, month=3, trust=Trust.ASSISTANT)

    assert decision.verdict.reason.endswith("but only an agent says so")
    assert desk.current == [NEAR, FAR]


def test_all_that_a_new_fact_contains_or_replaces_gives_way_to_it_or_to_what_it_repeats() -> None:
    rulings = {
        ("The team ships from trunk each night", BASE): CORRECTS,
        ("The team ships from trunk each night", FAR): MORE,
        ("The team ships from trunk each night", NEAR): SAME,
    }
    desk = Desk(rulings)
    desk.hear(BASE, FAR, NEAR, month=1)

    verdicts = [decision.verdict.name for decision in desk.hear("The team ships from trunk each night", month=2)]

    assert verdicts == ["known", "richer", "supersedes"]
    assert desk.current == [NEAR]


def test_a_stated_difference_outweighs_the_rules_and_silence_leaves_them() -> None:
    old, new = "Always use port 9017 from now on", "Always use port 9018 from now on"
    for rulings, name in (({}, "supersedes"), ({(new, old): DIFFERENT}, "linked")):
        desk = Desk(rulings)
        desk.hear(old, month=1)

        [decision] = desk.hear(new, month=2)

        assert decision.verdict.name == name
    assert decision.verdict.reason == "different, says reader: so it is"


@pytest.mark.parametrize(
    ("one", "other"),
    [("The replica can lag in bulk loads", "The replica cannot lag in bulk loads"), ("Use node 3", "Use node 4")],
)
def test_no_ruling_merges_texts_that_differ_in_a_detail_alone(one: str, other: str) -> None:
    desk = Desk({(other, one): SAME})
    desk.hear(one, month=1)

    [decision] = desk.hear(other, month=2)

    assert decision.verdict.name == "duplicate"
    assert decision.verdict.reason.startswith("same, says reader: so it is; but ")
    assert desk.known(one).standing_links[desk.known(other).fact.id].kind is LinkKind.DUPLICATE


def test_an_update_by_a_model_is_undone_and_kept_apart_by_hand() -> None:
    desk = Desk({(NEAR, BASE): CORRECTS}, {NEAR: 0.46})
    desk.hear(BASE, month=1)
    desk.hear(NEAR, month=2)
    for undo in (unsettling, keeping_apart):
        known = desk.knowledge
        rows = undo(desk.known(BASE), desk.known(NEAR), knowledge=known, reason="two", at=AT)
        assert rows
        assert desk.store.write(AppendFacts(scope=Scope(), expected=known.version, rows=rows))

    desk.hear(NEAR, month=3)

    assert desk.current == [BASE, NEAR]
