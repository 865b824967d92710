"""Apply precedence rules (subject, trust); build rows to supersede, merge or part facts.

No I/O: the functions return rows to append to the log that *knowledge* is the projection of. No rows mean that the log
says so already. `unsettling` undoes a decision.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, Self

from nous.domain.episode import Trust
from nous.domain.errors import BadInput
from nous.domain.fact import Confirmed, Fact, Linked, LinkKind, Row, Superseded
from nous.knowledge.equivalence.compare import difference
from nous.knowledge.fact_index import FactIndex, KnownFact
from nous.knowledge.judge import verdicts
from nous.knowledge.normalize import subject_form
from nous.knowledge.statement import Neighbour, Statement
from nous.knowledge.verdict import AlreadyKnown, FactRulings, LinkedTo, NewFact, Policy, Richer, Supersedes, Verdict


class TrustedFact(NamedTuple):
    """A fact, also one that is not learned yet, with the times it was stated and its trust."""

    fact: Fact
    first: datetime
    last: datetime
    trust: Trust

    @classmethod
    def of(cls, known: KnownFact) -> Self:
        return cls(known.fact, known.valid_from, known.said_at, known.trust)


def settled(verdicts: Iterable[Verdict], claim: TrustedFact, known: FactIndex) -> Verdict:
    """Return the first of *verdicts* on *claim* that precedence allows.

    If only new or linked is left, the first verdict that was not allowed is returned as a link instead. A user's
    statement needs no subject, since the texts were compared with the words that name it. Others need one, unless a
    model has compared the facts.
    """
    barred: LinkedTo | None = None
    for verdict in verdicts:
        if isinstance(verdict, NewFact | LinkedTo):
            return barred or verdict
        other = known[verdict.fact_id]
        objection = (
            _distrust(verdict, claim, other)
            or _other_subject(verdict, claim, other)
            or _other_change(verdict, claim, other, known)
        )
        if objection is None:
            return verdict
        is_update = isinstance(verdict, Supersedes)
        barred = barred or LinkedTo(
            fact_id=verdict.fact_id,
            reason=f"{verdict.reason}; but {objection}",
            similarity=verdict.similarity,
            kind=LinkKind.UPDATE if is_update else LinkKind.RELATED,
        )
    return barred or NewFact()


def corrected(
    fact: KnownFact, near: Iterable[Neighbour], known: FactIndex, policy: Policy, rulings: FactRulings
) -> Richer | Supersedes | None:
    """Return the verdict by which *fact* supersedes what it contradicts, or by a model contains."""
    claim = TrustedFact.of(fact)
    passed = {fact.fact.id, *known.apart_from(fact.fact.id)}
    others = [each for each in near if each.fact_id not in passed]
    namesakes = {each: said for each, said in known.namesakes(claim.fact.subject).items() if each not in passed}
    found = verdicts(fact.statement, others, policy, namesakes, is_later=known.is_later(claim.last), rulings=rulings)
    wanted = (each for each in found if isinstance(each, Supersedes) or (isinstance(each, Richer) and each.is_ruled))
    verdict = settled(wanted, claim, known)
    return verdict if isinstance(verdict, Supersedes | Richer) else None


_RANKS = {Trust.USER: 0, Trust.SYSTEM: 1, Trust.ASSISTANT: 1, Trust.TOOL: 2, Trust.WEB: 2}


def _distrust(verdict: AlreadyKnown | Richer | Supersedes, claim: TrustedFact, other: KnownFact) -> str | None:
    mine, theirs = _RANKS[claim.trust], _RANKS[other.trust]
    if isinstance(verdict, Supersedes):
        is_mine_worse = mine > theirs
        if mine == theirs or is_mine_worse != (claim.last >= other.said_at):
            return None
        who = "an agent" if max(mine, theirs) == _RANKS[Trust.ASSISTANT] else "a tool or a page"
        return f"only {who} says {'so' if is_mine_worse else 'the other'}"
    is_doubted = claim.trust.is_doubted
    if is_doubted == other.trust.is_doubted:
        return None
    wins = is_doubted if isinstance(verdict, Richer) else verdict.is_less and not is_doubted
    return f"only a tool or a page says {'so' if is_doubted else 'the other'}" if wins else None


def _other_subject(verdict: AlreadyKnown | Richer | Supersedes, claim: TrustedFact, other: KnownFact) -> str | None:
    mine, theirs = subject_form(claim.fact.subject), subject_form(other.fact.subject)
    is_stated = claim.trust is Trust.USER or verdict.is_ruled
    if not isinstance(verdict, Supersedes) or mine == theirs != "" or is_stated:
        return None
    if mine and theirs:
        return f"their subjects differ: about {mine} / about {theirs}"
    return "only one names its subject" if mine or theirs else "neither names its subject"


def _other_change(
    verdict: AlreadyKnown | Richer | Supersedes, claim: TrustedFact, other: KnownFact, known: FactIndex
) -> str | None:
    """Return an objection if the newer fact announces a change, and has changed something else.

    `It moved to port 8090` replaces every wording of one port, and no other port.
    """
    is_older = claim.last < other.said_at
    newer = other if is_older else known.get(claim.fact.id)
    if not (isinstance(verdict, Supersedes) and verdict.is_announced) or newer is None or not newer.replaces:
        return None
    older = Statement(claim.fact.text, claim.fact.subject) if is_older else other.statement
    changed = (known[row.fact_id].statement for row in newer.replaces)
    is_same = any(not difference(older.reading, each.reading).objection for each in changed)
    return None if is_same else "it has replaced another fact"


def outdated(one: TrustedFact, other: TrustedFact, verdict: Supersedes, *, at: datetime) -> tuple[Fact, Superseded]:
    """Return the superseded one of two contradicting facts, and the row that records it.

    It is the one stated earlier. If both were stated at once, it is the doubted one, or else *one*, which was learned
    before *other*.
    """
    past, by = sorted((one, other), key=lambda each: (each.last, not each.trust.is_doubted))
    return past.fact, _row(past, by, reason=verdict.reason, at=at, similarity=verdict.similarity)


def superseding(
    old: KnownFact, new: KnownFact, *, knowledge: FactIndex, reason: str, at: datetime
) -> tuple[Superseded, ...]:
    """Return the row that *new* replaced *old*, by hand. Raises as `check_replaceable` does."""
    check_replaceable(old, new, knowledge)
    return (replace(_row(TrustedFact.of(old), TrustedFact.of(new), reason=reason, at=at), by_hand=True),)


def check_replaceable(old: KnownFact, new: KnownFact, knowledge: FactIndex) -> None:
    """Raise `BadInput` unless both facts are current, two, and not kept apart by a person."""
    old_id, by = old.fact.id, new.fact.id
    if old.superseded:
        raise BadInput(f"fact {old_id} is superseded by {old.superseded.by} already")
    if new.superseded:
        raise BadInput(f"fact {by} is superseded by {new.superseded.by} itself: name a current fact")
    if old_id == by:
        raise BadInput(f"fact {by} cannot supersede itself")
    if link := knowledge.apart_from(old_id).get(by) or knowledge.apart_from(by).get(old_id):
        since = f"{link.at:%Y-%m-%d}: `nous facts unsettle` first"
        raise BadInput(f"facts {link.fact_id} and {link.other} are kept apart since {since}")


def _row(
    past: TrustedFact, by: TrustedFact, *, reason: str, at: datetime, similarity: float | None = None
) -> Superseded:
    """Return the row: *past* was true until *by* was stated, or *past* again later."""
    valid_to = max(past.last, by.first)
    return Superseded(
        fact_id=past.fact.id, by=by.fact.id, reason=reason, at=at, similarity=similarity, valid_to=valid_to
    )


def merged(
    fact: KnownFact,
    into: KnownFact,
    *,
    reason: str,
    at: datetime,
    similarity: float | None = None,
    by_hand: bool = False,
) -> Iterator[Row]:
    """Merge *fact* into another, sources and wordings too; the supersession comes first."""
    yield Superseded(
        fact_id=fact.fact.id, by=into.fact.id, reason=reason, at=at, similarity=similarity, by_hand=by_hand
    )
    own = fact.fact
    said = [
        (own.source, own.text, own.id),
        *((row.source, row.text, row.merged_from or own.id) for row in fact.confirmed),
    ]
    for source, text, merged_from in dict.fromkeys(said):
        yield Confirmed(
            fact_id=into.fact.id,
            source=source,
            text=text,
            reason=reason,
            at=at,
            similarity=similarity,
            merged_from=merged_from,
        )


def merging(fact: KnownFact, into: KnownFact, *, knowledge: FactIndex, reason: str, at: datetime) -> tuple[Row, ...]:
    """Merge *fact* into another by hand. Raises what `check_replaceable` raises."""
    gone = fact.superseded
    if gone and gone.by == into.fact.id and gone.valid_to is None:
        return ()
    check_replaceable(fact, into, knowledge)
    return tuple(merged(fact, into, reason=reason, at=at, by_hand=True))


def keeping_apart(
    one: KnownFact, other: KnownFact, *, knowledge: FactIndex, reason: str, at: datetime
) -> tuple[Row, ...]:
    """Keep two facts apart for good. Raises `BadInput` if one was superseded by the other."""
    for gone, by in ((one, other), (other, one)):
        if gone.superseded and any(each.fact.id == by.fact.id for each in knowledge.successors(gone.fact.id)):
            raise BadInput(f"fact {gone.fact.id} is superseded by {gone.superseded.by}: `nous facts unsettle` first")
    link = one.standing_links.get(other.fact.id)
    if link and link.kind is LinkKind.APART:
        return ()
    return (_link(one, other, reason=reason, at=at, kind=LinkKind.APART, before=link),)


def unsettling(one: KnownFact, other: KnownFact, *, reason: str, at: datetime, **_: FactIndex) -> tuple[Row, ...]:
    """Undo the merge or supersession of two facts, or else the decision to keep them apart."""
    for gone, by in ((one, other), (other, one)):
        if gone.superseded and gone.superseded.by == by.fact.id:
            row = Superseded(fact_id=gone.fact.id, by=by.fact.id, reason=reason, at=at, by_hand=True, is_undone=True)
            return (row,)
    link = one.standing_links.get(other.fact.id)
    if link is None or link.kind is not LinkKind.APART:
        return ()
    judged = [each for each in one.links if one.other_of(each) == other.fact.id and not each.by_hand]
    before = judged[-1] if judged else None
    kind = before.kind if before else LinkKind.RELATED
    return (_link(one, other, reason=reason, at=at, kind=kind, before=before),)


def _link(
    one: KnownFact, other: KnownFact, *, reason: str, at: datetime, kind: LinkKind, before: Linked | None
) -> Linked:
    link = before or Linked(fact_id=one.fact.id, other=other.fact.id, reason=reason, at=at)
    likelihood = None if kind is LinkKind.APART else link.likelihood
    return replace(link, reason=reason, at=at, kind=kind, likelihood=likelihood, by_hand=True)
