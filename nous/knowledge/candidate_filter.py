"""Filter candidate facts: drop invalid texts, erased texts (by hash) and those over a cap.

The cap holds for candidates of all sources; extractors apply it to their own before.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from itertools import accumulate
from operator import itemgetter
from uuid import UUID

from nous.domain.episode import CandidateFact, Category, Episode, Trust
from nous.domain.errors import BadInput
from nous.domain.fact import Row, occurrences, standing
from nous.domain.scope import Scope
from nous.knowledge.normalize import exact_form
from nous.text.injection import aims
from nous.text.sanitize import readable

LONGEST_TEXT = 4000
"""Maximum characters of a fact. A longer text is no fact, and would take minutes to compare."""

LONGEST_SUBJECT = 200
"""Maximum characters of a fact's subject. A longer one names nothing."""


class DropReason(StrEnum):
    BLANK = "text: says nothing"
    TOO_LONG = f"text: too long, a fact has at most {LONGEST_TEXT:,} characters"
    FORGOTTEN = "was forgotten on request"
    OVER_CAP = "over the cap"
    INSTRUCTION = "instructs, and no person says it"


@dataclass(frozen=True, slots=True)
class FilteredCandidates:
    candidates: tuple[CandidateFact, ...]
    dropped: tuple[tuple[str, int], ...] = ()


def without_instructions(candidates: Iterable[CandidateFact]) -> tuple[tuple[CandidateFact, ...], int]:
    """Return foreign *candidates* without instructions, or of a person; count the others."""
    every = tuple(candidates)
    kept = tuple(each for each in every if each.trust is Trust.USER or not aims(each.text, of_agent=True))
    return kept, len(every) - len(kept)


def filter_candidates(
    candidates: Sequence[CandidateFact], *, cap: int, forgotten: Collection[str] = ()
) -> FilteredCandidates:
    """Return the first *cap* valid candidates in order of their turns, without suppressed ones.

    Of two values that a session states, the one of the later turn is learned last, as the current one. *forgotten*
    holds the exact forms of erased texts. A rule that no user stated is learned as a concept, since it is only an
    opinion. A subject that is too long is truncated.
    """
    dropped: Counter[str] = Counter()
    kept: list[CandidateFact] = []
    for candidate in map(_as_learned, candidates):
        if reason := _objection(candidate, forgotten):
            dropped[str(reason)] += 1
        else:
            kept.append(candidate)
    if len(kept) > cap:
        dropped[str(DropReason.OVER_CAP)] = len(kept) - cap
    return FilteredCandidates(tuple(_in_order(kept[:cap])), tuple(sorted(dropped.items())))


def _in_order(candidates: Sequence[CandidateFact]) -> Sequence[CandidateFact]:
    """Return *candidates* by their last turns; one without turns stays behind its neighbor."""
    turns = accumulate((max(each.turns, default=0) for each in candidates), lambda last, turn: turn or last)
    return [candidate for _, candidate in sorted(zip(turns, candidates, strict=True), key=itemgetter(0))]


def checked(candidate: CandidateFact) -> CandidateFact:
    """Return *candidate* as it will be learned. Raises `BadInput` with the reason if it cannot."""
    if len(candidate.subject) > LONGEST_SUBJECT:
        raise BadInput(f"subject: too long, it has at most {LONGEST_SUBJECT:,} characters")
    candidate = _as_learned(candidate)
    if reason := _objection(candidate, ()):
        raise BadInput(reason)
    return candidate


def _objection(candidate: CandidateFact, forgotten: Collection[str]) -> DropReason | None:
    if len(candidate.text) > LONGEST_TEXT:
        return DropReason.TOO_LONG
    form = exact_form(candidate.text)
    if not form:
        return DropReason.BLANK
    return DropReason.FORGOTTEN if form in forgotten else None


def _as_learned(candidate: CandidateFact) -> CandidateFact:
    """Return *candidate* without control characters, and as a rule only if a user stated it.

    Facts are shown on terminals and may come from untrusted sources.
    """
    is_given = candidate.category is not Category.RULE or candidate.trust is Trust.USER
    return replace(
        candidate,
        text=readable(candidate.text),
        category=candidate.category if is_given else Category.CONCEPT,
        subject=readable(candidate.subject)[:LONGEST_SUBJECT],
    )


@dataclass(frozen=True, slots=True)
class SuppressedTexts:
    """Suppression list of *scope*: exact forms that must not be learned again.

    Only their hashes (`marks`) are stored, so the texts cannot be recovered.
    """

    scope: Scope
    marks: frozenset[str] = frozenset()

    def __contains__(self, form: object) -> bool:
        return bool(self.marks) and isinstance(form, str) and mark_of(self.scope, form) in self.marks

    def __len__(self) -> int:
        return len(self.marks)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the hashes; the texts themselves are erased."""
        return iter(self.marks)


def mark_of(scope: Scope, form: str) -> str:
    """Return the keyed hash of an erased text: it matches in any case and reveals nothing."""
    key = blake2b(str(scope).encode(), digest_size=32).digest()
    return blake2b(form.casefold().encode(errors="replace"), key=key, digest_size=16).hexdigest()


def wordings(rows: Iterable[Row], facts: Collection[UUID]) -> frozenset[str]:
    """Return every exact form in which any of *facts* was stated; empty if there are none."""
    return frozenset(exact_form(text) for fact, _, text in occurrences(standing(rows)) if fact in facts)


def without_candidates(episode: Episode, forms: Collection[str]) -> Episode:
    """Return *episode* without candidates whose form is in *forms*; count the dropped ones."""
    left = tuple(each for each in episode.candidate_facts if exact_form(each.text) not in forms)
    apart = tuple(each for each in episode.quarantined if exact_form(each.candidate.text) not in forms)
    gone = len(episode.candidate_facts) - len(left)
    if not gone:
        return episode if apart == episode.quarantined else replace(episode, quarantined=apart)
    dropped = dict(episode.dropped_facts)
    dropped[str(DropReason.FORGOTTEN)] = lost_candidates(episode) + gone
    return replace(episode, candidate_facts=left, quarantined=apart, dropped_facts=tuple(sorted(dropped.items())))


def lost_candidates(episode: Episode) -> int:
    """Return how many candidate facts of *episode* were dropped because they were erased."""
    return dict(episode.dropped_facts).get(DropReason.FORGOTTEN, 0)
