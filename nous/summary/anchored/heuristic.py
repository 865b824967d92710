"""Update a session's rolling summary from its transcript by rules, without a model."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nous.domain.anchored_summary import AnchoredSummary
from nous.domain.episode import Outcome, Trust
from nous.redaction.redactor import tells_secret
from nous.summary.anchored.retention import kept
from nous.summary.heuristic.lessons import MOST, found_out
from nous.summary.heuristic.outcome import Judgement, judge, open_threads
from nous.summary.heuristic.record import RecordedTurn, SessionRecord
from nous.summary.heuristic.report import lead
from nous.summary.heuristic.sentences import distinct, is_go_ahead, joined
from nous.summary.heuristic.statements import rules
from nous.text.sentences import shortened
from nous.transcript.model import Entry, Kind, Transcript

_REQUEST_CHARS = 400
_ANSWER_CHARS = _VERDICT_CHARS = 240
_LONGEST_LINE = 900  # the most characters of any line. An answer that asks lists the options
_BRIEF_SENTENCES = 4  # sentences that are quoted from a pasted or forwarded text
_MOST_REPORTS = _MOST_COMMITS = 5
_DECIDED = ("Approved", "Rejected", "Answered")
_SHORT = frozenset({Outcome.PARTIAL, Outcome.UNRESOLVED})


def anchored_from(transcript: Transcript, previous: AnchoredSummary | None = None) -> AnchoredSummary:
    """Return *previous* updated with *transcript*; without content, its iteration alone."""
    before = previous or AnchoredSummary.empty()
    record = SessionRecord(transcript)
    if not (record.actions or any(turn.asked or turn.brief or turn.said for turn in record.turns)):
        return replace(before, iteration=before.iteration + 1)
    judgement = judge(record)
    new = AnchoredSummary.of(
        {
            "intent": _listed(filter(None, map(_request, record.turns))),
            "decisions": _listed(_decided(record)),
            "files_touched": _listed(_from_here(path, record) for path in record.files),
            "pending_tasks": _listed(each for each in open_threads(record, judgement) if each != judgement.rationale),
            "current_state": _listed(_state(record, judgement)),
        },
        iteration=before.iteration + 1,
    )
    return kept(before, new)[0]


def _request(turn: RecordedTurn) -> str:
    said = [one.text for one in (*turn.asked, *turn.brief[:_BRIEF_SENTENCES])]
    texts = [text for text in said if not (is_go_ahead(text) or tells_secret(text) or text.startswith(("{", "<")))]
    return shortened(" ".join(texts), _REQUEST_CHARS)


def _decided(record: SessionRecord) -> Iterator[str]:
    """Yield the user's rules, preferences and verdicts by turn, then the lessons."""
    by_turn = [(fact.turns, fact.text) for fact in rules(record) if fact.trust is Trust.USER]
    decisions = (entry for entry in record.entries if entry.kind is Kind.DECISION)
    by_turn += [((each.turn,), _verdict(each, record)) for each in decisions if each.text.startswith(_DECIDED)]
    yield from (text for _, text in sorted(by_turn, key=lambda each: each[0]))
    yield from distinct(found_out(record), MOST)


def _verdict(entry: Entry, record: SessionRecord) -> str:
    text = " ".join(_from_here(entry.text, record).split())
    return f"The user {text[:1].lower()}{shortened(text[1:], _VERDICT_CHARS)}"


def _from_here(text: str, record: SessionRecord) -> str:
    here = (record.transcript.header.cwd or "").rstrip("/")
    return text.replace(f"{here}/", "") if here else text


def _state(record: SessionRecord, judgement: Judgement) -> Iterator[str]:
    yield f"{judgement.outcome.capitalize()}. {judgement.rationale}"
    reported = [turn for turn in record.turns if turn.changes and lead(turn.report)]
    for turn in reported[-_MOST_REPORTS:]:
        statements = joined([one.text for one in lead(turn.report)])
        yield f"Reported in turn {turn.number}: {shortened(statements, _ANSWER_CHARS)}"
    if record.report and (not reported or record.report[0].turn > reported[-1].number or judgement.outcome in _SHORT):
        waits = any(one.is_question for one in record.report)
        statements = joined([one.text for one in record.report])
        yield f"Last answer: {shortened(statements, _LONGEST_LINE if waits else _ANSWER_CHARS)}"
    if record.runs:
        run = record.runs[-1]
        yield f"Last {run.purpose} run: `{run.command}` {'passed' if run.passed else 'failed'}."
    for subject, _ in record.commits[-_MOST_COMMITS:]:
        yield f"Committed “{subject}”."


def _listed(said: Iterable[str]) -> str:
    bullets = (f"- {shortened(' '.join(one.split()), _LONGEST_LINE)}" for one in said if not tells_secret(one))
    return "\n".join(dict.fromkeys(bullets))
