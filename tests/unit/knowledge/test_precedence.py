"""Which fact may take the place of which: by whose word it is, and what it is about."""

from datetime import UTC, datetime
from uuid import UUID, uuid5

import pytest

from nous.domain.episode import CandidateFact, Trust
from nous.domain.events import NAMESPACE
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.adjudication import Adjudication, Relation
from nous.knowledge.decision import FactDecision, LearnContext
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.judge import Supersedes
from nous.knowledge.learn import NOT_ALL_COMPARED, RETOLD, embed_late, learn
from nous.knowledge.normalize import exact_form
from nous.knowledge.verdict import Dedup, Policy

EMBEDDER = HashingEmbedder()
POLICY = Policy(near=0.5, one_sided=0.6)
NOW = datetime(2026, 12, 1, tzinfo=UTC)
DOUBTED = pytest.mark.parametrize("trust", [Trust.TOOL, Trust.WEB])
PORT, OTHER = "The API listens on port 8081", "The API listens on port 6666"
MORE = f"{PORT} by default"


class Scene:
    """A scope that sessions tell of something, month by month."""

    def __init__(self, policy: Policy = POLICY) -> None:
        self.policy = policy
        self.knowledge = FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)

    def hear(
        self,
        text: str,
        *,
        month: int,
        trust: Trust = Trust.USER,
        subject: str = "API",
        has_vector: bool = True,
        adjudication: Relation | None = None,
        session: str = "",
    ) -> FactDecision:
        source = Source(
            episode_id=uuid5(NAMESPACE, session or f"session {month}"),
            event_id=uuid5(NAMESPACE, f"event {month}"),
            session_id=session or f"session {month}",
            turns=(1,),
            said_at=datetime(2026, month, 1, tzinfo=UTC),
        )
        form = exact_form(text)
        ruled = {
            (form, known.fact.id): Adjudication(adjudication, by="the tests")
            for known in self.knowledge
            if adjudication
        }
        learn_context = LearnContext(scope=Scope(), source=source, policy=self.policy, at=NOW, adjudications=ruled)
        vector = EMBEDDER.embed([text])[0] if has_vector else None
        candidates = [CandidateFact(text=text, subject=subject, trust=trust)]
        learning = learn(candidates, [vector], knowledge=self.knowledge, learn_context=learn_context)
        self.knowledge.extend(learning.rows, learning.vectors)
        return learning.decisions[0]

    def mend(self) -> list[FactDecision]:
        waiting = list(self.knowledge.without_vector())
        vectors = EMBEDDER.embed([known.fact.text for known in waiting])
        pairs = list(zip(waiting, vectors, strict=True))
        mending = embed_late(pairs, knowledge=self.knowledge, policy=self.policy, at=NOW)
        self.knowledge.extend(mending.rows, mending.vectors)
        return list(mending.decisions)

    @property
    def current(self) -> list[str]:
        return [known.fact.text for known in self.knowledge.current()]


@DOUBTED
@pytest.mark.parametrize("text", [MORE, OTHER])
def test_what_a_tool_or_a_page_says_takes_no_place_of_what_a_user_said(trust: Trust, text: str) -> None:
    scene = Scene()
    scene.hear(PORT, month=1)

    fact_decision = scene.hear(text, month=2, trust=trust)

    assert fact_decision.verdict.name == "linked"
    assert fact_decision.verdict.reason.endswith("but only a tool or a page says so")
    assert scene.current == [PORT, text]


@pytest.mark.parametrize("text", [MORE, OTHER])
def test_a_page_gives_way_to_a_page(text: str) -> None:
    scene = Scene()
    scene.hear(PORT, month=1, trust=Trust.WEB)
    scene.hear(text, month=2, trust=Trust.WEB)

    assert scene.current == [text]


@pytest.mark.parametrize("text", [MORE, OTHER])
def test_a_page_gives_way_to_a_user(text: str) -> None:
    scene = Scene()
    scene.hear(PORT, month=1, trust=Trust.WEB)
    scene.hear(text, month=2)

    assert scene.current == [text]


def test_what_a_user_said_before_a_page_is_not_made_history_by_it() -> None:
    scene = Scene()
    scene.hear(OTHER, month=6, trust=Trust.WEB)

    late = scene.hear(PORT, month=1)

    assert late.verdict.reason.endswith("but only a tool or a page says the other")
    assert scene.current == [OTHER, PORT]


def test_the_same_words_of_a_user_are_not_history_because_of_a_page() -> None:
    scene = Scene()
    scene.hear(PORT, month=1, trust=Trust.WEB)
    scene.hear(OTHER, month=6, trust=Trust.WEB)

    scene.hear(PORT, month=3)

    assert scene.current == [OTHER, PORT]


def test_a_page_that_repeats_what_a_user_said_makes_it_no_newer() -> None:
    scene = Scene()
    scene.hear(PORT, month=1)
    scene.hear(PORT, month=6, trust=Trust.WEB)

    assert scene.hear(OTHER, month=3).verdict.name == "supersedes"


