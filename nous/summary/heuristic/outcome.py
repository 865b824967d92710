"""Classify a session's outcome (resolved, partial ...) by rules; list what is left open."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nous.domain.episode import Outcome, Summary
from nous.summary.heuristic.record import Purpose, RecordedTurn, SessionRecord, has_passed
from nous.summary.heuristic.sentences import Sentence, content_words
from nous.text.injection import aims
from nous.text.language import patterns, words
from nous.text.sentences import shortened
from nous.transcript.model import Entry, Kind
from nous.transcript.tool_actions import hands_over

_QUOTED_CHARS = 120
_LONG = 24  # turns from which the end of a session says little about everything that was asked in it

# Shares of the turns of a talk; people who chat in `chitchat-dataset` ask in up to .4 and order in up to .06.
_ASKS, _ORDERS = 0.5, 0.1
_PATTERNS = patterns("nous.summary.heuristic", "patterns", "outcome")
_READS = _PATTERNS["reads"]
_EITHER_OR = re.compile(r"\bor (?:should|shall|would|do) ", re.IGNORECASE)
_CHOICE = _PATTERNS["choice"]


class Judgement(NamedTuple):
    """An outcome, the sentence that names its evidence, and the turns that it is based on.

    `is_sure` is false if the record does not show how it ended. `waits_for` is an open question to the user.
    """

    outcome: Outcome
    rationale: str
    turns: tuple[int, ...] = ()
    is_sure: bool = True
    waits_for: str = ""


_Rule = Callable[[SessionRecord], Judgement | None]


def judge(record: SessionRecord) -> Judgement:
    """Return the outcome by the first rule that applies; the strongest evidence comes first."""
    rules = _SERVICE_RULES if record.is_service else _WORK_RULES
    return next(found for rule in rules if (found := rule(record)))


def contradiction(summary: Summary, record: SessionRecord) -> str | None:
    """Return why a model's outcome is doubtful: contradicted by the record, or without evidence."""
    told = summary.outcome_rationale
    if not told:
        return "The evidence that was named for the outcome is not in the session."
    if summary.outcome is Outcome.RESOLVED and (found := _broken_off(record) or _failing_last(record)):
        return found.rationale
    runs = [run for run in record.runs if run.purpose is Purpose.TEST]
    if words().says("tests_passed", told) and runs and not runs[-1].passed:
        return f"`{shortened(runs[-1].command, 80)}` failed in turn {runs[-1].turn}, the last run of tests."
    if not record.runs and words().says("tests_passed", told) and record.is_coding:
        return "The record shows no run of tests."
    is_unmade = words().says("committed", told) and record.is_coding and not record.commits
    return "The record shows no commit." if is_unmade else None


def _nothing_asked(record: SessionRecord) -> Judgement | None:
    if record.requests and not (record.is_talk and not _wants_something(record.requests)):
        return None
    said = "People talked, and hardly anything was asked for." if record.turns else "The session has no words."
    return Judgement(Outcome.INFORMATIONAL, said, is_sure=bool(record.turns))


def _wants_something(requests: Sequence[RecordedTurn]) -> bool:
    """Return whether half the turns of a talk ask or a tenth order; chat does so in passing."""
    asks = sum(any(one.is_question for one in turn.asked) for turn in requests)
    orders = sum(any(words().opens("wish", one.text) for one in turn.asked) for turn in requests)
    return asks >= len(requests) * _ASKS or orders >= len(requests) * _ORDERS


def _broken_off(record: SessionRecord) -> Judgement | None:
    """Judge a session that ends in the user's stop or rejection, or in an unanswered error."""
    last = record.last
    if last is None or last.turn not in {turn.number for turn in record.requests}:
        return None
    if last.kind is Kind.DECISION and last.text.startswith(("Rejected", "Interrupted")):
        return _short_of(record, last, f"The last step was rejected in turn {last.turn}, and nothing followed.")
    if last.kind is Kind.SYSTEM:
        return _short_of(record, last, f"The user interrupted the work in turn {last.turn}, and nothing followed.")
    if last.kind is Kind.ERROR or last.is_error:
        error = " ".join(last.text.split())
        if aims(error):
            return _short_of(record, last, f"The record ends in an error in turn {last.turn}.")
        return _short_of(
            record, last, f"The record ends in an error in turn {last.turn}: {shortened(error, _QUOTED_CHARS)}"
        )
    return None


