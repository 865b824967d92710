"""How a session ended, judged from what it shows, with one sentence that says what the judgement rests on.

The rules are asked in order and the first that applies decides; each is one kind of evidence. Where none applies the
outcome is `partial`, and the rationale says that it is unsure.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nous.episode import Outcome
from nous.language import words
from nous.summary.evidence import Evidence, says_done
from nous.summary.statements import Statement, shortened

_QUOTE = 110
_SUBSTANTIAL = 5
"""Statements of an answer that has told something besides its question."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """An outcome, and the sentence that justifies it. `is_sure` is false where no rule applied."""

    outcome: Outcome
    rationale: str
    is_sure: bool = True


Rule = Callable[[Evidence], Judgement | None]


def judge(evidence: Evidence) -> Judgement:
    """The outcome of a session."""
    for rule in RULES:
        if judgement := rule(evidence):
            return judgement
    text = f"Unsure: nothing in turn {evidence.last_request} shows whether the request was met."
    return Judgement(Outcome.PARTIAL, text, is_sure=False)


def nothing_was_asked(evidence: Evidence) -> Judgement | None:
    if evidence.requests or evidence.changes:
        return None
    return Judgement(Outcome.INFORMATIONAL, "No request of a user is recorded, so there was nothing to resolve.")


def two_people_talked(evidence: Evidence) -> Judgement | None:
    if not evidence.is_conversation:
        return None
    turns = evidence.transcript.turns
    span = f"Turns {turns[0].number} to {turns[-1].number}"
    return Judgement(Outcome.INFORMATIONAL, f"{span} are a conversation in which nothing was asked to be done.")


def user_broke_it_off(evidence: Evidence) -> Judgement | None:
    if not evidence.is_interrupted or evidence.last is None:
        return None
    return _short_of(evidence, f"The user stopped the work in turn {evidence.last.turn} and nothing followed.")


def user_was_not_content(evidence: Evidence) -> Judgement | None:
    complaint = _first(evidence.closing, "complaint")
    if complaint is None:
        return None
    text = f"The user's last words, in turn {complaint.turn}, were not content: {_quoted(complaint)}."
    return Judgement(Outcome.PARTIAL, text)


def was_handed_over(evidence: Evidence) -> Judgement | None:
    turns = [call.turn for call, *_ in evidence.actions if words().says("handed_over", _spelled(call.tool))]
    if turns and turns[-1] >= evidence.last_request:
        return Judgement(Outcome.UNRESOLVED, f"In turn {turns[-1]} the matter was handed over to a person.")
    wish = _first([one for one in evidence.requests if one.turn == evidence.last_request], "handed_over")
    if wish is None or evidence.answer or evidence.files:
        return None
    return Judgement(Outcome.UNRESOLVED, f"In turn {wish.turn} the user asked for a person: {_quoted(wish)}.")


def stopped_at_work(evidence: Evidence) -> Judgement | None:
    if not evidence.answer or evidence.closing or not _announces(evidence.answer[-1]):
        return None
    last = evidence.answer[-1]
    return _short_of(evidence, f"The record stops in turn {last.turn} with work still to come: {_quoted(last)}.")


def nobody_answered(evidence: Evidence) -> Judgement | None:
    if evidence.answer or any(call.turn >= evidence.last_request for call in evidence.changes):
        return None
    return _short_of(evidence, f"The request of turn {evidence.last_request} was left without an answer.")


def tests_failed_last(evidence: Evidence) -> Judgement | None:
    if not evidence.tests or evidence.tests[-1].passed or evidence.tests[-1].turn < evidence.last_request:
        return None
    run = evidence.tests[-1]
    return Judgement(
        Outcome.PARTIAL, f"The last test run (`{shortened(run.command, 60)}`), in turn {run.turn}, failed."
    )


def waits_for_the_user(evidence: Evidence) -> Judgement | None:
    question = next((one for one in reversed(evidence.answer) if _waits(one)), None)
    is_side_issue = _reported(evidence) is not None and not _first(evidence.answer, "needs_answer")
    if question is None or evidence.closing or is_side_issue:
        return None
    text = f"A question of turn {question.turn} was never answered: {_quoted(question)}."
    has_answered = len(evidence.answer) >= _SUBSTANTIAL
    return Judgement(Outcome.PARTIAL, text) if has_answered else _short_of(evidence, text)


def was_refused(evidence: Evidence) -> Judgement | None:
    refusal = _first(evidence.answer, "unable")
    if refusal is None or _reported(evidence) or _only_asked(evidence):
        return None
    return _short_of(evidence, f"In turn {refusal.turn} it turned out not to be possible: {_quoted(refusal)}.")


def failed_at_the_end(evidence: Evidence) -> Judgement | None:
    failed = evidence.failed_last
    if failed is None or _reported(evidence):
        return None
    return _short_of(
        evidence, f"The last tool call of turn {failed.turn} failed and nothing reports that it was mended."
    )


def only_questions_were_asked(evidence: Evidence) -> Judgement | None:
    if evidence.changes or not _only_asked(evidence):
        return None
    turn = evidence.last_request
    return Judgement(
        Outcome.INFORMATIONAL, f"Only questions were asked, the last of which was answered in turn {turn}."
    )


def was_reported_done(evidence: Evidence) -> Judgement | None:
    report = _reported(evidence)
    if report is None:
        return None
    thanks = _first(evidence.closing, "thanks")
    content = f", and in turn {thanks.turn} the user was content" if thanks else ""
    return Judgement(Outcome.RESOLVED, f"It was reported done in turn {report.turn} ({_quoted(report)}){content}.")


def user_was_content(evidence: Evidence) -> Judgement | None:
    thanks = _first(evidence.closing, "thanks")
    return thanks and Judgement(Outcome.RESOLVED, f"The user was content in turn {thanks.turn}: {_quoted(thanks)}.")


def something_was_changed(evidence: Evidence) -> Judgement | None:
    turns = [call.turn for call in evidence.changes if call.turn >= evidence.last_request]
    if not turns:
        return None
    return Judgement(Outcome.RESOLVED, f"The last request led to changes in turn {turns[-1]} and no error came after.")


def was_answered(evidence: Evidence) -> Judgement | None:
    if evidence.changes or not evidence.answer:
        return None
    turn = evidence.answer[-1].turn
    return Judgement(Outcome.INFORMATIONAL, f"The last request was answered in turn {turn} and nothing was changed.")


RULES: tuple[Rule, ...] = (
    nothing_was_asked,
    two_people_talked,
    user_broke_it_off,
    user_was_not_content,
    was_handed_over,
    stopped_at_work,
    nobody_answered,
    tests_failed_last,
    waits_for_the_user,
    was_refused,
    failed_at_the_end,
    only_questions_were_asked,
    was_reported_done,
    user_was_content,
    something_was_changed,
    was_answered,
)


def _short_of(evidence: Evidence, rationale: str) -> Judgement:
    """Something is missing: `partial` if anything was achieved before, `unresolved` if nothing was."""
    return Judgement(Outcome.PARTIAL if evidence.changes else Outcome.UNRESOLVED, rationale)


def _reported(evidence: Evidence) -> Statement | None:
    """Where the last answer says that something came to be."""
    return next((one for one in evidence.answer if says_done(one)), None)


def _only_asked(evidence: Evidence) -> bool:
    return bool(evidence.requests) and all(request.is_question for request in evidence.requests)


def _announces(last: Statement) -> bool:
    """Whether a statement says what the agent is about to do."""
    is_open = last.text.endswith(":") or words().opens("narrates", last.text)
    return is_open and words().says("about_to", last.text)


def _waits(one: Statement) -> bool:
    known = words()
    return (known.says("asks", one.text) or one.text.endswith("?")) and not known.says("offers_more", one.text)


def _first(said: Sequence[Statement], name: str) -> Statement | None:
    return next((one for one in said if words().says(name, one.text)), None)


def _spelled(tool: str | None) -> str:
    return (tool or "").replace("_", " ")


def _quoted(one: Statement) -> str:
    return f"“{shortened(one.text, _QUOTE).rstrip('.')}”"
