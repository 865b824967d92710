"""A later statement takes the place of an earlier one about the same thing, without a model."""

from datetime import UTC, datetime
from uuid import UUID, uuid5

import pytest

from nous.domain.episode import CandidateFact, Category, Trust
from nous.domain.events import NAMESPACE
from nous.domain.fact import Linked as LinkedRow
from nous.domain.fact import LinkKind, Source
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.decision import FactDecision, LearnContext
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.judge import Neighbour, judge
from nous.knowledge.learn import embed_late, learn
from nous.knowledge.verdict import LinkedTo, Policy, Statement, Supersedes

EMBEDDER = HashingEmbedder()
POLICY = Policy(near=0.5, one_sided=0.6)
NOW = datetime(2026, 12, 1, tzinfo=UTC)
PORT, OTHER = "The API listens on port 8081", "The API listens on port 6666"

CHAINS = [
    ["Always use port 9017 from now on", "Always use port 9018 from now on"],
    ["I prefer tabs over spaces", "I prefer spaces over tabs", "I have changed my mind, I prefer spaces"],
    ["Never push to main without a review", "You may push to main from now on"],
    ["We deploy with Helm 3.12", "We deploy with Helm 3.14"],
    ["Tests are run with `mise run test`", "Tests are run with `make test`"],
]


class Scene:
    """A scope that sessions tell of something, month by month."""

    def __init__(self) -> None:
        self.knowledge = FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)

    def hear(
        self, text: str, *, month: int, trust: Trust = Trust.USER, subject: str = "API", has_vector: bool = True
    ) -> FactDecision:
        episode = uuid5(NAMESPACE, f"session {month}")
        said_at = datetime(2026, month, 1, tzinfo=UTC)
        source = Source(episode_id=episode, event_id=episode, session_id=str(month), turns=(1,), said_at=said_at)
        category = Category.TOOL if "`" in text else Category.TECHNICAL
        candidate = CandidateFact(text=text, subject=subject, trust=trust, category=category)
        vectors = [EMBEDDER.embed([text])[0] if has_vector else None]
        learn_context = LearnContext(scope=Scope(), source=source, policy=POLICY, at=NOW)
        learning = learn([candidate], vectors, knowledge=self.knowledge, learn_context=learn_context)
        self.knowledge.extend(learning.rows, learning.vectors)
        return learning.decisions[0]

    @property
    def current(self) -> list[str]:
        return [known.fact.text for known in self.knowledge.current()]


@pytest.mark.parametrize("texts", CHAINS, ids=lambda texts: texts[0])
@pytest.mark.parametrize("trust", [Trust.USER, Trust.ASSISTANT])
def test_of_two_statements_on_one_subject_the_later_one_is_current(texts: list[str], trust: Trust) -> None:
    scene = Scene()

    verdicts = [scene.hear(text, month=at, trust=trust).verdict.name for at, text in enumerate(texts, start=1)]

    assert verdicts == ["new", *["supersedes"] * (len(texts) - 1)]
    assert scene.current == texts[-1:]


@pytest.mark.parametrize("texts", CHAINS, ids=lambda texts: texts[0])
def test_an_update_needs_no_subject_and_no_high_cosine(texts: list[str]) -> None:
    known = Neighbour(fact_id=UUID(int=1), statement=Statement(texts[0]), similarity=0.52)

    assert isinstance(judge(Statement(texts[1]), [known], Policy(one_sided=0.95)), Supersedes)


def test_what_may_be_an_update_is_kept_and_linked_as_one() -> None:
    known = Neighbour(fact_id=UUID(int=1), statement=Statement("The docs are hosted on GitHub"), similarity=0.9)

    verdict = judge(Statement("The docs are hosted on GitLab"), [known], Policy(one_sided=0.95))

    assert isinstance(verdict, LinkedTo)
    assert (verdict.name, verdict.kind, verdict.is_open) == ("linked", LinkKind.UPDATE, True)


def test_what_is_left_open_is_offered_as_a_possible_duplicate_with_its_likelihood() -> None:
    old = "Build failures after merges can sometimes be stale LSP diagnostics rather than actual compilation errors"
    new = "IDE LSP diagnostics (gopls) can show stale errors after merges, even when the actual build and lint pass"
    known = Neighbour(fact_id=UUID(int=1), statement=Statement(old), similarity=0.82)

    verdict = judge(Statement(new), [known], Policy(one_sided=0.95))

    assert isinstance(verdict, LinkedTo)
    assert (verdict.name, verdict.kind, verdict.is_open) == ("duplicate", LinkKind.DUPLICATE, True)
    assert verdict.likelihood
    assert 0.27 <= verdict.likelihood < 1


def test_what_says_the_same_in_other_words_is_known_where_no_detail_objects() -> None:
    same = "structurally similar table-driven tests as duplicates"
    old = f"The dupl linter flags {same} even when testing other functions - use //nolint to suppress false positives"
    new = f"Dupl linter false positives: flags {same} despite testing other functions"
    known = Neighbour(fact_id=UUID(int=1), statement=Statement(old), similarity=0.9)

    assert judge(Statement(new), [known], Policy(one_sided=0.95)).name in {"known", "richer"}
    assert judge(Statement(new), [known], Policy(one_sided=None)).name not in {"known", "richer"}


def test_a_report_of_how_something_was_takes_no_place_of_how_it_is() -> None:
    old = (
        "pkg/hooks.go: condenseState sets the checkpoint id and clears the pending one after a successful condensation"
    )
    new = (
        "pkg/hooks.go: condenseState was setting the checkpoint id and not the pending one after a condensation, a bug"
    )
    known = Neighbour(fact_id=UUID(int=1), statement=Statement(old), similarity=0.95)

    assert judge(Statement(new), [known], Policy(one_sided=0.99)).name not in {"known", "richer", "supersedes"}


def test_an_agent_that_names_no_subject_leaves_what_was_said_and_a_user_replaces_it() -> None:
    scene = Scene()
    scene.hear("The retry limit is 5", month=1, subject="retry limit", trust=Trust.ASSISTANT)
    unnamed = scene.hear("The retry limit is 7", month=2, subject="", trust=Trust.ASSISTANT)
    assert isinstance(unnamed.verdict, LinkedTo)
    assert (unnamed.verdict.kind, unnamed.verdict.is_open) == (LinkKind.UPDATE, True)

    fact_decision = scene.hear("The retry limit is 9", month=3, subject="")

    assert fact_decision.verdict.name == "supersedes"


def test_an_agent_takes_no_place_of_what_a_user_said() -> None:
    scene = Scene()
    scene.hear(PORT, month=1)

    fact_decision = scene.hear(OTHER, month=2, trust=Trust.ASSISTANT)

    assert fact_decision.verdict.reason.endswith("but only an agent says so")
    assert scene.current == [PORT, OTHER]


def test_two_facts_that_a_person_keeps_apart_are_not_merged_once_they_have_a_vector() -> None:
    scene = Scene()
    first = scene.hear(PORT, month=1)
    second = scene.hear(f"The {PORT[4:]}!!", month=2, has_vector=False)
    apart = LinkedRow(fact_id=first.fact.id, other=second.fact.id, reason="", at=NOW, kind=LinkKind.APART)
    scene.knowledge.extend([apart], {})

    [waiting] = scene.knowledge.without_vector()
    vector = EMBEDDER.embed([waiting.fact.text])[0]
    mending = embed_late([(waiting, vector)], knowledge=scene.knowledge, policy=POLICY, at=NOW)

    assert [each.verdict.name for each in mending.decisions] == ["new"]
