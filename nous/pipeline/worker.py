"""Define `Worker` (event type, handler factory) and the handlers' dependencies; run nothing."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic
from uuid import UUID

import structlog
from typing_extensions import TypeVar  # typing's own has defaults from Python 3.13 on

from nous.domain.effects import Effects
from nous.domain.episode import Decision, episode_id
from nous.domain.errors import NousError
from nous.domain.events import Event
from nous.domain.scope import CacheSubject, Scope
from nous.embedding.base import Embedder
from nous.excerpt import Windows, windows
from nous.knowledge.verdict import Adjudicator, Policy
from nous.pipeline.anchored_summarizer import AnchoredSummarizer
from nous.pipeline.llm_fact_extractor import LlmFactExtractor
from nous.pipeline.llm_summarizer import LlmSummarizer
from nous.store.base import AnchoredSummaries, DecisionSource, Episodes, FactLog, SessionStates, Transcripts
from nous.store.fact_cache import FactCache
from nous.transcript.model import Transcript

E = TypeVar("E", bound=Event, default=Any)
_NAME = re.compile(r"[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*")

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext:
    """Dependencies of a handler: stores, models and pure functions; nothing in it writes.

    `cache_subject` tags requests to a model: take it before you read the data that you ask about. `suppressed` returns
    the exact forms of texts that a scope must not learn again. Handlers get events as `redacted` returns them.
    """

    episodes: Episodes
    decisions: DecisionSource
    anchored_summaries: AnchoredSummaries
    session_states: SessionStates
    anchored_summarizer: AnchoredSummarizer
    facts: FactLog
    transcripts: Transcripts
    embedder: Embedder
    clock: Callable[[], datetime]
    excerpts: Callable[[Transcript], Windows] = windows
    fact_extractor: LlmFactExtractor
    summarizer: LlmSummarizer | None = None
    adjudicator: Adjudicator | None = None
    policy: Policy = field(default_factory=Policy)
    fact_cache: FactCache = field(default_factory=FactCache)
    suppressed: Callable[[Scope], Collection[str]] = field(default=lambda _: ())
    cache_subject: Callable[[Scope, UUID], CacheSubject] = CacheSubject
    redacted: Callable[[Event], Event] = field(default=lambda event: event)

    def recorded_decisions(self, scope: Scope, session_id: str, *external_ids: str | None) -> Sequence[Decision]:
        """Return the decisions recorded for a session, or under *external_ids* of its episode.

        An id that is another session's counts for that one. None if unreadable, which must not cost the episode.
        """
        try:
            given = ((each, episode_id(scope, each)) for each in external_ids if each)
            own = [each for each, id_ in given if self.episodes.get(scope, id_) is None]
            ids = [episode_id(scope, each) for each in dict.fromkeys((session_id, *own))]
            return [one for each in ids for one in self.decisions.get_episode_decisions(each, scope=scope)]
        except NousError as error:
            _log.warning("decisions.read_failed", reason=str(error))
            return ()


Handler = Callable[[E], Effects]
"""Computes the effects of an event, without writing anything. The same event gives the same effects."""


@dataclass(frozen=True, slots=True)
class Worker(Generic[E]):
    """A consumer of one event type. Every module in `workers` defines one, named `WORKER`.

    The first of *emits*, the event types that may follow, carries the work on. The *name* is that of its queues and
    jobs: words of letters, digits and `_`, with one `-` between them.
    """

    name: str
    consumes: type[E]
    handler_factory: Callable[[WorkerContext], Handler[E]]
    emits: tuple[type[Event], ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} cannot name a worker: write words, with one - between them")
