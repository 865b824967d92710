"""Verdicts, and later statements that take the place of earlier ones, without a model or with one."""

from datetime import UTC, datetime
from itertools import permutations
from uuid import UUID, uuid5

import pytest
from builders.knowing import Scene

from nous.domain.episode import NAMESPACE, Trust
from nous.domain.fact import Learned, LinkKind, Superseded
from nous.knowledge.judge import AlreadyKnown, NewFact, Richer, judge
from nous.knowledge.learn import SAME_TEXT_THEN
from nous.knowledge.statement import Neighbour, Statement
from nous.knowledge.verdict import Dedup, LinkedTo, Policy, Relation, Supersedes, Verdict

OLD, NEW = "The default branch is main", "The default branch is trunk"
FAR = ("The timeout is 30 seconds", "The timeout is 90 s")
CHAINS = [
    ["Always use port 9017 from now on", "Always use port 9018 from now on"],
    ["I prefer tabs over spaces", "I prefer spaces over tabs", "I have changed my mind, I prefer spaces"],
    ["Never push to main without a review", "You may push to main from now on"],
    ["We deploy with Helm 3.12", "We deploy with Helm 3.14"],
    ["Tests are run with `mise run test`", "Tests are run with `make test`"],
]


def ruled(*told: tuple[str, int]) -> Scene:
    """A scene of texts by month, with a model that says that each corrects the others."""
    scene = Scene(Policy(near=0.4))
    for text, month in told:
        scene.hear(text, month=month, ruling=Relation.CORRECTS)
    return scene


def judged(new: str, old: str, similarity: float, policy: Policy | None = None) -> Verdict:
    known = Neighbour(fact_id=UUID(int=1), statement=Statement(old), similarity=similarity)
    return judge(Statement(new), [known], policy or Policy(one_sided=0.95))


@pytest.mark.parametrize("texts", CHAINS, ids=lambda texts: texts[0])
@pytest.mark.parametrize("trust", [Trust.USER, Trust.ASSISTANT])
def test_of_two_statements_on_one_subject_the_later_one_is_current(texts: list[str], trust: Trust) -> None:
    scene = Scene()

    verdicts = [scene.hear(text, month=at, trust=trust).verdict.name for at, text in enumerate(texts, start=1)]

    assert verdicts == ["new", *["supersedes"] * (len(texts) - 1)]
    assert scene.current == texts[-1:]


@pytest.mark.parametrize("texts", CHAINS, ids=lambda texts: texts[0])
@pytest.mark.parametrize("has_vector", [True, False])
def test_of_two_statements_that_are_read_in_the_wrong_order_the_later_one_is_current_too(
    texts: list[str], *, has_vector: bool
) -> None:
    scene = Scene()

    for month, text in reversed(list(enumerate(texts, start=1))):
        scene.hear(text, month=month, has_vector=has_vector)
    scene.mend()

    assert scene.current == texts[-1:]


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_an_update_supersedes_every_wording_of_the_earlier_value_in_whatever_order_they_are_read(
    order: tuple[int, ...],
) -> None:
    told = ["Staging API port is 8080", "The staging API listens on port 8080", "The staging API moved to port 8090"]
    scene = Scene(Policy(near=0.5))  # an embedder that was not calibrated: two wordings are two facts

    for at in order:
        scene.hear(told[at], month=at + 1, subject="staging API")

    assert scene.current == told[-1:]


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_words_of_change_replace_one_thing_alone_in_whatever_order_they_are_read(order: tuple[int, ...]) -> None:
    told = [
        "The billing service listens on port 8080",
        "The billing service exposes metrics on port 9090",
        "The billing service debug port is 5005",
        "The billing service moved to port 8090",
    ]
    scene = Scene()

    for at in order:
        scene.hear(told[at], month=at + 1, subject="billing service")

    assert told[-1] in scene.current
    assert len(scene.current) == len(told) - 1


