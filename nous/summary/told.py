"""A session told in a few sentences: what was asked, what came of it, what was changed, how it ended."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nous.episode import CandidateFact
from nous.summary.evidence import Evidence
from nous.summary.outcome import Judgement
from nous.summary.statements import shortened

MOST_WORDS = 150
_QUOTE = 160
_MOST_REQUESTS = 4
_MOST_REPORTS = 4
_MOST_FILES = 5
_MOST_COMMITS = 4
_MOST_POINTS = 3
_MOST_SAID = 4


class _Part(NamedTuple):
    """A sentence, and how soon it gives way where not all fit: the last first."""

    text: str
    rank: int


def tell(
    evidence: Evidence,
    judgement: Judgement,
    facts: Sequence[CandidateFact],
    topics: Sequence[str],
    points: Sequence[str] = (),
) -> str:
    """The summary as prose, of at most `MOST_WORDS` words unless its first sentences are longer."""
    if evidence.is_conversation:
        return " ".join(_conversation(evidence, facts, topics))
    parts = (*_asked(evidence), *_reported(evidence), *_learned(points), *_changed(evidence), *_ended(judgement))
    return " ".join(_fitting(parts))


def _fitting(parts: Sequence[_Part]) -> Iterator[str]:
    room, kept = MOST_WORDS, set[int]()
    for place in sorted(range(len(parts)), key=lambda place: parts[place].rank):
        size = len(parts[place].text.split())
        if size <= room or not parts[place].rank:
            kept.add(place)
            room -= size
    yield from (part.text for place, part in enumerate(parts) if place in kept)


def _conversation(evidence: Evidence, facts: Sequence[CandidateFact], topics: Sequence[str]) -> Iterator[str]:
    about = f", about {_listed(topics)}" if topics else ""
    yield f"A conversation of {len(evidence.transcript.turns)} turns{about}."
    yield from (fact.text for fact in facts[:_MOST_SAID])


def _asked(evidence: Evidence) -> Iterator[_Part]:
    if not evidence.asked:
        return
    yield _Part(f"The user asked: {_quoted(str(evidence.asked[0]))}.", 0)
    later = [_quoted(str(one)) for one in evidence.asked[1:] if one.is_wish]
    if later:
        more = f", and {len(later) - _MOST_REQUESTS} more requests" if len(later) > _MOST_REQUESTS else ""
        yield _Part(f"Then: {'; '.join(later[:_MOST_REQUESTS])}{more}.", 2)


def _reported(evidence: Evidence) -> Iterator[_Part]:
    reports = evidence.reports
    shown = reports if len(reports) <= _MOST_REPORTS else [*reports[: _MOST_REPORTS - 2], *reports[-2:]]
    if shown:
        told = "; ".join(f"{_quoted(one.text)} (turn {one.turn})" for one in shown)
        yield _Part(f"The agent reported: {told}.", 1)


def _learned(points: Sequence[str]) -> Iterator[_Part]:
    """What came out, one part each, so that as many are told as there is room for."""
    for number, point in enumerate(points[:_MOST_POINTS]):
        text = shortened(point, _QUOTE)
        end = "" if text.endswith((".", "…", "”", "!")) else "."
        yield _Part(f"{'It came out: ' if not number else ''}{text}{end}", 4 + number)


def _changed(evidence: Evidence) -> Iterator[_Part]:
    names = list(dict.fromkeys(path.rpartition("/")[2] for path in evidence.files))
    if names:
        more = f" and {len(names) - _MOST_FILES} more" if len(names) > _MOST_FILES else ""
        yield _Part(f"Files written: {', '.join(names[:_MOST_FILES])}{more}.", 3)
    if evidence.commits:
        subjects = [f"“{shortened(subject, _QUOTE)}”" for subject, _ in evidence.commits]
        more = f" and {len(subjects) - _MOST_COMMITS} more" if len(subjects) > _MOST_COMMITS else ""
        yield _Part(f"Commits: {'; '.join(subjects[:_MOST_COMMITS])}{more}.", 2)
    if evidence.tests:
        last = evidence.tests[-1]
        yield _Part(f"The last test run, in turn {last.turn}, {'passed' if last.passed else 'failed'}.", 4)


def _ended(judgement: Judgement) -> Iterator[_Part]:
    yield _Part(judgement.rationale, 1)


def _quoted(text: str) -> str:
    return f"“{shortened(text, _QUOTE).rstrip('.:')}”"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
