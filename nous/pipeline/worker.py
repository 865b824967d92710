"""What a worker is, and what it is given."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from nous.domain.effects import Effects
from nous.domain.events import Event
from nous.domain.scope import Matter, Scope
from nous.embedding.base import Embedder
from nous.excerpt import Windows, windows
from nous.facts.adjudication import Arbiter
from nous.facts.verdict import Policy
from nous.pipeline.anchored_summarizer import Anchorer
from nous.pipeline.fact_learner import Learner
from nous.pipeline.llm_fact_extractor import Extractor
from nous.pipeline.llm_summarizer import Author
from nous.store.base import Anchors, Briefs, Courses, DecisionSource, Episodes, EpisodeVectors, FactLog, Transcripts
from nous.store.fact_cache import FactMemory
from nous.transcript.model import Transcript

_NAME = re.compile(r"[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The world as a handler may see it. Everything in it is read from, or computes; nothing in it writes.

    `excerpts` is what a summarizer gets to see of a transcript; `author`, `anchorer`, `extractor` and `arbiter` ask a
    model, if there is one, about a `matter`, which whoever asks takes before he reads what he asks about. `forgotten`
    are the exact forms of texts that a scope must not learn again.
    """

    episodes: Episodes
    episode_vectors: EpisodeVectors
    briefs: Briefs
    decisions: DecisionSource
    anchors: Anchors
    courses: Courses
    anchorer: Anchorer
    facts: FactLog
    transcripts: Transcripts
    embedder: Embedder
    clock: Callable[[], datetime]
    excerpts: Callable[[Transcript], Windows] = windows
    extractor: Extractor
    author: Author | None = None
    arbiter: Arbiter | None = None
    policy: Policy = field(default_factory=Policy)
    memory: FactMemory = field(default_factory=FactMemory)
    forgotten: Callable[[Scope], Collection[str]] = field(default=lambda _: ())
    matter: Callable[[Scope, UUID], Matter] = Matter.of

    @property
    def learner(self) -> Learner:
        return Learner(
            log=self.facts,
            memory=self.memory,
            embedder=self.embedder,
            policy=self.policy,
            clock=self.clock,
            arbiter=self.arbiter,
            forgotten=self.forgotten,
            matter=self.matter,
        )


class Handler(Protocol):
    """Says what follows from an event."""

    def __call__(self, event: Event, /) -> Effects:
        """Read and think; write nothing. Called again with the same event, it says the same."""
        ...


@dataclass(frozen=True, slots=True)
class Worker:
    """A consumer of one kind of event. Every module in `workers` has one, named `WORKER`.

    *emits* tells which kinds may follow, the first of which, when it does, is the event that carries the work on. Its
    queues and jobs are called by its *name*: words of letters, digits and `_`, with one `-` between them.
    """

    name: str
    consumes: type[Event]
    build: Callable[[Kit], Handler]
    emits: tuple[type[Event], ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} cannot name a worker: write words, with one - between them")
