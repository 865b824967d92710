"""What an episode says of what its summarizer saw: in how many windows, and how many entries not."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from builders.contexts import Shelf, context_over
from builders.stores import WholeStore
from structlog.testing import capture_logs

from nous.domain.episode import Episode
from nous.domain.events import EpisodeSummarized, SessionEnded
from nous.domain.scope import Scope
from nous.excerpt import windows
from nous.excerpt.fit import ONE_PASS
from nous.summary.heuristic.summarize import summarize
from nous.transcript.model import Transcript
from workers.episode_summarizer import WORKER

AT = datetime(2026, 1, 1, tzinfo=UTC)
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
Ended = Callable[..., SessionEnded]
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
    assert episode.summary == summarize(transcript).summary
    assert episode.candidate_facts == summarize(transcript).candidate_facts


def test_too_few_windows_are_warned_of_with_both_counts_and_enough_are_not(told: Told, see: See) -> None:
    transcript = worked(told, 60)

    with capture_logs() as logs:
        episode = see(transcript, most=2)
        see(worked(told, 24), most=100)

    assert warnings(list(logs)) == [(2, windows(transcript, BUDGET, most=2).wanted)]
    assert episode.windows == 2
