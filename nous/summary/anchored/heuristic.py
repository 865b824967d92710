"""An anchored summary without a model, in the session's own words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from nous.domain.anchored_summary import AnchoredSummary
from nous.domain.episode import Outcome
from nous.domain.summary_input import Passage
from nous.redaction.secrets import looks_secret
from nous.summary.anchored.retention import kept
from nous.summary.heuristic.lessons import MOST, distinct, found_out
from nous.summary.heuristic.outcome import Judgement, judge, open_threads
from nous.summary.heuristic.record import SessionRecord, Turn
from nous.summary.heuristic.report import lead
from nous.summary.heuristic.sentences import is_go_ahead, joined
from nous.summary.heuristic.statements import rules
from nous.summary.segments import transcript_of
from nous.text.sentences import shortened
from nous.transcript.model import Entry, Kind, Transcript

_REQUEST_CHARS = 400
_ANSWER_CHARS = _VERDICT_CHARS = 240
_LONGEST_LINE = 900
"""Characters of any line. An answer that asks lists what there is to choose from."""

_BRIEF_SENTENCES = 4
"""Sentences of a pasted or forwarded text that stand for it."""

_MOST_REPORTS = _MOST_COMMITS = 5
_SHORT = frozenset({Outcome.PARTIAL, Outcome.UNRESOLVED})


class ExtractiveSummarizer:
    """The summarizer that is always there: no model, no state, no error."""

    def summarize(self, segments: Sequence[Passage], existing_summary: AnchoredSummary | None) -> AnchoredSummary:
        return anchored_from(transcript_of(segments), existing_summary)


def anchored_from(transcript: Transcript, previous: AnchoredSummary | None = None) -> AnchoredSummary:
    """Return *previous* with what *transcript* adds: the new turns, or the session from its beginning.

    Where nothing was said, *previous* stays as it is but for its `iteration`.
    """
    before = previous or AnchoredSummary.empty()
    record = SessionRecord(transcript)
    if not (record.actions or any(turn.asked or turn.brief or turn.said for turn in record.turns)):
        return replace(before, iteration=before.iteration + 1)
    judgement = judge(record)
    new = AnchoredSummary.of(
        {
            "intent": _listed(_asked(record)),
            "decisions": _listed(_decided(record)),
            "files_touched": _listed(_from_here(path, record) for path in record.files),
            "pending_tasks": _listed(_pending(record, judgement)),
            "current_state": _listed(_state(record, judgement)),
        },
        iteration=before.iteration + 1,
    )
    return kept(before, new)[0]


def _asked(record: SessionRecord) -> Iterator[str]:
    """Return what the user said in each turn, courtesies and mere agreement left out."""
    for turn in record.turns:
        if told := _request(turn):
            yield told


def _request(turn: Turn) -> str:
    said = [one.text for one in (*turn.asked, *turn.brief[:_BRIEF_SENTENCES])]
    told = [text for text in said if not (is_go_ahead(text) or looks_secret(text) or text.startswith(("{", "<")))]
    return shortened(" ".join(told), _REQUEST_CHARS)


def _decided(record: SessionRecord) -> Iterator[str]:
    """Return the user's rules, likings and verdicts by turn, then what was learned."""
    told = [(fact.turns, fact.text) for fact in rules(record)]
    told += [((entry.turn,), _verdict(entry, record)) for entry in record.entries if _decides(entry)]
    yield from (text for _, text in sorted(told, key=lambda each: each[0]))
    yield from distinct(found_out(record), MOST)


def _decides(entry: Entry) -> bool:
    """Return whether the user approved, rejected or answered something, with a reason or without."""
    return entry.kind is Kind.DECISION and entry.text.startswith(("Approved", "Rejected", "Answered"))


def _verdict(entry: Entry, record: SessionRecord) -> str:
    text = " ".join(_from_here(entry.text, record).split())
    return f"The user {text[:1].lower()}{shortened(text[1:], _VERDICT_CHARS)}"


def _from_here(text: str, record: SessionRecord) -> str:
    """Return *text* with paths below the working directory as they are seen from there."""
    here = (record.transcript.header.cwd or "").rstrip("/")
    return text.replace(f"{here}/", "") if here else text


def _pending(record: SessionRecord, judgement: Judgement) -> Iterator[str]:
    """Return what is open, and if something is missing, the last request."""
    yield from (thread for thread in open_threads(record, judgement) if thread != judgement.rationale)


def _state(record: SessionRecord, judgement: Judgement) -> Iterator[str]:
    """Return how it ended and why, and what was last reported, tested and committed."""
    yield f"{judgement.outcome.capitalize()}. {judgement.rationale}"
    reported = [turn for turn in record.turns if turn.changes and lead(turn.report)]
    for turn in reported[-_MOST_REPORTS:]:
        told = joined([one.text for one in lead(turn.report)])
        yield f"Reported in turn {turn.number}: {shortened(told, _ANSWER_CHARS)}"
    if record.report and (not reported or record.report[0].turn > reported[-1].number or judgement.outcome in _SHORT):
        waits = any(one.is_question for one in record.report)
        told = joined([one.text for one in record.report])
        yield f"Last answer: {shortened(told, _LONGEST_LINE if waits else _ANSWER_CHARS)}"
    if record.runs:
        run = record.runs[-1]
        yield f"Last {run.purpose} run: `{run.command}` {'passed' if run.passed else 'failed'}."
    for subject, _ in record.commits[-_MOST_COMMITS:]:
        yield f"Committed “{subject}”."


def _listed(said: Iterable[str]) -> str:
    """Return *said* as bullets, none twice and none with a secret."""
    bullets = (f"- {shortened(' '.join(one.split()), _LONGEST_LINE)}" for one in said if not looks_secret(one))
    return "\n".join(dict.fromkeys(bullets))
