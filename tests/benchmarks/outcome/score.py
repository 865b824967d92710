"""Judgements beside the gold."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from excerpt.tables import table

from nous.episode import Outcome
from nous.summary.heuristic.outcome import Judgement, judge
from nous.summary.heuristic.record import SessionRecord

from .gold import Case

DONE = frozenset({Outcome.RESOLVED, Outcome.INFORMATIONAL})
"""The labels that count as done; the others, and those it is unsure of by the same label, as not done."""

UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Scored:
    """A case, what is judged of it, and whether anything was changed in it."""

    case: Case
    judgement: Judgement
    is_changed: bool

    @property
    def is_right(self) -> bool:
        return (self.judgement.outcome in DONE) == self.case.is_done

    @property
    def label(self) -> str:
        return str(self.judgement.outcome) if self.judgement.is_sure else UNSURE

    @property
    def is_cited(self) -> bool:
        """Whether it cites a turn, and none that is not there."""
        there = {entry.turn for entry in self.case.transcript}
        return bool(self.judgement.turns) and there.issuperset(self.judgement.turns)


def scored(case: Case) -> Scored:
    evidence = SessionRecord(case.transcript)
    return Scored(case, judge(evidence), bool(evidence.changes))


def confusion(found: Sequence[Scored]) -> Iterator[str]:
    """How often each label meets each word of the gold."""
    counts = Counter((one.label, one.case.gold) for one in found)
    golds = sorted({one.case.gold for one in found})
    labels = [*(str(outcome) for outcome in Outcome), UNSURE]
    yield from table(["label", *golds], [[label, *(str(counts[label, gold]) for gold in golds)] for label in labels])


def figures(found: Sequence[Scored]) -> Iterator[str]:
    """Accuracies beside two rules that judge nothing, and what stands behind the labels."""
    sure = [one for one in found if one.judgement.is_sure]
    yield f"resolved or informational = done: {_share([one.is_right for one in found])}"
    yield f"the same, where it is sure:       {_share([one.is_right for one in sure])} of {len(sure)}"
    yield f"the majority class:               {_majority([one.case.is_done for one in found]):.2f}"
    yield f"no write action = done:           {_share([one.is_changed != one.case.is_done for one in found])}"
    yield f"unsure:                           {_share([not one.judgement.is_sure for one in found])}"
    yield f"cites turns that exist:           {_share([one.is_cited for one in found])}"


def carried_out(found: Sequence[Scored], gold: str) -> Iterator[str]:
    """The same labels against whether the request was carried out: only *gold* is, and only `resolved` says so."""
    wanted = [one.case.gold == gold for one in found]
    said = [one.judgement.outcome is Outcome.RESOLVED for one in found]
    changed = [one.is_changed for one in found]
    yield f"resolved = the change that was due was made: {_share(_agree(said, wanted))}"
    yield f"any write action = the same:                 {_share(_agree(changed, wanted))}"
    yield f"the majority class:                          {_majority(wanted):.2f}"


def _agree(one: Sequence[bool], other: Sequence[bool]) -> list[bool]:
    return [first == second for first, second in zip(one, other, strict=True)]


def _majority(found: Sequence[bool]) -> float:
    return max(sum(found), len(found) - sum(found)) / max(len(found), 1)


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found) / max(len(found), 1):.2f}"
