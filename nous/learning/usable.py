"""Which candidates can be learned at all. The one place where they are capped."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from nous.episode import CandidateFact, Category, Trust
from nous.errors import BadInput
from nous.learning.normalise import exact_form
from nous.readable import readable

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
