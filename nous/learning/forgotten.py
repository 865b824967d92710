"""Texts that must not be learned again, known by their marks alone."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from uuid import UUID

from nous.episode import Episode
from nous.fact import Row, standing, tellings
from nous.learning.normalise import exact_form
from nous.learning.usable import Unusable
from nous.scope import Scope


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Exact forms that must not be learned again in *scope*, of which only *marks* are known."""

    scope: Scope
    marks: frozenset[str] = frozenset()

    def __contains__(self, form: object) -> bool:
        return bool(self.marks) and isinstance(form, str) and mark_of(self.scope, form) in self.marks

    def __len__(self) -> int:
        return len(self.marks)

    def __iter__(self) -> Iterator[str]:
        """The marks; the forms themselves are forgotten."""
        return iter(self.marks)


def mark_of(scope: Scope, form: str) -> str:
    """What is remembered of a forgotten text: enough to know it again, in whatever case, and nothing to read."""
    key = blake2b(str(scope).encode(), digest_size=32).digest()
    return blake2b(form.casefold().encode(errors="replace"), key=key, digest_size=16).hexdigest()


def wordings(rows: Iterable[Row], facts: Collection[UUID]) -> frozenset[str]:
    """Every exact form in which any of *facts* was said; empty where there are none."""
    return frozenset(exact_form(text) for fact, _, text in tellings(standing(rows)) if fact in facts)


def without_candidates(episode: Episode, forms: Collection[str]) -> Episode:
    """*episode* without the candidate facts that say something of *forms*; it counts how many were not let through."""
    left = tuple(each for each in episode.candidate_facts if exact_form(each.text) not in forms)
    gone = len(episode.candidate_facts) - len(left)
    if not gone:
        return episode
    dropped = dict(episode.dropped_facts)
    dropped[str(Unusable.FORGOTTEN)] = lost_candidates(episode) + gone
    return replace(episode, candidate_facts=left, dropped_facts=tuple(sorted(dropped.items())))


def lost_candidates(episode: Episode) -> int:
    """How many candidate facts *episode* lacks because they were forgotten."""
    return dict(episode.dropped_facts).get(Unusable.FORGOTTEN, 0)
