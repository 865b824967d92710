"""Learning into a scope's log: read what is known, judge, and say what to append."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from nous.effects import AppendFacts
from nous.embed.base import Embedder
from nous.episode import CandidateFact
from nous.fact import Source
from nous.learning.learn import Finding, Occasion, learn
from nous.learning.policy import Policy
from nous.scope import Scope
from nous.store.base import FactLog
from nous.store.knowledge import FactMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What became of each candidate, in order, and what to append to the log; None where all was known already."""

    findings: tuple[Finding, ...]
    append: AppendFacts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """Judges candidates against a scope's log. It writes nothing: commit the append, and on refusal teach again.

    Teaching again is cheap where *embedder* remembers (`nous.embed.remembered`): it reads the rows that were added
    meanwhile, and judges.
    """

    log: FactLog
    memory: FactMemory
    embedder: Embedder
    policy: Policy
    clock: Callable[[], datetime]

    def teach(self, candidates: Sequence[CandidateFact], *, scope: Scope, source: Source) -> Lesson:
        """Judge *candidates*, in order, as said in *source*.

        Raises:
            Unavailable: the log or the model did not answer.
            Misconfigured: the log holds vectors of this embedder with another dimension.
        """
        vectors = self.embedder.embed([candidate.text for candidate in candidates])
        policy = self.policy.for_embedder(self.embedder.id)
        occasion = Occasion(scope=scope, source=source, policy=policy, at=self.clock())
        with self.memory.current(self.log, scope, self.embedder) as knowledge:
            learning = learn(candidates, vectors, knowledge=knowledge, occasion=occasion)
            expected = knowledge.version
        append = AppendFacts(scope=scope, expected=expected, rows=learning.rows, vectors=learning.vectors)
        return Lesson(findings=learning.findings, append=append if learning.rows else None)
