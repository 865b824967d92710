"""Which candidates can be learned at all. The one place where they are capped."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from uuid import UUID

from nous.domain.episode import CandidateFact, Category, Episode, Trust
from nous.domain.errors import BadInput
from nous.domain.fact import Row, standing, tellings
from nous.domain.scope import Scope
from nous.facts.normalize import exact_form
from nous.text.sanitize import readable

LONGEST_TEXT = 4000
"""Characters in a fact. What is longer is no fact, and would take minutes to compare."""

LONGEST_SUBJECT = 200
"""Characters in what a fact is about. What is longer names nothing."""


class Unusable(StrEnum):
    """Why a candidate is not learned."""

    BLANK = "text: says nothing"
    TOO_LONG = f"text: too long, a fact has at most {LONGEST_TEXT:,} characters"
    FORGOTTEN = "was forgotten on request"
    OVER_CAP = "over the cap"


@dataclass(frozen=True, slots=True)
class Usable:
    """Candidates that can be learned, in order, and how many cannot, by reason."""

    candidates: tuple[CandidateFact, ...]
    dropped: tuple[tuple[str, int], ...] = ()


def usable(candidates: Sequence[CandidateFact], *, cap: int, forgotten: Collection[str] = ()) -> Usable:
    """The first *cap* of *candidates* that say something a fact can hold, but what is *forgotten*: exact forms.

    A rule that no user gave is learned as what it is, somebody's view; a subject that is too long is cut.
    """
    dropped: Counter[str] = Counter()

    def fitting() -> Iterator[CandidateFact]:
        for candidate in map(_readable, candidates):
            reason = _objection(candidate, forgotten)
            if reason:
                dropped[reason] += 1
            else:
                yield _fitted(candidate)

    kept = tuple(fitting())
    if len(kept) > cap:
        dropped[Unusable.OVER_CAP] = len(kept) - cap
    return Usable(kept[:cap], tuple(sorted((str(reason), count) for reason, count in dropped.items())))


def checked(candidate: CandidateFact) -> CandidateFact:
    """*candidate* as it is learned, for whoever has somebody to tell why not.

    Raises:
        BadInput: it cannot be learned.
    """
    if len(candidate.subject) > LONGEST_SUBJECT:
        raise BadInput(f"subject: too long, it has at most {LONGEST_SUBJECT:,} characters")
    candidate = _readable(candidate)
    if reason := _objection(candidate, ()):
        raise BadInput(reason)
    return _fitted(candidate)


def _objection(candidate: CandidateFact, forgotten: Collection[str]) -> Unusable | None:
    if len(candidate.text) > LONGEST_TEXT:
        return Unusable.TOO_LONG
    form = exact_form(candidate.text)
    if not form:
        return Unusable.BLANK
    return Unusable.FORGOTTEN if form in forgotten else None


def _fitted(candidate: CandidateFact) -> CandidateFact:
    """*candidate*, a rule only if a user gave it, and with no longer a subject than a fact has."""
    is_given = candidate.category is not Category.RULE or candidate.trust is Trust.USER
    category = candidate.category if is_given else Category.CONCEPT
    return replace(candidate, category=category, subject=candidate.subject[:LONGEST_SUBJECT])


def _readable(candidate: CandidateFact) -> CandidateFact:
    """*candidate* without signs that steer a terminal: facts are shown on some, and may come from anywhere."""
    return replace(candidate, text=readable(candidate.text), subject=readable(candidate.subject))


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
