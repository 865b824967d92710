"""Extract lessons from a session record: lasting user statements, the agent's explanations."""

import re
from collections.abc import Iterator
from itertools import pairwise

from nous.domain.episode import Category
from nous.redaction.redactor import tells_secret
from nous.summary.heuristic.record import SessionRecord
from nous.summary.heuristic.report import lead
from nous.summary.heuristic.sentences import POINTS_BACK, Sentence, distinct, names, telling_words
from nous.summary.heuristic.statements import standing_alone, stated
from nous.text.language import words
from nous.text.sentences import shortened
from nous.transcript.model import Kind

MOST = 7
_MOST_STATED = 3
_LASTING = frozenset({Category.RULE, Category.PREFERENCE, Category.CONCEPT})
_LONGEST = 300
_FEWEST_WORDS, _FEWEST_WITHOUT_NAME = 4, 6
_FIRST_PERSON = re.compile(r"\bI\b|\b[Yy]our?\b|\b[Ll]et['\u2019]s\b")
_ONE_OFF = re.compile(
    r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\blines? \d|\b(?:it|this|that|them|here)[.!]?\Z",
    re.IGNORECASE,
)
"""Names one commit or line, or ends with a word for something that only its session shows."""


def lessons(record: SessionRecord, most: int = MOST) -> tuple[str, ...]:
    """Return at most *most* distinct lessons: lasting user statements first, then findings."""
    from_user = [fact.text for fact in stated(record) if fact.category in _LASTING][:_MOST_STATED]
    return tuple(distinct((*from_user, *found_out(record)), most))


def found_out(record: SessionRecord) -> Iterator[str]:
    """Yield what fixed a failure, and the causes that the agent reported; nothing for a service."""
    if not record.is_service:
        yield from _fixes(record)
        yield from _causes(record)


def _fixes(record: SessionRecord) -> Iterator[str]:
    """Yield the cause given between a failed run and the next passed run of the same command."""
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
            cause = standing_alone(max(causes, key=lambda one: worth(one.text)).text)
            yield f"`{shortened(command, 80)}` failed until this was mended: {shortened(cause, _LONGEST)}"


def _causes(record: SessionRecord) -> Iterator[str]:
    """Yield causes that the agent reported and the user did not object to, the best first."""
    ranked: list[tuple[int, float, str]] = []
    for turn, after in pairwise((*record.turns, None)):
        if turn is None or (after and any(words().says("objects", one.text) for one in after.asked)):
            continue
        found = sorted((one for one in lead(turn.report) if _is_cause(one)), key=lambda one: -worth(one.text))
        ranked += [(rank, -worth(one.text), standing_alone(one.text)) for rank, one in enumerate(found)]
    return (text for _, _, text in sorted(ranked))


def _is_cause(one: Sentence) -> bool:
    """Return whether a sentence explains something that it names, and is clear without context."""
    known, text = words(), one.text
    if one.speaker is not Kind.ASSISTANT or one.is_question or tells_secret(text) or len(text) > _LONGEST:
        return False
    if _FIRST_PERSON.search(text) or POINTS_BACK.match(standing_alone(text)) or known.opens("narrates", text):
        return False
    is_less = any(known.says(name, text) for name in ("hedge", "proposes", "about_to"))
    is_less = is_less or known.opens("wish", text) or _ONE_OFF.search(text) is not None
    is_less = is_less or known.opens("deed", text) or known.opens("tells_change", text)
    fewest = _FEWEST_WORDS if names(text) else _FEWEST_WITHOUT_NAME
    return known.says("explains", text) and len(telling_words(text)) >= fewest and not is_less


def worth(text: str) -> float:
    """Return how much a text explains and names, as a rank of causes."""
    return len(words().contains["explains"].findall(text)) + 0.5 * min(len(set(names(text))), 4)
