"""A log of facts in memory, and what a person settles in it."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

from builders.knowing import AT, nothing, taught
from nous.domain.fact import Linked, LinkKind, Row
from nous.knowledge.decision import FactDecision
from nous.knowledge.fact_index import FactIndex, KnownFact

Decide = Callable[..., tuple[Row, ...]]
Snapshot = dict[str, tuple[set[str], int]]


def snapshot(knowledge: FactIndex) -> Snapshot:
    """Each current fact, who has said it, and how many have."""
    return {
        each.fact.text: ({source.session_id for source in each.sources}, each.times_confirmed)
        for each in knowledge.current()
    }


def fold(rows: Sequence[Row]) -> FactIndex:
    """Fold a log without vectors."""
    knowledge = FactIndex(embedder_id="", dim=0)
    knowledge.extend(rows, {})
    return knowledge


class Log:
    """The rows, and the knowledge that they fold to."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.knowledge = nothing()

    def say(self, text: str, session: str) -> FactDecision:
        """Let *session* say *text*."""
        [fact_decision] = taught(self.knowledge, text, session=session)
        self.rows += fact_decision.rows
        return fact_decision

    def fact(self, text: str) -> KnownFact:
        """The fact whose text begins so."""
        return next(known for known in self.knowledge if known.fact.text.startswith(text))

    def id(self, text: str) -> UUID:
        return self.fact(text).fact.id

    def link(
        self, one: str, other: str, *, kind: LinkKind = LinkKind.DUPLICATE, likelihood: float | None = None
    ) -> None:
        """Link two facts as judging does."""
        row = Linked(
            fact_id=self.id(one), other=self.id(other), reason="both near", at=AT, kind=kind, likelihood=likelihood
        )
        self.append(row)

    def settle(self, decide: Decide, one: str, other: str, reason: str = "a person said so") -> tuple[Row, ...]:
        """Append what *decide* makes of two facts, a minute after the row before."""
        at = AT + timedelta(minutes=len(self.rows) + 1)
        rows = decide(self.fact(one), self.fact(other), knowledge=self.knowledge, reason=reason, at=at)
        self.append(*rows)
        return rows

    def append(self, *rows: Row) -> None:
        self.rows += rows
        self.knowledge.extend(rows, {})
