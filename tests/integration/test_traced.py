"""Every fact of real sessions, traced to where it was said."""

from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from uuid import UUID

import pytest
from builders.crew import built, data_directory, working
from builders.gold import SAMPLES
from builders.waiting import wait_until

from nous.app.container import Container
from nous.app.services import producer_of
from nous.bus.base import Priority
from nous.bus.redis.keys import BusKeys
from nous.domain.event_codec import decode
from nous.domain.events import EpisodeSummarized, Event
from nous.domain.fact import Confirmed, Learned, Source
from nous.domain.scope import Scope
from nous.knowledge.fact_index import FactIndex
from nous.retrieval.provenance import Evidence, provenance_of
from nous.services.session_intake import SessionMetadata
from nous.settings.model import Settings, WorkerSettings
from nous.transcript import read_transcript

SESSIONS = SAMPLES / "claude_code"
SCOPE = Scope(project="traced")


@pytest.fixture(scope="module")
def container() -> Iterator[Container]:
    """Everything that follows from the sessions, at rest."""
    embedder = "minilm" if find_spec("onnxruntime") else "hashed"
    with data_directory() as directory:
        settings = Settings(data_dir=directory, embedder=embedder, worker=WorkerSettings(sweep_interval=0.1))
        with built(settings) as container:
            published = [
                each
                for path in sorted(SESSIONS.glob("*.jsonl*"))
                for each in producer_of(container).publish(path, SessionMetadata(scope=SCOPE, agent_id="tests"))
            ]
            with working(container):
                wait_until(lambda: is_at_rest(container, len(published)), "all events to be handled", seconds=120)
            yield container


def is_at_rest(container: Container, sessions: int) -> bool:
    accounts = [container.delivery_stats.counters(each) for each in container.subscriptions]
    return sum(each.received for each in accounts) >= sessions and not any(each.in_flight for each in accounts)


def events(container: Container) -> dict[UUID, Event]:
    """Every episode_summarized that is on the stream, by its id."""
    keys = BusKeys(container.settings.prefix)
    found: dict[UUID, Event] = {}
    for priority in Priority:
        for _, fields in container.client.xrange(keys.stream(EpisodeSummarized.type, priority)) or ():
            assert fields
            event = decode(fields[b"event"], type_hint=EpisodeSummarized.type)
            found[event.id] = event
    return found


def gap(source: Source, container: Container, summarized: dict[UUID, Event]) -> str | None:
    """What is missing between *source* and the words it names, if anything is."""
    event = summarized.get(source.event_id)
    if not isinstance(event, EpisodeSummarized):
        return "event"
    episode = container.context.episodes.get(SCOPE, source.episode_id)
    if episode is None or episode.session_id != source.session_id or event.episode_id != episode.id:
        return "episode"
    if source.digest != episode.version or not source.by or not source.said_at:
        return "digest"
    turns = {entry.turn for entry in read_transcript(Path((episode.dataref or "").removeprefix("file://")))}
    return None if source.turns and turns.issuperset(source.turns) else "turn"


def test_every_fact_of_real_sessions_traces_to_event_episode_turn_and_digest(container: Container) -> None:
    summarized = events(container)
    rows = container.context.facts.read(SCOPE).rows
    sources = [
        row.fact.source if isinstance(row, Learned) else row.source
        for row in rows
        if isinstance(row, Learned | Confirmed)
    ]

    gaps = Counter(gap(source, container, summarized) or "none" for source in sources)

    print(f"\n{len(sources)} tellings of {sum(isinstance(row, Learned) for row in rows)} facts; gaps: {dict(gaps)}")
    assert sources
    assert gaps == {"none": len(sources)}


def test_what_is_told_of_a_fact_quotes_the_turns_it_rests_on(container: Container) -> None:
    context = container.context
    with context.fact_cache.current(context.facts, SCOPE, context.embedder) as knowledge:
        quoted = [bool(telling.quotes) for telling in tellings(knowledge, container)]

    print(f"\n{sum(quoted)} of {len(quoted)} tellings are quoted")
    assert sum(quoted) >= 0.9 * len(quoted)


def tellings(knowledge: FactIndex, container: Container) -> Iterator[Evidence]:
    for known in knowledge:
        yield from provenance_of(known.fact.id, knowledge, container.context.episodes.editions).tellings