@pytest.mark.parametrize("texts", CHAINS, ids=lambda texts: texts[0])
def test_an_update_needs_no_subject_and_no_high_cosine(texts: list[str]) -> None:
    assert isinstance(judged(texts[1], texts[0], 0.52), Supersedes)


@pytest.mark.parametrize("has_vector", [True, False])
def test_another_value_of_the_same_subject_is_found_whatever_the_cosine(*, has_vector: bool) -> None:
    scene = Scene(Policy(near=0.9))
    scene.hear(FAR[0], month=1, subject="timeout")

    decision = scene.hear(FAR[1], month=2, subject="timeout", has_vector=has_vector)

    assert isinstance(decision.verdict, Supersedes)
    assert scene.current == [FAR[1]]
    assert scene.mend() == ([] if has_vector else ["new"])


def test_what_may_be_an_update_is_kept_and_linked_as_one() -> None:
    verdict = judged("The docs are hosted on GitLab", "The docs are hosted on GitHub", 0.9)

    assert isinstance(verdict, LinkedTo)
    assert (verdict.name, verdict.kind) == ("linked", LinkKind.UPDATE)


def test_what_is_left_open_is_offered_as_a_possible_duplicate_with_its_likelihood() -> None:
    old = "Build failures after merges can sometimes be stale LSP diagnostics rather than actual compilation errors"
    new = "IDE LSP diagnostics (gopls) can show stale errors after merges, even when the actual build and lint pass"

    verdict = judged(new, old, 0.82)

    assert isinstance(verdict, LinkedTo)
    assert (verdict.name, verdict.kind) == ("duplicate", LinkKind.DUPLICATE)
    assert verdict.likelihood
    assert 0.27 <= verdict.likelihood < 1


def test_what_says_the_same_in_other_words_is_known_where_no_detail_objects() -> None:
    same = "structurally similar table-driven tests as duplicates"
    old = f"The dupl linter flags {same} even when testing other functions - use //nolint to suppress false positives"
    new = f"Dupl linter false positives: flags {same} despite testing other functions"

    assert judged(new, old, 0.9).name in {"known", "richer"}
    assert judged(new, old, 0.9, Policy(one_sided=None)).name not in {"known", "richer"}


def test_an_agent_that_names_no_subject_leaves_what_was_said_and_a_user_replaces_it() -> None:
    scene = Scene()
    scene.hear("The retry limit is 5", month=1, subject="retry limit", trust=Trust.ASSISTANT)
    unnamed = scene.hear("The retry limit is 7", month=2, subject="", trust=Trust.ASSISTANT)
    assert isinstance(unnamed.verdict, LinkedTo)
    assert unnamed.verdict.kind is LinkKind.UPDATE
    assert unnamed.verdict.reason == "value 7 / 5; but only one names its subject"

    assert scene.hear("The retry limit is 9", month=3, subject="").verdict.name == "supersedes"
    assert scene.current == ["The retry limit is 9"]


def test_the_newer_value_is_current_and_the_older_was_true_until_then() -> None:
    scene = ruled((OLD, 1), (NEW, 3))

    assert scene.current == [NEW]
    old, new = scene.knowledge
    assert old.superseded == new.replaces[0]
    assert old.superseded is not None
    assert old.superseded.valid_to == new.valid_from == datetime(2026, 3, 1, tzinfo=UTC)


def test_what_an_older_session_says_is_learned_late_and_is_history_at_once() -> None:
    scene = ruled((NEW, 3))

    late = scene.hear(OLD, month=1, ruling=Relation.CORRECTS)

    assert [type(row) for row in late.rows] == [Learned, Superseded]
    assert scene.current == [NEW]
    assert "said later" in late.verdict.reason
    assert late.replaced == late.fact


