"""Values about facts: statements with derived forms, neighbors, and known facts with links."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from nous.domain.episode import Trust
from nous.domain.fact import Confirmed, Fact, Linked, LinkKind, Source, Superseded
from nous.knowledge.normalize import exact_form

if TYPE_CHECKING:
    from nous.knowledge.equivalence.reading import ParsedStatement

MOST_CONTRADICTED = 16
"""Maximum neighbors checked for an update or a duplicate, the nearest; and of the same subject, the newest."""


@dataclass(frozen=True)
class Statement:
    """A text and its subject, with the derived forms for judging, each computed on first use."""

    text: str
    subject: str = field(default="", compare=False)

    @cached_property
    def form(self) -> str:
        return exact_form(self.text)

    @cached_property
    def reading(self) -> "ParsedStatement":
        from nous.knowledge.equivalence.reading import read  # noqa: PLC0415 (commands that only read parse none)

        return read(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(word.key for word in self.reading.words if word.key.isdecimal())


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A current fact near the candidate, with the cosine of the two."""

    fact_id: UUID
    statement: Statement
    similarity: float


Namesakes = Mapping[UUID, Statement]
"""Current facts with the candidate's subject, near or far."""

IsLater = Callable[[UUID], bool]
"""Return whether a known fact was stated after the candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """A fact with its confirmations, wordings, links and supersessions.

    `undone` holds supersessions of or by this fact that were undone, and the rows that undid them.
    """

    fact: Fact
    statement: Statement
    reason: str
    confirmed: tuple[Confirmed, ...] = ()
    superseded: Superseded | None = None
    replaces: tuple[Superseded, ...] = ()
    links: tuple[Linked, ...] = ()
    undone: tuple[Superseded, ...] = ()
    is_embedded: bool = False

    @property
    def sources(self) -> tuple[Source, ...]:
        return (self.fact.source, *(row.source for row in self.confirmed))

    @property
    def said_as(self) -> tuple[str, ...]:
        return tuple(row.text for row in self.confirmed)

    @property
    def is_current(self) -> bool:
        return self.superseded is None

    @property
    def times_confirmed(self) -> int:
        return len({source.episode_id for source in self.sources})

    @property
    def latest(self) -> Source:
        """Return the last source; a doubted one does not renew what a trusted one stated."""
        is_doubted = self.trust.is_doubted
        said = [source for source in self.sources if source.trust.is_doubted == is_doubted]
        return max(said, key=lambda source: source.said_at or datetime.min.replace(tzinfo=UTC))

    @property
    def said_at(self) -> datetime:
        """Return when it was last stated, if known; else when it was learned."""
        return self.latest.said_at or self.fact.learned_at

    @property
    def valid_from(self) -> datetime:
        """Return when it was first stated, if known; else when it was learned."""
        return min((source.said_at for source in self.sources if source.said_at), default=self.fact.learned_at)

    @property
    def trust(self) -> Trust:
        """Return the highest trust among its sources."""
        return min((source.trust for source in self.sources), key=list(Trust).index)

    @property
    def standing_links(self) -> Mapping[UUID, Linked]:
        """Return the link in force to each linked fact; a person's `APART` holds until undone."""
        judged = {self.other_of(link): link for link in self.links if not link.by_hand}
        by_hand = sorted((link for link in self.links if link.by_hand), key=lambda link: link.at)
        last = {self.other_of(link): link for link in by_hand}
        return {**last, **judged, **{other: link for other, link in last.items() if link.kind is LinkKind.APART}}

    def other_of(self, link: Linked) -> UUID:
        return link.other if link.fact_id == self.fact.id else link.fact_id

    def was_said_in(self, episode_id: UUID) -> bool:
        return any(source.episode_id == episode_id for source in self.sources)


@dataclass(frozen=True, slots=True)
class Earlier:
    id: UUID
    text: str
    until: datetime
    trust: Trust
