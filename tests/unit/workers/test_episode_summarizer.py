"""The worker that turns a session into an episode."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid5

import pytest
from builders.contexts import Shelf, context_over
from builders.stores import WholeStore

from nous.domain.effects import Effects, ReleaseTranscript, SaveEpisode
from nous.domain.episode import NAMESPACE, Episode, Tier
from nous.domain.events import EpisodeSummarized, SessionEnded
from nous.domain.scope import Scope
from nous.pipeline.worker import WorkerContext
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
