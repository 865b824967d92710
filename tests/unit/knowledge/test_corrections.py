"""What is said of one thing at two times, with two values."""

from datetime import UTC, datetime
from uuid import uuid5

from nous.domain.episode import CandidateFact
from nous.domain.events import NAMESPACE
from nous.domain.fact import Learned, Source, Superseded
from nous.domain.scope import Scope
from nous.embedding.hashing import HashingEmbedder
from nous.knowledge.adjudication import Adjudication, Relation
from nous.knowledge.decision import FactDecision, LearnContext
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import SAME_TEXT_THEN, learn
from nous.knowledge.normalize import exact_form
from nous.knowledge.verdict import Policy

EMBEDDER = HashingEmbedder()
NOW = datetime(2026, 6, 1, tzinfo=UTC)
OLD, NEW = "The default branch is main", "The default branch is trunk"


class Scene:
    """A scope, and sessions that tell it of one thing; whoever is asked says that each corrects the other."""

    def __init__(self) -> None:
        self.knowledge = FactIndex(embedder_id=EMBEDDER.id, dim=EMBEDDER.dim)

    def hear(self, text: str, *, month: int, subject: str = "default branch", is_ruled: bool = True) -> FactDecision:
        """What *text* comes to, said by a session of that month of 2026."""
        episode = uuid5(NAMESPACE, f"{text}/{month}")
        source = Source(
            episode_id=episode,
            event_id=episode,
            session_id=f"month {month}",
            turns=(1,),
            said_at=datetime(2026, month, 1, tzinfo=UTC),
        )
        adjudication = Adjudication(Relation.CORRECTS, by="the tests")
        adjudications = (
            {(exact_form(text), known.fact.id): adjudication for known in self.knowledge} if is_ruled else {}
        )
        learn_context = LearnContext(
            scope=Scope(), source=source, policy=Policy(near=0.4), at=NOW, adjudications=adjudications
        )
        candidates = [CandidateFact(text=text, subject=subject)]
        learning = learn(candidates, [*EMBEDDER.embed([text])], knowledge=self.knowledge, learn_context=learn_context)
        self.knowledge.extend(learning.rows, learning.vectors)
        return learning.decisions[0]

    @property
    def current(self) -> list[str]:
        return [known.fact.text for known in self.knowledge.current()]


def test_the_newer_value_is_current_and_the_older_was_true_until_then() -> None:
    scene = Scene()
    first = scene.hear(OLD, month=1)

    second = scene.hear(NEW, month=3)

    assert second.verdict.name == "supersedes"
    assert scene.current == [NEW]
    old, new = scene.knowledge[first.fact.id], scene.knowledge[second.fact.id]
    assert old.superseded == new.replaces[0]
    assert old.superseded is not None
    assert old.superseded.valid_to == new.valid_from == datetime(2026, 3, 1, tzinfo=UTC)


def test_what_an_older_session_says_is_learned_late_and_is_history_at_once() -> None:
    scene = Scene()
    scene.hear(NEW, month=3)

    late = scene.hear(OLD, month=1)

    assert [type(row) for row in late.rows] == [Learned, Superseded]
    assert scene.current == [NEW]
    assert "said later" in late.verdict.reason
    assert late.replaced == late.fact


def test_the_old_value_said_again_later_is_current_again() -> None:
    scene = Scene()
    scene.hear(OLD, month=1)
    scene.hear(NEW, month=3)

    back = scene.hear(OLD, month=5)

    assert back.verdict.name == "supersedes"
    assert scene.current == [OLD]
    assert len(list(scene.knowledge)) == 3


def test_the_old_value_said_of_the_old_time_confirms_history() -> None:
    scene = Scene()
    first = scene.hear(OLD, month=1)
    scene.hear(NEW, month=3)

    again = scene.hear(OLD, month=2)

    assert (again.verdict.name, again.verdict.reason) == ("known", SAME_TEXT_THEN)
    assert scene.current == [NEW]
    assert scene.knowledge[first.fact.id].times_confirmed == 2


def test_facts_of_two_subjects_are_kept_both() -> None:
    scene = Scene()
    scene.hear(OLD, month=1)

    second = scene.hear(NEW, month=3, subject="the other repository")

    assert second.verdict.name == "linked"
    assert "subjects differ" in second.verdict.reason
    assert scene.current == [OLD, NEW]


def test_the_rules_alone_correct_nothing_that_was_given_no_subject() -> None:
    scene = Scene()
    scene.hear("The API is on port 8080", month=1, subject="")

    second = scene.hear("The API is on port 8081", month=3, subject="", is_ruled=False)

    assert second.verdict.name == "linked"
    assert second.verdict.reason == "value 8081 / 8080; but neither names its subject"


def test_of_two_facts_of_which_one_names_its_subject_it_is_said_so() -> None:
    scene = Scene()
    scene.hear("The API is on port 8080", month=1, subject="API")

    second = scene.hear("The API is on port 8081", month=3, subject="", is_ruled=False)

    assert second.verdict.reason == "value 8081 / 8080; but only one names its subject"


def test_without_a_ruling_on_what_the_texts_leave_open_both_are_kept() -> None:
    scene = Scene()
    scene.hear("Tim seems to like the green tea", month=1)

    second = scene.hear("Tim drinks the green tea", month=3, is_ruled=False)

    assert second.verdict.name == "linked"
    assert len(scene.current) == 2


def test_the_same_old_value_told_late_by_many_is_one_fact() -> None:
    scene = Scene()
    scene.hear(OLD, month=1)
    scene.hear(OLD, month=5)

    late = [scene.hear(NEW, month=month) for month in (2, 3, 4)]

    assert [each.verdict.name for each in late] == ["linked", "known", "known"]
    assert scene.current == [OLD]
    assert scene.knowledge[late[0].fact.id].times_confirmed == 3
