"""Embed candidate facts; judge if each is new, a repeat or an update; return fact-log rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import structlog

from nous.domain.effects import AppendFacts
from nous.domain.episode import NAMESPACE, CandidateFact
from nous.domain.errors import BadInput, Deferred, Unavailable
from nous.domain.fact import Learned, Source
from nous.domain.scope import Scope
from nous.embedding.base import Embedder, present
from nous.knowledge.decision import FactDecision, LearnContext, LearnDecisions
from nous.knowledge.fact_index import FactIndex
from nous.knowledge.learn import embed_late, learn
from nous.knowledge.normalize import exact_form
from nous.knowledge.verdict import UncertainFact
from nous.pipeline.worker import WorkerContext

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | None

log = structlog.get_logger(__name__)

RULINGS = uuid5(NAMESPACE, "rulings")  # cache subject of adjudications, which may quote any fact of the scope


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnResult:
    """The decisions on the candidates, in order, and the rows to append to the log.

    Commit the append even without rows before you rely on the decisions: it carries the log version that they hold for.
    `waits` means that facts of the scope have no vector yet.
    """

    fact_decisions: tuple[FactDecision, ...]
    append: AppendFacts
    waits: bool


@dataclass(frozen=True, slots=True)
class FactLearner:
    """Judge candidate facts against a scope's log; skip suppressed ones without a decision.

    It writes nothing: commit the append, and on a conflict ingest again, which is cheap if the embedder caches. An
    embedder that is unavailable stops nothing: facts that could not be compared are compared later. What the texts
    alone do not decide goes to the adjudicator, if there is one.
    """

    context: WorkerContext

    def ingest(self, candidates: Sequence[CandidateFact], *, scope: Scope, source: Source) -> LearnResult:
        """Judge *candidates*, in order, as said in *source*.

        Raises `Unavailable` if the log did not answer, and `Misconfigured` if the embedder is not installed, or the log
        holds vectors of it with another dimension.
        """
        matter = self.context.cache_subject(scope, RULINGS)
        embedder = present(self.context.embedder)
        vectors: Sequence[Vector] = [None] * len(candidates)
        try:
            vectors = _vectors([candidate.text for candidate in candidates], embedder)
        except (Unavailable, Deferred) as error:
            log.warning("embedder.unavailable", reason=str(error), hint="facts are compared by their text alone")
        policy = self.context.policy.for_embedder(embedder.id)
        learn_context = LearnContext(scope=scope, source=source, policy=policy, at=self.context.clock())
        result, uncertain = self._judged(candidates, vectors, learn_context, embedder)
        # No lock is held during adjudication: facts that others add meanwhile are seen when the texts are judged again.
        adjudicator = self.context.adjudicator
        rulings = adjudicator.adjudicate(uncertain, matter=matter) if adjudicator and uncertain else {}
        if rulings:
            learn_context = replace(learn_context, adjudications=rulings)
            result, _ = self._judged(candidates, vectors, learn_context, embedder)
        return result

    def embed_late(self, scope: Scope, *, most: int) -> LearnResult:
        """Embed at most *most* facts of *scope* that lack a vector of this embedder, and judge them.

        Raises `Unavailable` or `Deferred` if the log or the embedder did not answer, and `Misconfigured` as `ingest`
        does.
        """
        context = self.context
        with context.fact_cache.current(context.facts, scope, context.embedder) as knowledge:
            waiting = list(knowledge.without_vector())
        able: list[tuple[UUID, NDArray[np.float32]]] = []
        for start in range(0, len(waiting), most):
            batch = waiting[start : start + most]
            vectors = _vectors([known.fact.text for known in batch], context.embedder)
            able = [(known.fact.id, vector) for known, vector in zip(batch, vectors, strict=True) if vector is not None]
            if able:
                break
        is_more = len(waiting) > len(able) > 0
        with context.fact_cache.current(context.facts, scope, context.embedder) as knowledge:
            found = ((knowledge.get(fact_id), vector) for fact_id, vector in able)
            left = [(known, vector) for known, vector in found if known and known.is_current and not known.is_embedded]
            policy = context.policy.for_embedder(context.embedder.id)
            learning = embed_late(left, knowledge=knowledge, policy=policy, at=context.clock())
            return _result(learning, knowledge, scope, waits=is_more)

    def _judged(
        self,
        candidates: Sequence[CandidateFact],
        vectors: "Sequence[Vector]",
        learn_context: LearnContext,
        embedder: Embedder,
    ) -> tuple[LearnResult, Sequence[UncertainFact]]:
        scope = learn_context.scope
        with self.context.fact_cache.current(self.context.facts, scope, embedder) as knowledge:
            # Read after the log: if a text is erased later than this, the commit fails with a conflict.
            forgotten = self.context.suppressed(scope)
            wanted = [at for at, each in enumerate(candidates) if exact_form(each.text) not in forgotten]
            learning = learn(
                [candidates[at] for at in wanted],
                [vectors[at] for at in wanted],
                knowledge=knowledge,
                learn_context=learn_context,
            )
            is_new_waiting = any(isinstance(row, Learned) and row.embedded_by is None for row in learning.rows)
            waits = is_new_waiting or next(knowledge.without_vector(), None) is not None
            return _result(learning, knowledge, scope, waits=waits), learning.uncertain


def _result(learning: LearnDecisions, knowledge: FactIndex, scope: Scope, *, waits: bool) -> LearnResult:
    append = AppendFacts(scope=scope, expected=knowledge.version, rows=learning.rows, vectors=learning.vectors)
    return LearnResult(fact_decisions=learning.decisions, append=append, waits=waits)


def _vectors(texts: Sequence[str], embedder: Embedder) -> "Sequence[Vector]":
    """Return a vector for each text, or None for a text that the embedder rejects."""
    try:
        return list(embedder.embed(texts))
    except BadInput as error:
        if len(texts) <= 1:
            log.warning("fact.embedding_failed", reason=str(error))
            return [None] * len(texts)
    half = len(texts) // 2
    return [*_vectors(texts[:half], embedder), *_vectors(texts[half:], embedder)]
