"""The worker that turns a session and its decisions into an episode, which says what its summarizer saw."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid5

import pytest
from builders.answers import SESSION as ABOUT_BILLING
from builders.contexts import Shelf, context_over
from builders.events import event_of
from builders.model_world import ModelWorld
from builders.stores import WholeStore
from structlog.testing import capture_logs

from nous.domain.effects import Effects, ReleaseTranscript, SaveEpisode
from nous.domain.episode import NAMESPACE, Category, Decision, Episode, Tier
from nous.domain.errors import Unavailable
from nous.domain.events import DecisionRecorded, EpisodeSummarized, SessionEnded
from nous.domain.scope import Scope
from nous.excerpt import windows
from nous.excerpt.fit import ONE_PASS
from nous.pipeline.worker import WorkerContext
from nous.store.keys import StoreKeys
from nous.store.transcript_source import StoredTranscripts
from nous.summary.heuristic import summarize as heuristic
from nous.transcript import parse_transcript
from nous.transcript.model import Transcript
from workers.episode_summarizer import ALREADY_SUMMARIZED, NO_USER, OLDER, TOO_SHORT, WORKER

AT = datetime(2026, 1, 1, tzinfo=UTC)
LATER = AT + timedelta(hours=1)
SESSION = (
    "User: Please cancel my booking AB12.\n\nAssistant: Your booking AB12 has been successfully cancelled.\n\n"
    "User: Thanks, that is all!"
)
LONGER = f"{SESSION}\n\nAssistant: You are welcome.\n\nUser: Please book seat 4C as well."
UPLOADED = "redis:nous:transcript:one"

Ended = Callable[..., SessionEnded]


@dataclass
class Texts:
    """Transcripts by the session event that names them, and how often one was taken."""

    taken: int = 0
    ended_at: dict[str, datetime] = field(default_factory=dict[str, datetime])

    def read(self, event: SessionEnded) -> Transcript:
        self.taken += 1
        assert event.transcript is not None
        transcript = parse_transcript(event.transcript)
        last = self.ended_at.get(str(event.transcript))
        entries = transcript.entries
        return replace(transcript, entries=(*entries[:-1], entries[-1]._replace(time=last))) if last else transcript


@pytest.fixture
def store() -> WholeStore:
    return WholeStore()


@pytest.fixture
def shelf() -> Texts:
    return Texts()


@pytest.fixture
def context(store: WholeStore, shelf: Texts) -> WorkerContext:
    return context_over(store, transcripts=shelf, clock=lambda: LATER)


def summarize(context: WorkerContext, store: WholeStore, event: SessionEnded) -> Effects:
    """The effects of *event*, whose writes went through."""
    effects = WORKER.handler_factory(context)(event)
    assert store.apply(effects.writes) is None
    return effects


def only_episode(store: WholeStore) -> Episode:
    (episode,) = store.recent(Scope())
    return episode


def test_a_session_becomes_an_episode_and_says_so(context: WorkerContext, store: WholeStore, ended: Ended) -> None:
    event = ended(text=SESSION)

    effects = summarize(context, store, event)

    episode = only_episode(store)
    assert episode.id == uuid5(NAMESPACE, f"episode\n{event.scope}\n{event.session_id}")
    assert episode.version == parse_transcript(SESSION).digest
    assert (episode.tier, episode.event_id, episode.summary.outcome) == (Tier.EXTRACTIVE, event.id, "resolved")
    (said,) = effects.events
    assert isinstance(said, EpisodeSummarized)
    assert (said.id, said.caused_by, said.time) == (event.next_id("episode-summarizer"), event.id, LATER)
    assert (said.episode_id, said.version, said.summary) == (episode.id, episode.version, episode.summary)
    assert said.transcript is not None
    assert said.transcript.bytes == len(SESSION)


def test_the_same_event_is_answered_the_same_way(context: WorkerContext, ended: Ended) -> None:
    event = ended(text=SESSION)

    assert WORKER.handler_factory(context)(event) == WORKER.handler_factory(context)(event)


CALL = ("tool_call", "Bash", {"tool": "Bash"})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([("user", "hi"), ("assistant", "hello")], TOO_SHORT),
        ([("user", "build"), CALL], TOO_SHORT),
        ([("user", "build"), CALL, ("tool_result", "ok")], None),
        ([("assistant", "I am here, and I wait for what you want me to do next.")], NO_USER),
    ],
    ids=["few words", "a call that did not run", "a call that ran", "no user"],
)
def test_a_session_without_a_user_or_substance_is_skipped(
    told: Callable[..., Transcript], ended: Ended, said: list[tuple[Any, ...]], why: str | None
) -> None:
    context = context_over(WholeStore(), transcripts=Shelf(told(*said)), clock=lambda: LATER)

    assert WORKER.handler_factory(context)(ended()).skipped == why


def test_the_same_version_is_summarized_once(context: WorkerContext, store: WholeStore, ended: Ended) -> None:
    summarize(context, store, ended(text=SESSION))

    again = summarize(context, store, ended(text=SESSION, id=uuid5(NAMESPACE, "another event")))

    assert (again.skipped, again.events) == (ALREADY_SUMMARIZED, ())
    assert store.apply(again.writes) is None
    assert WholeStore().apply(again.writes) is not None, "nothing is left to do only while the episode is there"


def test_a_session_that_grew_replaces_its_episode(context: WorkerContext, store: WholeStore, ended: Ended) -> None:
    summarize(context, store, ended(text=SESSION))
    before = only_episode(store)

    effects = summarize(context, store, ended(text=LONGER))

    assert [write.replaces for write in effects.writes if isinstance(write, SaveEpisode)] == [before]
    assert only_episode(store).id == before.id
    assert only_episode(store).bytes == len(LONGER)


def test_a_shorter_version_that_comes_late_is_skipped(context: WorkerContext, store: WholeStore, ended: Ended) -> None:
    summarize(context, store, ended(text=LONGER))

    late = summarize(context, store, ended(text=SESSION))

    assert late.skipped == OLDER
    assert only_episode(store).bytes == len(LONGER)


def test_a_shorter_version_that_ends_later_replaces_the_longer(
    context: WorkerContext, store: WholeStore, shelf: Texts, ended: Ended
) -> None:
    shelf.ended_at = {LONGER: AT, SESSION: LATER}
    summarize(context, store, ended(text=LONGER))

    rewritten = summarize(context, store, ended(text=SESSION))

    assert rewritten.skipped is None
    assert only_episode(store).bytes == len(SESSION)


@pytest.mark.parametrize("text", [SESSION, "User: hi"])
def test_an_uploaded_transcript_is_released_whatever_came_of_it(
    context: WorkerContext, ended: Ended, text: str
) -> None:
    effects = WORKER.handler_factory(context)(ended(text=text, dataref=UPLOADED))

    assert ReleaseTranscript(scope=Scope(), dataref=UPLOADED) in effects.writes


def test_a_file_is_kept_and_remembered(context: WorkerContext, store: WholeStore, ended: Ended) -> None:
    effects = summarize(context, store, ended(text=SESSION, dataref="file:///tmp/s.jsonl"))

    assert not any(isinstance(write, ReleaseTranscript) for write in effects.writes)
    assert only_episode(store).dataref == "file:///tmp/s.jsonl"


BUDGET = 1200
WARNING = "session.windows_capped"
LESSONS = (
    "The reader must close its handle because an open file blocks the next upload.",
    "Timestamps have to be stored in UTC because summer time shifts every report.",
    "A worker renews its lease before each batch because Redis forgets it after a minute.",
    "Passwords must never be logged because support staff can search those lines.",
    "The cache needs a version prefix because old pickles break after a release.",
    "Migrations run inside one transaction because a half-made table stops the boot.",
    "Retries must back off because the payment provider bans impatient clients.",
)

Told = Callable[..., Transcript]
See = Callable[..., Episode]


def worked(told: Told, turns: int) -> Transcript:
    """A coding session of so many turns, each with a lesson, an edit, its output and an end of its own."""
    entries: list[tuple[Any, ...]] = []
    for number in range(turns):
        part, lesson = f"module_{number}", LESSONS[number % len(LESSONS)]
        entries += [
            ("user", f"Please mend the {part} and tell me why it fails. " + f"It is the {part} again. " * 6),
            ("thinking", "hmm " * 50),
            (
                "assistant",
                f"I look at what {part} says. " + f"I looked at {part} and at what calls it, line by line. " * 8,
            ),
            ("tool_call", "edit", {"tool": "Edit", "tool_input": {"file_path": f"/repo/{part}.py"}}),
            ("tool_result", f"edited {part}\n" * 12),
            ("assistant", f"The {part} is mended and its tests pass. {lesson}"),
        ]
    return told(*entries)


@pytest.fixture
def see(ended: Ended) -> See:
    """The episode of a transcript, seen through `windows` with the options given."""

    def see(transcript: Transcript, **options: Any) -> Episode:
        store = WholeStore()
        chosen = partial(windows, **{"budget": BUDGET, **options})
        context = context_over(store, transcripts=Shelf(transcript), clock=lambda: AT, excerpts=chosen)
        effects = WORKER.handler_factory(context)(ended())
        assert effects.skipped is None
        assert store.apply(effects.writes) is None
        (said,) = effects.events
        assert isinstance(said, EpisodeSummarized)
        (episode,) = store.recent(Scope())
        assert said.excerpt is not None
        assert (said.excerpt.digest, said.excerpt.chars, said.excerpt.dropped) == (
            episode.excerpt_digest,
            episode.excerpt_chars,
            episode.excerpt_dropped,
        )
        return episode

    return see


def warnings(logs: list[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """The counts in the warnings of too few windows: how many there are, and how many are wanted."""
    found = [line for line in logs if line["event"] == WARNING and line["log_level"] == "warning"]
    return [(line["windows"], line["wanted"]) for line in found]


def test_its_points_come_from_every_part_of_the_session(told: Told, see: See) -> None:
    points = see(worked(told, 6), budget=600, most=4).summary.key_points

    assert all(any(point.endswith(lesson) for point in points) for lesson in LESSONS[:6])


def test_it_is_the_whole_session_that_is_summarized_in_however_many_windows_it_is_seen(told: Told, see: See) -> None:
    transcript = worked(told, 24)
    seen = windows(transcript, BUDGET).windows

    episode = see(transcript)

    assert sum(len(entry.text) for entry in transcript) > ONE_PASS * BUDGET
    assert episode.windows == len(seen) > 1
    assert BUDGET < episode.excerpt_chars <= episode.windows * BUDGET
    dropped = [record for window in seen for record in window.excerpt.manifest.dropped]
    assert episode.excerpt_dropped == sum(len(record.entries) for record in dropped) > 0
    assert episode.summary == heuristic.summarize(transcript).summary
    assert episode.candidate_facts == heuristic.summarize(transcript).candidate_facts


def test_too_few_windows_are_warned_of_with_both_counts_and_enough_are_not(told: Told, see: See) -> None:
    transcript = worked(told, 60)

    with capture_logs() as logs:
        episode = see(transcript, most=2)
        see(worked(told, 24), most=100)

    assert warnings(list(logs)) == [(2, windows(transcript, BUDGET, most=2).wanted)]
    assert episode.windows == 2


LINE = "- [tool/high] Billing keeps Postgres, since MySQL lost rows (confidence: 0.8)"


def record(world: ModelWorld, description: str, **fields: Any) -> None:
    told = {"time": world.date(), "description": description, **fields}
    world.bus.publish(event_of(DecisionRecorded, description, **told))


def test_recorded_decisions_are_told_to_the_model_and_stay_with_the_episode() -> None:
    world = ModelWorld()
    record(world, "Billing keeps Postgres, since MySQL lost rows", category="tool", stakes="high", confidence=0.8)
    world.work()

    world.publish()
    world.work()

    assert f"Decisions made during this episode:\n{LINE}\n" in world.model.questions[0].user
    (episode,) = world.episodes
    assert [decision.line for decision in episode.decisions] == [LINE]
    fact = episode.candidate_facts[0]
    assert (fact.text, fact.category) == ("Billing keeps Postgres, since MySQL lost rows", Category.DECISION)


def test_without_decisions_nothing_is_said_of_them() -> None:
    world = ModelWorld()
    world.publish()
    world.work()

    assert "Decisions made" not in world.model.questions[0].user


def test_decisions_may_travel_with_the_session_s_end() -> None:
    world = ModelWorld()
    world.publish(
        decisions=({"category": "tool", "stakes": "low", "description": "Use uv", "confidence": 0.9}, {"oops": 1})
    )
    world.work()

    assert "- [tool/low] Use uv (confidence: 0.9)" in world.model.questions[0].user


def test_what_the_transcript_shows_the_user_deciding_counts_as_well(told: Any) -> None:
    world = ModelWorld()
    transcript = told(
        ("user", "Please write the licence file for this project, would you?"),
        ("decision", "Rejected Write(LICENSE): use Entire Inc. as the holder"),
        ("assistant", "I use Entire Inc. as the holder then, and write it anew."),
    )
    context = context_over(world.store, transcripts=Shelf(transcript), clock=world.date, summarizer=world.summarizer())

    WORKER.handler_factory(context)(world.publish())

    assert "- [rejection/unstated] The user rejected Write(LICENSE)" in world.model.questions[0].user


class _Broken:
    def get_episode_decisions(self, _: UUID, *, scope: Scope) -> Sequence[Decision]:
        raise Unavailable(f"no answer for {scope}")


def test_failing_to_learn_of_decisions_holds_nothing_up() -> None:
    world = ModelWorld()
    transcripts = StoredTranscripts(world.store, StoreKeys())
    context = context_over(
        world.store, transcripts=transcripts, clock=world.date, summarizer=world.summarizer(), decisions=_Broken()
    )

    effects = WORKER.handler_factory(context)(world.publish(text=ABOUT_BILLING))

    assert len(effects.events) == 1
    assert len(world.model.questions) == 1