def _short_of(record: SessionRecord, last: Entry, rationale: str) -> Judgement:
    has_report = any(turn.report for turn in record.turns if turn.number < last.turn)
    has_change = any(place < len(record.entries) - 1 for place, _ in record.changes)
    outcome = Outcome.PARTIAL if has_report or has_change else Outcome.UNRESOLVED
    return Judgement(outcome, rationale, (last.turn,))


def _failing_last(record: SessionRecord) -> Judgement | None:
    """Judge a session whose last command failed and whose last words report no fix."""
    last = next(((place, each) for place, each in reversed(record.actions) if each.command), None)
    if last is None:
        return None
    place, action = last
    result = record.results.get(action.call.id)
    if result is None or result.kind is Kind.DECISION or has_passed(result) or _READS.match(action.command):
        return None
    later = [one for turn in record.turns for one in turn.said if one.place > place]
    if any(_is_done(one) for one in later) or any(at > place for at, _ in record.changes):
        return None
    turn = action.call.turn
    command = shortened(" ".join(action.command.split()), 80)
    outcome = Outcome.PARTIAL if record.changes else Outcome.UNRESOLVED
    return Judgement(outcome, f"`{command}` failed in turn {turn}, and nothing mended it.", (turn,))


def _closed(record: SessionRecord) -> Judgement | None:
    closing = record.closing
    if closing is None:
        return None
    said = shortened(closing.asked[0].text, _QUOTED_CHARS)
    return Judgement(Outcome.RESOLVED, f"In turn {closing.number} the user closed with: {said}", (closing.number,))


def _waits_for_choice(record: SessionRecord) -> Judgement | None:
    """Judge a session that ends with a choice for the user, before that turn changed anything."""
    turn = record.requests[-1]
    asked = next((one for one in reversed(turn.report) if _CHOICE.search(one.text)), None)
    if asked is None or (turn.changes and not _EITHER_OR.search(asked.text)):
        return None
    said = shortened(asked.text, _QUOTED_CHARS)
    rationale = f"The record ends in turn {turn.number} with a choice that the user has to make: {said}"
    return Judgement(Outcome.PARTIAL, rationale, (turn.number,), waits_for=asked.text)


def _unfinished(record: SessionRecord) -> Judgement | None:
    """Judge a session without an answer to the last request, or that ends in an announcement."""
    turn = record.requests[-1]
    outcome = Outcome.PARTIAL if record.changes else Outcome.UNRESOLVED
    if not turn.report and not turn.changes:
        return Judgement(outcome, f"Turn {turn.number} has no answer.", (turn.number,), is_sure=False)
    has_run = any(run.turn == turn.number and run.passed for run in record.runs)  # some formats list calls first
    is_last = record.last is not None and record.last.kind is Kind.ASSISTANT and not has_run
    text = turn.report[-1].text if is_last and turn.report and not turn.report[-1].is_question else ""
    if words().says("about_to", text) or words().opens("narrates", text):
        rationale = f"The record breaks off in turn {turn.number}, where the agent announced its next step."
        return Judgement(outcome, rationale, (turn.number,), is_sure=False)
    return None


def _ended_well(record: SessionRecord) -> Judgement:
    """Judge everything else as resolved, as sure as the end of the record shows."""
    turn = record.requests[-1]
    later = [each for each in record.turns if each.number >= turn.number]
    evidence = _evidence(record, later)
    is_sure = evidence is not None and len(record.requests) <= _LONG
    rationale = evidence or "The record does not show how it ended."
    return Judgement(Outcome.RESOLVED, rationale, (turn.number,), is_sure=is_sure)


def _evidence(record: SessionRecord, later: Sequence[RecordedTurn]) -> str | None:
    number = later[0].number
    commits = [subject for subject, turn in record.commits if turn >= number]
    if commits:
        return f"In turn {number} it was committed as “{commits[-1]}”."
    runs = [run for run in record.runs if run.turn >= number]
    if runs and runs[-1].passed:
        return f"`{shortened(runs[-1].command, 80)}` passed in turn {runs[-1].turn}, the last run of the session."
    reported = [one for turn in later for one in turn.report]
    if done := next((one for one in reported if _is_done(one) and len(one.text.split()) > 1), None):
        return f"In turn {done.turn} the agent reported: {shortened(done.text, _QUOTED_CHARS)}"
    if later[0].is_question and reported and not reported[-1].is_question:
        return f"The question of turn {number} was answered: {shortened(reported[0].text, _QUOTED_CHARS)}"
    if any(turn.changes for turn in later):
        return f"What turn {number} asked for was carried out by {sum(turn.changes for turn in later)} calls."
    return None


