"""How a session ended, judged from what it shows, with one sentence that says what the judgement rests on.

The rules are asked in order and the first that applies decides; each is one kind of evidence and cites the turns that
it stands in. Where none applies the outcome is `partial`, and the rationale says that it is unsure.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nous.episode import Outcome
from nous.language import words
from nous.summary.evidence import Evidence
from nous.summary.statements import Statement, says_done, shortened

_QUOTE = 110
_SUBSTANTIAL = 5
"""Statements of an answer that has told something besides its question."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """An outcome, the sentence that justifies it, and the turns that it rests on; `evidence` names their kind.

    There is at least one turn if the transcript has any. `is_sure` is false where no rule applied, or where nothing but
    the agent's word speaks for it.
    """

    outcome: Outcome
    rationale: str
    turns: tuple[int, ...] = ()
    evidence: str = ""
    is_sure: bool = True


Rule = Callable[[Evidence], Judgement | None]


def judge(evidence: Evidence) -> Judgement:
    """The outcome of a session."""
    found = next((judgement for rule in RULES if (judgement := rule(evidence))), None) or _unsure(evidence)
    return replace(found, turns=_existing(evidence, found.turns))


def nothing_was_asked(evidence: Evidence) -> Judgement | None:
    if evidence.requests or evidence.changes:
        return None
    text = "No request of a user is recorded, so there was nothing to resolve."
    return Judgement(Outcome.INFORMATIONAL, text, evidence="no request")


def two_people_talked(evidence: Evidence) -> Judgement | None:
    if not evidence.is_conversation:
        return None
    turns = evidence.transcript.turns
    text = f"Turns {turns[0].number} to {turns[-1].number} are a conversation in which nothing was asked to be done."
    return Judgement(Outcome.INFORMATIONAL, text, (turns[0].number, turns[-1].number), "conversation")


def user_broke_it_off(evidence: Evidence) -> Judgement | None:
    if not evidence.is_interrupted or evidence.last is None:
        return None
    turn = evidence.last.turn
    return _short_of(evidence, f"The user stopped the work in turn {turn} and nothing followed.", (turn,), "stop")


def user_was_not_content(evidence: Evidence) -> Judgement | None:
    complaint = _first(evidence.closing, "complaint")
    if complaint is None:
        return None
    text = f"The user's last words, in turn {complaint.turn}, were not content: {_quoted(complaint)}."
    return Judgement(Outcome.PARTIAL, text, (complaint.turn,), "closing words")


def user_put_it_off(evidence: Evidence) -> Judgement | None:
    last = [one for one in evidence.requests if one.turn == evidence.last_request and not one.is_question]
    words_of_delay = _first([*last, *evidence.closing], "postpones")
    if words_of_delay is None or any(call.turn >= words_of_delay.turn for call in evidence.changes):
        return None
    text = f"In turn {words_of_delay.turn} the user left it for another time: {_quoted(words_of_delay)}."
    return _short_of(evidence, text, (words_of_delay.turn,), "closing words")


def was_handed_over(evidence: Evidence) -> Judgement | None:
    turns = [call.turn for call, *_ in evidence.actions if words().says("handed_over", _spelled(call.tool))]
    if turns and turns[-1] >= evidence.last_request:
        text = f"In turn {turns[-1]} the matter was handed over to a person."
        return _short_of(evidence, text, (turns[-1],), "handover")
    wish = _first([one for one in evidence.requests if one.turn == evidence.last_request], "handed_over")
    if wish is None or evidence.answer or evidence.files:
        return None
    return _short_of(
        evidence, f"In turn {wish.turn} the user asked for a person: {_quoted(wish)}.", (wish.turn,), "handover"
    )


def stopped_at_work(evidence: Evidence) -> Judgement | None:
    if not evidence.answer or evidence.closing or not _announces(evidence.answer[-1]):
        return None
    last = evidence.answer[-1]
    if evidence.has_passed_since(last):
        return None
    text = f"The record stops in turn {last.turn} with work still to come: {_quoted(last)}."
    return _short_of(evidence, text, (last.turn,), "last words")


def nobody_answered(evidence: Evidence) -> Judgement | None:
    turn = evidence.last_request
    if evidence.answer or any(call.turn >= turn for call in evidence.changes):
        return None
    return _short_of(evidence, f"The request of turn {turn} was left without an answer.", (turn,), "no answer")


def tests_failed_last(evidence: Evidence) -> Judgement | None:
    if not evidence.tests or evidence.tests[-1].passed or evidence.tests[-1].turn < evidence.last_request:
        return None
    run = evidence.tests[-1]
    text = f"The last test run (`{shortened(run.command, 60)}`), in turn {run.turn}, failed."
    return Judgement(Outcome.PARTIAL, text, (run.turn,), "tests")


def waits_for_the_user(evidence: Evidence) -> Judgement | None:
    question = next((one for one in reversed(evidence.answer) if _waits(one)), None)
    if question is None or evidence.closing or _is_mere_offer(evidence, question):
        return None
    text = f"A question of turn {question.turn} was never answered: {_quoted(question)}."
    has_answered = len(evidence.answer) >= _SUBSTANTIAL or _reported(evidence) is not None
    judged = _short_of(evidence, text, (question.turn,), "unanswered question")
    return replace(judged, outcome=Outcome.PARTIAL) if has_answered else judged


def was_refused(evidence: Evidence) -> Judgement | None:
    """A request that a service declined is not met, however kindly the user takes it."""
    refusal = evidence.refusals[-1] if evidence.refusals else None
    if refusal is None and not (_reported(evidence) or _only_asked(evidence)):
        refusal = _first(evidence.answer, "unable")
    if refusal is None:
        return None
    text = f"In turn {refusal.turn} it turned out not to be possible: {_quoted(refusal)}."
    return _short_of(evidence, text, (refusal.turn,), "refusal")


def failed_at_the_end(evidence: Evidence) -> Judgement | None:
    failed = evidence.failed_last
    if failed is None or _reported(evidence):
        return None
    text = f"The last tool call of turn {failed.turn} failed and nothing reports that it was mended."
    return _short_of(evidence, text, (failed.turn,), "failed call")


def service_failed(evidence: Evidence) -> Judgement | None:
    failed = evidence.failed_changes[-1] if evidence.is_service and evidence.failed_changes else None
    if failed is None:
        return None
    text = f"The last {_spelled(failed.tool)} was tried in turn {failed.turn} and failed."
    return _short_of(evidence, text, (failed.turn,), "failed call")


def only_questions_were_asked(evidence: Evidence) -> Judgement | None:
    if evidence.changes or not _only_asked(evidence):
        return None
    turn = evidence.last_request
    text = f"Only questions were asked, the last of which was answered in turn {turn}."
    return Judgement(Outcome.INFORMATIONAL, text, (turn,), "questions")


def something_was_put_off(evidence: Evidence) -> Judgement | None:
    """What the agent itself says is left: the rest may be done, but not all that came up."""
    if not evidence.put_off or not evidence.changes:
        return None
    rest = evidence.put_off[-1]
    text = f"In turn {rest.turn} something was left for later: {_quoted(rest)}."
    return Judgement(Outcome.PARTIAL, text, (rest.turn,), "put off")


def was_reported_done(evidence: Evidence) -> Judgement | None:
    report = _reported(evidence)
    if report is None:
        return None
    thanks, tests = _first(evidence.closing, "thanks"), _passed_last(evidence)
    content = f", and in turn {thanks.turn} the user was content" if thanks else ""
    checked = f", and the last test run, in turn {tests}, passed" if tests is not None and not thanks else ""
    text = f"It was reported done in turn {report.turn} ({_quoted(report)}){content or checked}."
    support = thanks.turn if thanks else tests
    cited = (*_changed(evidence)[-1:], report.turn, *([] if support is None else [support]))
    kind = "report and closing words" if thanks else "report and tests" if checked else "report"
    is_sure = bool(thanks or evidence.changes or not evidence.actions)
    return Judgement(Outcome.RESOLVED, text, cited, kind, is_sure)


def user_was_content(evidence: Evidence) -> Judgement | None:
    thanks = _first(evidence.closing, "thanks")
    text = f"The user was content in turn {thanks.turn}: {_quoted(thanks)}." if thanks else ""
    return thanks and Judgement(Outcome.RESOLVED, text, (thanks.turn,), "closing words")


def something_was_changed(evidence: Evidence) -> Judgement | None:
    turns = [turn for turn in _changed(evidence) if turn >= evidence.last_request]
    if not turns:
        return None
    text = f"The last request led to changes in turn {turns[-1]} and no error came after."
    return Judgement(Outcome.RESOLVED, text, (turns[-1],), "changes")


def was_answered(evidence: Evidence) -> Judgement | None:
    if evidence.changes or not evidence.answer:
        return None
    turn = evidence.answer[-1].turn
    text = f"The last request was answered in turn {turn} and nothing was changed."
    return Judgement(Outcome.INFORMATIONAL, text, (turn,), "answer")


RULES: tuple[Rule, ...] = (
    nothing_was_asked,
    two_people_talked,
    user_broke_it_off,
    user_was_not_content,
    user_put_it_off,
    was_handed_over,
    stopped_at_work,
    nobody_answered,
    tests_failed_last,
    waits_for_the_user,
    was_refused,
    failed_at_the_end,
    service_failed,
    only_questions_were_asked,
    something_was_put_off,
    was_reported_done,
    user_was_content,
    something_was_changed,
    was_answered,
)


def _unsure(evidence: Evidence) -> Judgement:
    turn = evidence.last_request
    text = f"Unsure: nothing in turn {turn} shows whether the request was met."
    return Judgement(Outcome.PARTIAL, text, (turn,), "nothing", is_sure=False)


def _existing(evidence: Evidence, turns: Sequence[int]) -> tuple[int, ...]:
    """*turns* in order, each once, as far as the transcript has them; its last turn if it has none of them."""
    there = {entry.turn for entry in evidence.transcript}
    return tuple(sorted(there.intersection(turns))) or tuple(sorted(there)[-1:])


def _short_of(evidence: Evidence, rationale: str, turns: tuple[int, ...], kind: str) -> Judgement:
    """Something is missing: `partial` if anything was achieved before, `unresolved` if nothing was."""
    return Judgement(Outcome.PARTIAL if evidence.changes else Outcome.UNRESOLVED, rationale, turns, kind)


def _changed(evidence: Evidence) -> Sequence[int]:
    return [call.turn for call in evidence.changes]


def _passed_last(evidence: Evidence) -> int | None:
    """The turn of the last test run, if it passed."""
    return evidence.tests[-1].turn if evidence.tests and evidence.tests[-1].passed else None


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


def _is_mere_offer(evidence: Evidence, question: Statement) -> bool:
    """Whether a question offers what nobody asked for, after an answer to questions that changed nothing."""
    is_answer = not evidence.changes and _only_asked(evidence) and len(evidence.answer) > 1
    return is_answer and words().says("offers_work", question.text)


def _first(said: Sequence[Statement], name: str) -> Statement | None:
    return next((one for one in said if words().says(name, one.text)), None)


def _spelled(tool: str | None) -> str:
    return (tool or "").replace("_", " ")


def _quoted(one: Statement) -> str:
    return f"“{shortened(one.text, _QUOTE).rstrip('.')}”"
