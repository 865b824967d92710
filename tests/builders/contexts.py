"""A worker context over a store."""

from dataclasses import dataclass
from typing import Any

from builders.stores import WholeStore
from nous.domain.events import Event
from nous.embedding.hashing import HashingEmbedder
from nous.excerpt import windows
from nous.pipeline.anchored_summarizer import AnchoredSummarizer
from nous.pipeline.llm_fact_extractor import LlmFactExtractor
from nous.pipeline.llm_summarizer import LlmSummarizer
from nous.pipeline.worker import WorkerContext
from nous.summary.llm.prompt import built_in
from nous.transcript.model import Transcript


class NoTranscripts:
    def read(self, event: Event) -> Transcript:
        raise AssertionError(f"no transcript is needed for {event.id}")


@dataclass(frozen=True)
class Shelf:
    """Has one transcript, whatever event asks for it."""

    transcript: Transcript

    def read(self, event: Event) -> Transcript:
        assert event.session_id
        return self.transcript


def context_over(store: WholeStore, **more: Any) -> WorkerContext:
    """Build a context that reads from *store*, with *more* of its fields; the clock is among them."""
    known: dict[str, Any] = {
        "transcripts": NoTranscripts(),
        "episodes": store,
        "decisions": store,
        "anchored_summaries": store,
        "session_states": store,
        "facts": store,
        "embedder": HashingEmbedder(),
    }
    fields: dict[str, Any] = {**known, **more}
    summarizer: LlmSummarizer | None = fields.get("summarizer")
    anchored = AnchoredSummarizer(
        excerpts=fields.get("excerpts", windows),
        prompt=built_in("anchored"),
        clock=fields["clock"],
        model=summarizer.model if summarizer else None,
        counters=summarizer.counters if summarizer else None,
    )
    fields.setdefault("anchored_summarizer", anchored)
    fields.setdefault("fact_extractor", LlmFactExtractor(prompt=built_in("facts")))
    return WorkerContext(**fields)