def _is_done(one: Sentence) -> bool:
    """Return whether a sentence reports something as done, and is no plan, guess or question."""
    known = words()
    is_less = one.is_question or any(known.says(name, one.text) for name in ("undone", "about_to", "hedge"))
    return known.says("done", one.text) and not is_less and not known.opens("condition", one.text)


def _handed_over(record: SessionRecord) -> Judgement | None:
    """Judge a service run that was passed on to a person, or whose user asks for that."""
    call = next((action for _, action in reversed(record.done) if hands_over(action)), None)
    last = record.turns[-1] if record.turns else None
    asks = last is not None and any(words().says("handed_over", one.text) for one in last.asked)
    if call is None and not asks:
        return None
    turn = call.call.turn if call else last.number if last else 0
    outcome = Outcome.PARTIAL if _served(record) else Outcome.UNRESOLVED
    end = "was handed over to a person" if call else "ended with the user's wish for a person"
    given = (call.call.tool_input or {}).get("summary") if call else None
    reason = f": {shortened(given, _QUOTED_CHARS)}" if isinstance(given, str) and given else "."
    return Judgement(outcome, f"In turn {turn} the matter {end}{reason}", (turn,))


def _served(record: SessionRecord) -> list[RecordedTurn]:
    """Return the turns in which a service did something, or without calls, reported it."""
    if not record.actions:
        return [turn for turn in record.turns if any(_is_done(one) for one in turn.report)]
    passed_on = {action.call.turn for _, action in record.done if hands_over(action)}
    return [turn for turn in record.turns if turn.changes > (turn.number in passed_on)]


def _service_end(record: SessionRecord) -> Judgement:
    served, last = _served(record), record.turns[-1]
    ending = [one for turn in record.turns[-2:] for one in turn.report]
    refused = next((one for one in ending if words().says("refuses", one.text)), None)
    is_put_off = any(words().says("postpones", one.text) for turn in record.turns for one in turn.asked)
    accepted = record.closing is not None and not is_put_off
    if served:
        is_open = refused is not None and not accepted and served[-1].number < last.number - 1
        rationale = f"In turn {served[-1].number} what the user asked for was carried out."
        if is_open and refused:
            quote = shortened(refused.text, _QUOTED_CHARS)
            rationale = f"Something was carried out, and in turn {refused.turn} something was refused: {quote}"
        return Judgement(Outcome.PARTIAL if is_open else Outcome.RESOLVED, rationale, (served[-1].number,))
    if accepted and any(turn.report for turn in record.requests):
        rationale = f"In turn {last.number} the user was content with the answer."
        return Judgement(Outcome.RESOLVED, rationale, (last.number,), is_sure=False)
    rationale = f"By turn {last.number} nothing that the user asked for was carried out."
    return Judgement(Outcome.UNRESOLVED, rationale, (last.number,))


_WORK_RULES: tuple[_Rule, ...] = (
    _nothing_asked,
    _broken_off,
    _closed,
    _waits_for_choice,
    _failing_last,
    _unfinished,
    _ended_well,
)
_SERVICE_RULES: tuple[_Rule, ...] = (_nothing_asked, _handed_over, _service_end)


def open_threads(record: SessionRecord, judgement: Judgement) -> tuple[str, ...]:
    """Return what is open: why it is not resolved, and the question or request at issue."""
    if judgement.outcome not in {Outcome.PARTIAL, Outcome.UNRESOLVED} or not record.requests:
        return ()
    said = [one.text for turn in reversed(record.requests) for one in (*turn.asked, *turn.brief)]
    asked = next((text for text in said if content_words(text)[1:] and not words().says("thanks", text)), "")
    thread = shortened(judgement.waits_for or asked, _QUOTED_CHARS)
    return tuple(filter(None, (judgement.rationale, thread)))
