"""What a session teaches the next one like it: causes of faults, what mended a failure, what the user corrected."""

import re
from collections.abc import Iterable, Iterator

from nous.language import words
from nous.prose import shortened
from nous.secrets import looks_secret
from nous.summary.heuristic.narrative import lead
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.sentences import Sentence, alike, content_words, names
from nous.summary.heuristic.statements import standing_alone, stated
from nous.transcript.model import Kind

MOST = 7
_MOST_STATED = 3
_LONGEST = 300
_FEWEST_WORDS = 4
_FIRST_PERSON = re.compile(r"\bI\b|\b[Yy]our?\b|\b[Ll]et['\u2019]s\b")
_BEGINS_ELSEWHERE = re.compile(
    r"(?:this|that|these|those|it|they|he|she|both|here|there|which|so|then|line \d)\b", re.IGNORECASE
)


def lessons(record: SessionRecord, most: int = MOST) -> tuple[str, ...]:
    """Return at most *most* lessons, none that says much the same as one before it."""
    if record.is_service:
        return tuple(distinct((fact.text for fact in stated(record)), _MOST_STATED))
    told = [fact.text for fact in stated(record)][:_MOST_STATED]
    causes = sorted(_causes(record), key=lambda one: -_worth(one.text))
    return tuple(distinct((*told, *_mended(record), *(standing_alone(one.text) for one in causes)), most))


def _mended(record: SessionRecord) -> Iterator[str]:
    """Return what was said or done between a run that failed and the run of the same command that passed."""
    failed = {run.command: run for run in record.runs if not run.passed}
    for command, run in failed.items():
        after = next(
            (each for each in record.runs if each.place > run.place and each.command == command and each.passed), None
        )
        if after is None:
            continue
        said = [one for turn in record.turns for one in turn.said if run.place < one.place <= after.place]
        causes = [one for one in said if _is_cause(one)]
        if causes:
            cause = standing_alone(max(causes, key=lambda one: _worth(one.text)).text)
            yield f"`{shortened(command, 80)}` failed until this was mended: {shortened(cause, _LONGEST)}"


def _causes(record: SessionRecord) -> Iterator[Sentence]:
    for turn in record.turns:
        yield from (one for one in lead(turn.report) if _is_cause(one))


def _is_cause(one: Sentence) -> bool:
    """Return whether a sentence explains something that it names, so that it can be understood alone."""
    known, text = words(), one.text
    if one.speaker is not Kind.ASSISTANT or one.is_question or looks_secret(text) or len(text) > _LONGEST:
        return False
    if _FIRST_PERSON.search(text) or _BEGINS_ELSEWHERE.match(standing_alone(text)) or known.opens("narrates", text):
        return False
    is_less = any(known.says(name, text) for name in ("hedge", "proposes", "about_to"))
    is_less = is_less or known.opens("deed", text)
    return (
        known.says("explains", text) and not is_less and bool(names(text)) and len(content_words(text)) >= _FEWEST_WORDS
    )


def _worth(text: str) -> float:
    return len(words().contains["explains"].findall(text)) + 0.5 * min(len(set(names(text))), 4)


def distinct(texts: Iterable[str], most: int) -> list[str]:
    """Return the first *most* of *texts*, none `alike` one before it."""
    kept: list[str] = []
    for text in texts:
        if len(kept) < most and not any(alike(text, other) for other in kept):
            kept.append(text)
    return kept
