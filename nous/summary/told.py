"""A session told in a few sentences: what was asked, what came of it, what was changed, how it ended."""

from collections.abc import Iterator, Sequence

from nous.episode import CandidateFact, Outcome
from nous.summary.evidence import Evidence
from nous.summary.outcome import Judgement
from nous.summary.statements import shortened

_QUOTE = 160
_MOST_REQUESTS = 4
_MOST_REPORTS = 4
_MOST_FILES = 5
_MOST_SAID = 4


def tell(evidence: Evidence, judgement: Judgement, facts: Sequence[CandidateFact], topics: Sequence[str]) -> str:
    """The summary as prose, each part with the turn it rests on."""
    if evidence.is_conversation:
        return " ".join(_conversation(evidence, facts, topics))
    return " ".join((*_asked(evidence), *_reported(evidence), *_changed(evidence), *_ended(judgement)))


def _conversation(evidence: Evidence, facts: Sequence[CandidateFact], topics: Sequence[str]) -> Iterator[str]:
    about = f", about {_listed(topics)}" if topics else ""
    yield f"A conversation of {len(evidence.transcript.turns)} turns{about}."
    yield from (fact.text for fact in facts[:_MOST_SAID])


def _asked(evidence: Evidence) -> Iterator[str]:
    if not evidence.asked:
        return
    yield f"The user asked: {_quoted(str(evidence.asked[0]))}."
    later = [_quoted(str(one)) for one in evidence.asked[1:] if one.is_wish]
    if later:
        more = f", and {len(later) - _MOST_REQUESTS} more requests" if len(later) > _MOST_REQUESTS else ""
        yield f"Then: {'; '.join(later[:_MOST_REQUESTS])}{more}."


def _reported(evidence: Evidence) -> Iterator[str]:
    reports = evidence.reports
    shown = reports if len(reports) <= _MOST_REPORTS else [*reports[: _MOST_REPORTS - 2], *reports[-2:]]
    if shown:
        yield f"The agent reported: {'; '.join(f'{_quoted(one.text)} (turn {one.turn})' for one in shown)}."


def _changed(evidence: Evidence) -> Iterator[str]:
    names = [path.rpartition("/")[2] for path in evidence.files]
    if names:
        more = f" and {len(names) - _MOST_FILES} more" if len(names) > _MOST_FILES else ""
        yield f"Files written: {', '.join(names[:_MOST_FILES])}{more}."
    if evidence.commits:
        yield f"Commits: {'; '.join(f'“{shortened(subject, _QUOTE)}”' for subject, _ in evidence.commits)}."


def _ended(judgement: Judgement) -> Iterator[str]:
    if judgement.outcome in {Outcome.PARTIAL, Outcome.UNRESOLVED}:
        yield judgement.rationale


def _quoted(text: str) -> str:
    return f"“{shortened(text, _QUOTE).rstrip('.:')}”"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
