"""What was decided in a session: what its transcript shows, beside what was recorded while it ran."""

from collections.abc import Iterator, Sequence

from nous.episode import CandidateFact, Category, Decision
from nous.secrets import looks_secret
from nous.summary.evidence import Evidence
from nous.summary.facts import verdicts
from nous.summary.names import subject_of
from nous.transcript.model import Transcript

LEAST_SURE = 0.6
"""How sure a recorded decision has to be, to become a fact as well."""

MOST = 20
"""Of an episode whose facts are capped, the newest: the others are for what it has taught."""

_LONGEST = 1000
_CATEGORIES = {"The user rejected": "rejection", "The user approved": "approval", "Asked": "answer"}


def shown_decisions(transcript: Transcript) -> Iterator[Decision]:
    """What the user approved, rejected, or answered when asked."""
    for verdict in verdicts(Evidence(transcript)):
        category = next((name for lead, name in _CATEGORIES.items() if verdict.text.startswith(lead)), "decision")
        yield Decision(description=verdict.text, category=category, turns=verdict.turns)


def decided_facts(recorded: Sequence[Decision]) -> Iterator[CandidateFact]:
    """Recorded decisions as facts, in the words of whoever recorded them."""
    sure = (each for each in recorded if not each.turns and each.confidence >= LEAST_SURE)
    for decision in [each for each in sure if _is_fact(each.description)][-MOST:]:
        yield CandidateFact(
            text=decision.description,
            category=Category.DECISION,
            subject=subject_of(decision.description, decision.category),
            confidence=decision.confidence,
        )


def _is_fact(text: str) -> bool:
    return len(text) <= _LONGEST and not looks_secret(text)