@pytest.mark.parametrize("is_said_before", [True, False])
def test_whoever_says_less_than_a_page_does_not_vouch_for_the_rest(*, is_said_before: bool) -> None:
    scene = Scene()
    if is_said_before:
        scene.hear(PORT, month=1, trust=Trust.WEB)
    richer = scene.hear(MORE, month=2, trust=Trust.WEB)

    fact_decision = scene.hear(PORT, month=3)

    assert fact_decision.verdict.name == "linked"
    assert scene.knowledge[richer.fact.id].trust is Trust.WEB
    assert scene.current == [MORE, PORT]


def test_a_page_still_confirms_what_a_user_said() -> None:
    scene = Scene()
    first = scene.hear(MORE, month=1)

    assert scene.hear(PORT, month=2, trust=Trust.WEB).verdict.name == "known"
    assert scene.knowledge[first.fact.id].times_confirmed == 2


@pytest.mark.parametrize("relation", [Relation.MORE, Relation.CORRECTS])
def test_nobody_who_understands_texts_puts_a_page_above_a_user(relation: Relation) -> None:
    scene = Scene()
    scene.hear("Tim buys the green tea", month=1)

    fact_decision = scene.hear("Tim drinks the green tea", month=2, trust=Trust.WEB, adjudication=relation)

    assert fact_decision.verdict.name == "linked"
    assert "the tests; but only a tool or a page says so" in fact_decision.verdict.reason


def test_a_later_edition_in_the_words_of_a_page_leaves_what_the_user_said() -> None:
    scene = Scene()
    scene.hear("Always run service billing on port 9017", month=1, session="one")

    fact_decision = scene.hear("Service billing always runs on port 9017", month=2, trust=Trust.WEB, session="one")

    assert fact_decision.verdict.reason == f"{RETOLD}; but only a tool or a page says so"


@pytest.mark.parametrize("text", [MORE, OTHER])
def test_what_was_learned_without_a_vector_is_held_to_the_same(text: str) -> None:
    scene = Scene()
    scene.hear(PORT, month=1)
    scene.hear(text, month=2, trust=Trust.WEB, has_vector=False)

    [each] = scene.mend()

    assert each.verdict.name == "linked"
    assert scene.current == [PORT, text]


FAR = ("The timeout is 30 seconds", "The timeout is 90 s")


@pytest.mark.parametrize("has_vector", [True, False])
def test_another_value_of_the_same_subject_is_found_whatever_the_cosine(*, has_vector: bool) -> None:
    scene = Scene(Policy(near=0.9))
    scene.hear(FAR[0], month=1, subject="timeout")

    fact_decision = scene.hear(FAR[1], month=2, subject="timeout", has_vector=has_vector)

    assert isinstance(fact_decision.verdict, Supersedes)
    assert fact_decision.verdict.similarity is None
    assert scene.current == [FAR[1]]
    assert [each.verdict.name for each in scene.mend()] == ([] if has_vector else ["new"])


def test_of_two_that_wait_together_the_one_that_gave_way_is_passed_over() -> None:
    scene = Scene(Policy(dedup=Dedup.EXACT))
    scene.hear(FAR[1], month=2, subject="timeout", has_vector=False)
    scene.hear(FAR[0], month=1, subject="timeout", has_vector=False)
    assert len(scene.current) == 2

    scene.policy = POLICY

    assert [each.verdict.name for each in scene.mend()] == ["supersedes"]
    assert scene.current == [FAR[1]]


def test_what_could_not_be_compared_with_all_that_is_known_says_so() -> None:
    scene = Scene()
    scene.hear("Tim likes tea", month=1, has_vector=False)

    assert scene.hear(PORT, month=2).verdict.reason == NOT_ALL_COMPARED
    scene.mend()
    assert scene.hear("Omar wrote the parser", month=3).verdict.reason == "nothing known is near"


def test_what_a_user_said_and_waits_gives_way_to_no_page_of_the_same_hour() -> None:
    scene = Scene()
    scene.hear(PORT, month=1, has_vector=False, session="one")
    scene.hear(OTHER, month=1, trust=Trust.WEB, session="two")

    scene.mend()

    assert PORT in scene.current


@DOUBTED
@pytest.mark.parametrize("again", [OTHER, "API listens on port 6666"])
def test_who_says_what_a_page_said_before_corrects_what_was_said_otherwise(trust: Trust, again: str) -> None:
    scene = Scene()
    scene.hear(PORT, month=1)
    scene.hear(OTHER, month=2, trust=trust)

    fact_decision = scene.hear(again, month=3)

    assert fact_decision.verdict.name == "known"
    assert fact_decision.correction
    assert fact_decision.correction == Supersedes(
        fact_id=fact_of(scene, PORT), reason="value 6666 / 8081", similarity=fact_decision.correction.similarity
    )
    assert scene.current == [OTHER]


def test_who_said_it_earlier_than_what_is_current_tells_of_the_past() -> None:
    scene = Scene()
    scene.hear(OTHER, month=2, trust=Trust.WEB)
    scene.hear(PORT, month=3)

    scene.hear(OTHER, month=1)

    assert scene.current == [PORT]


def test_what_is_said_besides_corrects_nothing() -> None:
    scene = Scene()
    scene.hear(PORT, month=1)

    fact_decision = scene.hear("The API also listens on port 6666", month=2)

    assert fact_decision.verdict.name == "linked"
    assert len(scene.current) == 2


def fact_of(scene: Scene, text: str) -> UUID:
    return next(known.fact.id for known in scene.knowledge if known.fact.text == text)