def test_the_old_value_said_again_is_current_again_if_said_later_and_confirms_history_if_not() -> None:
    scene = ruled((OLD, 1), (NEW, 3))

    again = scene.hear(OLD, month=2, ruling=Relation.CORRECTS)

    assert (again.verdict.name, again.verdict.reason) == ("known", SAME_TEXT_THEN)
    assert scene.current == [NEW]
    assert next(iter(scene.knowledge)).times_confirmed == 2

    assert scene.hear(OLD, month=5, ruling=Relation.CORRECTS).verdict.name == "supersedes"
    assert scene.current == [OLD]
    assert len(list(scene.knowledge)) == 3


GUARDED = Policy(one_sided=0.93)
COSINE = Policy(dedup=Dedup.COSINE)
EXACT = Policy(dedup=Dedup.EXACT)


def named(text: str) -> UUID:
    return uuid5(NAMESPACE, text)


def near(text: str, similarity: float) -> Neighbour:
    return Neighbour(fact_id=named(text), statement=Statement(text), similarity=similarity)


@pytest.mark.parametrize("policy", [GUARDED, COSINE, EXACT])
def test_an_equal_text_is_known_under_every_rule(policy: Policy) -> None:
    verdict = judge(Statement("tim likes tea."), [near("Tim likes tea", 0.5)], policy)

    assert verdict == AlreadyKnown(fact_id=named("Tim likes tea"), reason="the same text", similarity=0.5)


def test_the_same_in_other_words_is_known_from_a_modest_cosine() -> None:
    verdict = judge(Statement("Omar wrote the parser"), [near("The parser was written by Omar", 0.8)], GUARDED)

    assert verdict.name == "known"
    assert verdict.reason == "the same in other words"


def test_more_detail_is_richer_and_less_is_known() -> None:
    plain, detailed = "The team uses Postgres", "The team uses Postgres in production"

    assert isinstance(judge(Statement(detailed), [near(plain, 0.93)], GUARDED), Richer)
    assert isinstance(judge(Statement(plain), [near(detailed, 0.93)], GUARDED), AlreadyKnown)


def test_detail_merges_only_above_the_calibrated_cosine() -> None:
    plain, detailed = Statement("The team uses Postgres"), "The team uses Postgres in production"

    assert isinstance(judge(plain, [near(detailed, 0.92)], GUARDED), LinkedTo)
    assert isinstance(judge(plain, [near(detailed, 0.99)], Policy(one_sided=None)), LinkedTo)


def test_a_twin_behind_nearer_strangers_is_found() -> None:
    strangers = [near(f"Service {number} listens on port 8080", 0.99) for number in range(2, 200)]
    twin = near("On port 8080, service 1 listens", 0.9)

    verdict = judge(Statement("Service 1 is listening on port 8080"), [*strangers, twin], GUARDED)

    assert verdict == AlreadyKnown(fact_id=twin.fact_id, reason="the same in other words", similarity=0.9)


def test_an_equal_sense_comes_before_a_nearer_text_with_more_detail() -> None:
    more, equal = near("Omar wrote the parser in May", 0.98), near("The parser was written by Omar", 0.9)

    assert judge(Statement("Omar wrote the parser"), [more, equal], GUARDED).name == "known"
    assert judge(Statement("Omar wrote the parser"), [more, equal], GUARDED) == judge(
        Statement("Omar wrote the parser"), [equal], GUARDED
    )


def test_the_plain_rule_is_strict() -> None:
    statement = Statement("Tim likes tea")

    assert judge(statement, [near("Tim does not like tea", 0.95)], COSINE) == NewFact()
    assert judge(statement, [near("Tim does not like tea", 0.951)], COSINE).name == "known"


def test_the_exact_rule_knows_nothing_but_equal_texts() -> None:
    assert judge(Statement("Omar wrote the parser"), [near("The parser was written by Omar", 0.99)], EXACT) == NewFact()


def test_a_threshold_measured_for_one_model_is_not_used_for_another() -> None:
    assert Policy().for_embedder("all-MiniLM-L6-v2-int8").one_sided == 0.955
    assert Policy().for_embedder("hashed-256").one_sided is None
    assert Policy(one_sided=0.9).for_embedder("hashed-256").one_sided == 0.9
