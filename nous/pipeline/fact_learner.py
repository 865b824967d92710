"""Learning into a scope's log: read what is known, judge, and say what to append."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import structlog

from nous.domain.effects import AppendFacts
from nous.domain.episode import CandidateFact
from nous.domain.errors import BadInput, Deferred, Unavailable
from nous.domain.events import NAMESPACE
from nous.domain.fact import Source
from nous.domain.scope import Matter, Scope
from nous.embedding.base import Embedder, present
from nous.facts.adjudication import Arbiter, Doubt
from nous.facts.decision import Finding, Learning, Occasion
from nous.facts.fact_index import KnownFact
from nous.facts.learn import Mended, doubts, learn, mend
from nous.facts.normalize import exact_form
from nous.facts.vector_scan import IndexUnavailable
from nous.facts.verdict import Policy
from nous.store.base import FactLog
from nous.store.fact_cache import FactMemory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32] | None

log = structlog.get_logger(__name__)

RULINGS = uuid5(NAMESPACE, "rulings")
"""What the arbiter's answers are about: never one session alone, since they may quote any fact of the scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What became of each candidate, in order, and what to append to the log.

    Where all was known already that has no rows. It is to be committed all the same by whoever takes the findings for
    done: it says of which log they hold. `waits` means that facts of the scope have no vector yet.
    """

    findings: tuple[Finding, ...]
    append: AppendFacts
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What became of facts that had no vector, and what to append to the log. `waits` as in `Lesson`."""

    mended: tuple[Mended, ...]
    append: AppendFacts
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """Judges candidates against a scope's log. It writes nothing: commit the append, and on refusal teach again.

    Teaching again is cheap where *embedder* remembers (`nous.embedding.cache`): it reads the rows that were added
    meanwhile, and judges. An embedder that does not answer stops nothing: what it could not compare is compared later.
    What the texts alone leave open is put to the *arbiter*, if there is one. What is *forgotten* in a scope, by its
    exact form, is passed over without a finding.
    """

    log: FactLog
    memory: FactMemory
    embedder: Embedder
    policy: Policy
    clock: Callable[[], datetime]
    arbiter: Arbiter | None = None
    forgotten: Callable[[Scope], Collection[str]] = field(default=lambda _: ())
    matter: Callable[[Scope, UUID], Matter] = Matter.of

    def teach(self, candidates: Sequence[CandidateFact], *, scope: Scope, source: Source) -> Lesson:
        """Judge *candidates*, in order, as said in *source*.

        Raises:
            Unavailable: the log did not answer.
            Misconfigured: the embedder is not installed, or the log holds vectors of it with another dimension.
        """
        matter = self.matter(scope, RULINGS)
        embedder = present(self.embedder)
        vectors = _vectors([candidate.text for candidate in candidates], embedder)
        occasion = Occasion(scope=scope, source=source, policy=self.policy.for_embedder(embedder.id), at=self.clock())
        try:
            lesson, open_ones = self._judged(candidates, vectors, occasion, embedder)
        except IndexUnavailable as error:
            log.warning("the index does not answer; facts are compared by their text alone", reason=str(error))
            return self._judged(candidates, [None] * len(candidates), occasion, embedder)[0]
        # Nobody waits for the arbiter: what others teach meanwhile is seen when the texts are judged again.
        if self.arbiter and open_ones:
            rulings = self.arbiter.rule(open_ones, matter=matter)
            if rulings:
                lesson, _ = self._judged(candidates, vectors, replace(occasion, rulings=rulings), embedder)
        return lesson

    def repair(self, scope: Scope, *, most: int) -> Repair:
        """Embed at most *most* facts of *scope* that have no vector by this embedder, and judge them by it.

        Raises:
            Unavailable, Deferred: the log or the embedder did not answer.
            Misconfigured: as `teach` does.
        """
        with self.memory.current(self.log, scope, self.embedder) as knowledge:
            waiting = list(knowledge.without_vector())
        able, vectors = _some_embedded(waiting, self.embedder, most)
        with self.memory.current(self.log, scope, self.embedder) as knowledge:
            found = zip((knowledge.get(fact.fact.id) for fact in able), vectors, strict=True)
            left = [(fact, vector) for fact, vector in found if fact and fact.is_current and not fact.is_embedded]
            policy = self.policy.for_embedder(self.embedder.id)
            mending = mend(left, knowledge=knowledge, policy=policy, at=self.clock())
            append = AppendFacts(scope=scope, expected=knowledge.version, rows=mending.rows, vectors=mending.vectors)
        is_more = len(waiting) > len(able) > 0
        return Repair(mended=mending.mended, append=append, waits=is_more)

    def _judged(
        self, candidates: Sequence[CandidateFact], vectors: "Sequence[Vector]", occasion: Occasion, embedder: Embedder
    ) -> tuple[Lesson, Sequence[Doubt]]:
        with self.memory.current(self.log, occasion.scope, embedder) as knowledge:
            # Asked after the log was read: of what is forgotten later, the commit is refused.
            forgotten = self.forgotten(occasion.scope)
            wanted = [at for at, each in enumerate(candidates) if exact_form(each.text) not in forgotten]
            learning = learn(
                [candidates[at] for at in wanted],
                [vectors[at] for at in wanted],
                knowledge=knowledge,
                occasion=occasion,
            )
            append = AppendFacts(
                scope=occasion.scope, expected=knowledge.version, rows=learning.rows, vectors=learning.vectors
            )
            waits = _leaves_waiting(learning) or next(knowledge.without_vector(), None) is not None
            lesson = Lesson(findings=learning.findings, append=append, waits=waits)
            return lesson, tuple(doubts(learning, knowledge))


def _leaves_waiting(learning: Learning) -> bool:
    return any(finding.fact.id not in learning.vectors for finding in learning.findings if finding.has_new_fact)


def _vectors(texts: Sequence[str], embedder: Embedder) -> "Sequence[Vector]":
    """A vector for each text, or None where there is none to be had."""
    try:
        return list(embedder.embed(texts))
    except (Unavailable, Deferred) as error:
        log.warning("the embedder does not answer; facts are compared by their text alone", reason=str(error))
        return [None] * len(texts)
    except BadInput as error:
        if len(texts) == 1:
            log.warning("a fact cannot be embedded", reason=str(error))
            return [None]
        return [vector for text in texts for vector in _vectors([text], embedder)]


def _some_embedded(
    facts: Sequence[KnownFact], embedder: Embedder, most: int
) -> "tuple[Sequence[KnownFact], Sequence[NDArray[np.float32]]]":
    """The first of *facts* that can be embedded, *most* of them or fewer, and their vectors."""
    for start in range(0, len(facts), most):
        able, vectors = _embedded(facts[start : start + most], embedder)
        if able:
            return able, vectors
    return (), ()


def _embedded(
    facts: Sequence[KnownFact], embedder: Embedder
) -> "tuple[Sequence[KnownFact], Sequence[NDArray[np.float32]]]":
    """Those of *facts* that can be embedded, and their vectors. Raises what `Embedder.embed` raises, but `BadInput`."""
    try:
        return facts, list(embedder.embed([fact.fact.text for fact in facts]))
    except BadInput:
        if len(facts) <= 1:
            return (), ()
    halves = (facts[: len(facts) // 2], facts[len(facts) // 2 :])
    found = [_embedded(half, embedder) for half in halves]
    return [fact for able, _ in found for fact in able], [vector for _, vectors in found for vector in vectors]
