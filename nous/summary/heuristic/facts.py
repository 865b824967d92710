"""Extract candidate facts by rules from a session record, or from a finished summary.

For an episode without facts of its own, `facts_of` takes the key points of its summary.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from nous.domain.episode import CandidateFact, Category, Quote, Summary
from nous.domain.summary_input import MOST_CANDIDATES, SummaryInput
from nous.redaction.redactor import tells_secret
from nous.summary.heuristic.record import Purpose, SessionRecord, usual
from nous.summary.heuristic.report import answered, lead, passage_from
from nous.summary.heuristic.sentences import POINTS_BACK, Sentence, content_words, distinct, names, telling_words
from nous.summary.heuristic.statements import fact_of, stated
from nous.summary.llm.evidence import quoting_nearest
from nous.summary.llm.grounding import grounded
from nous.summary.llm.source_index import SourceIndex
from nous.text.injection import aims
from nous.text.language import words
from nous.text.sentences import shortened
from nous.transcript.tool_actions import taken_away_by

# Turns up to which the reports of all turns still hold at the end; in longer sessions later work supersedes them.
_SHORT = 8
_MOST_ANSWERS, _MOST_ACTIONS, _MOST_STATED = 3, 3, 6
_FEWEST_WORDS = 5
_MOSTLY_CODE = 0.65
_CODE = re.compile(r"`[^`]+`")
_FIRST_PERSON = re.compile(r"\b(?:I|[Yy]ou|[Rr]egarding)\b")
BY_AGENT = re.compile(r"^(?:Done[.:\u2014 -]+)?I(?:['\u2019]ve| have)? (?:also |now |successfully )*", re.IGNORECASE)
_LONGEST = 400
_ACTION_WORDS = 40
_RUN_AS = {
    Purpose.TEST: "Tests are run",
    Purpose.BUILD: "The build is run",
    Purpose.LINT: "The linter is run",
    Purpose.FORMAT: "The formatter is run",
}


def candidate_facts(record: SessionRecord, most: int = MOST_CANDIDATES) -> tuple[CandidateFact, ...]:
    facts = (*list(stated(record))[:_MOST_STATED], *answer_facts(record), *action_facts(record))
    found: dict[frozenset[str], CandidateFact] = {}
    for fact in facts:
        form = frozenset(telling_words(fact.text))
        if form and not tells_secret(fact.text) and not any(form <= other for other in found):
            found[form] = fact
    runs = [fact for fact in command_facts(record) if not tells_secret(fact.text)]
    return (*found.values(), *runs)[:most]


def answer_facts(record: SessionRecord) -> Iterator[CandidateFact]:
    """Yield the last answered questions; of a long session, those whose answer names a thing."""
    found = [one for one in answered(record) if one.is_clear and not one.answer.endswith(":")]
    if len(record.requests) > _SHORT:
        found = [one for one in found if words().says("asks_which", one.question)]
    for one in found[-_MOST_ANSWERS:]:
        text = f"“{shortened(one.question, 160)}” was answered: {shortened(one.answer, _LONGEST)}"
        yield fact_of(text, Category.TECHNICAL, 0.7, said=one.answer, turns=(one.turn,))


def action_facts(record: SessionRecord) -> Iterator[CandidateFact]:
    """Yield what the agent reports as done, if it names what it changed."""
    turns = [turn for turn in record.turns if turn.changes and turn.report]
    for turn in turns[-_MOST_ACTIONS:] if len(record.requests) <= _SHORT else turns[-1:]:
        said = lead(turn.report)
        first = next((one for one in said if _reports_action(one.text) and not _is_gone(one, record)), None)
        if first is None:
            continue
        text = BY_AGENT.sub("", _report(said[said.index(first) :]))
        text = shortened(text[:1].upper() + text[1:], _LONGEST)
        yield fact_of(text, Category.EVENT, 0.65, said=first.text, turns=(turn.number,))


def _report(said: Sequence[Sentence]) -> str:
    """Return the first of *said* with the items it introduces, or its successors with names."""
    if said[0].text.endswith(":"):
        return passage_from(said, said[0], _ACTION_WORDS)
    kept = takewhile(lambda one: names(one.text) and not _FIRST_PERSON.search(one.text), said[1:3])
    return passage_from([said[0], *kept], said[0], _ACTION_WORDS)


def _reports_action(text: str) -> bool:
    """Return whether *text* reports an action on a thing it names, in enough words to be clear."""
    known = words()
    is_less = any(known.says(name, text) for name in ("hedge", "undone", "proposes"))
    is_code = sum(map(len, _CODE.findall(text))) > len(text) * _MOSTLY_CODE
    return (
        known.opens("deed", text)
        and not (is_less or is_code)
        and bool(names(text))
        and len(set(content_words(text))) >= _FEWEST_WORDS
    )


def _is_gone(one: Sentence, record: SessionRecord) -> bool:
    mentioned = set(names(one.text))
    removed = (path for place, action in record.done if place > one.place for path in taken_away_by(action.command))
    return any(path.endswith(name) or name.endswith(path) for path in removed for name in mentioned)


def command_facts(record: SessionRecord) -> Iterator[CandidateFact]:
    for run in usual(record.runs):
        where = f" in {run.directory}" if run.directory else ""
        yield CandidateFact(
            text=f"{_RUN_AS[run.purpose]} with `{run.command}`{where}",
            category=Category.TOOL,
            subject=f"{run.purpose} command{where}",
            confidence=0.8,
            turns=(run.turn,),
            quotes=(Quote(run.turn, run.command),),
        )


_LEAST, _MOST = 0.6, 0.7  # the confidence of key points, and the highest confidence of any such fact
_FEWEST_OF_POINT = 4


def facts_of(summary: Summary, summary_input: SummaryInput | None) -> tuple[CandidateFact, ...]:
    """Return the key points of *summary* as facts, grounded in *summary_input* if there is one."""
    points = list(_points(summary))
    if summary_input is None:
        return tuple(point for point in points if not aims(point.text, of_agent=True))
    return tuple(distinct(_sound(points, summary_input), MOST_CANDIDATES, lambda fact: fact.text))


def _points(summary: Summary) -> Iterator[CandidateFact]:
    """Yield the key points that are clear without context, and are no events or guesses."""
    known = words()
    for point in summary.key_points:
        is_less = known.says("hedge", point) or known.opens("deed", point) or known.opens("wish", point)
        if not (is_less or POINTS_BACK.match(point)) and len(content_words(point)) >= _FEWEST_OF_POINT:
            category = Category.TECHNICAL if names(point) else Category.CONCEPT
            yield fact_of(point, category, _LEAST)


def _sound(facts: Iterable[CandidateFact], summary_input: SummaryInput) -> Iterator[CandidateFact]:
    session = SourceIndex(summary_input)
    for fact in grounded((quoting_nearest(fact, session) for fact in facts), session, prompt="").facts:
        yield replace(fact, confidence=min(fact.confidence, _MOST))
