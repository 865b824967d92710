"""What was decided in a session: what its transcript shows, beside what was recorded while it ran."""

from collections.abc import Iterator, Sequence

from nous.episode import CandidateFact, Category, Decision
from nous.secrets import looks_secret
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.sentences import names
from nous.summary.heuristic.statements import verdicts
from nous.transcript.model import Transcript

LEAST_SURE = 0.6
"""How sure a recorded decision has to be, to become a fact as well."""

MOST = 20
"""Of an episode whose facts are capped, the newest: the others are for what it has taught."""

_LONGEST = 1000


def shown_decisions(transcript: Transcript) -> Iterator[Decision]:
    """Return what the user approved, rejected, or answered when asked."""
    for verdict in verdicts(SessionRecord(transcript)):
        yield Decision(description=verdict.text, category=verdict.kind, turns=(verdict.turn,))


def decided_facts(recorded: Sequence[Decision]) -> Iterator[CandidateFact]:
    """Recorded decisions as facts, in the words of whoever recorded them."""
    sure = (each for each in recorded if not each.turns and each.confidence >= LEAST_SURE)
    for decision in [each for each in sure if _is_fact(each.description)][-MOST:]:
        yield CandidateFact(
            text=decision.description,
            category=Category.DECISION,
            subject=next(iter(names(decision.description)), decision.category),
            confidence=decision.confidence,
        )


def _is_fact(text: str) -> bool:
    return len(text) <= _LONGEST and not looks_secret(text)
