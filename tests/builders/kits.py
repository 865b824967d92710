"""A worker's kit over a store in memory."""

from typing import Any

from nous.embedding.hashing import Hashed
from nous.excerpt import windows
from nous.pipeline.anchored_summarizer import Anchorer
from nous.pipeline.llm_fact_extractor import Extractor
from nous.pipeline.llm_summarizer import Author
from nous.pipeline.worker import Kit
from nous.store.memory import MemoryStore
from nous.summary.llm.prompt import built_in


def kit_of(store: MemoryStore, **more: Any) -> Kit:
    """A kit that reads from *store*, with *more* of its fields; transcripts and clock are among them."""
    known: dict[str, Any] = {
        "episodes": store,
        "episode_vectors": store,
        "briefs": store,
        "decisions": store,
        "anchors": store,
        "courses": store,
        "facts": store,
        "embedder": Hashed(),
    }
    fields: dict[str, Any] = {**known, **more}
    author: Author | None = fields.get("author")
    anchorer = Anchorer(
        excerpts=fields.get("excerpts", windows),
        prompt=built_in("anchored"),
        clock=fields["clock"],
        model=author.model if author else None,
        tally=author.tally if author else None,
    )
    fields.setdefault("anchorer", anchorer)
    fields.setdefault("extractor", Extractor(prompt=built_in("facts")))
    return Kit(**fields)
