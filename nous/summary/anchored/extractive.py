"""An anchored summary without a model, in the session's own words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, takewhile

from nous.actions import actions_of, written_files
from nous.brief import Passage
from nous.episode import Outcome
from nous.language import words
from nous.secrets import looks_secret
from nous.summary.anchored.keeping import kept
from nous.summary.anchored.model import AnchoredSummary
from nous.summary.anchored.segments import transcript_of
from nous.summary.evidence import Evidence
from nous.summary.facts import choices, preferences
from nous.summary.lessons import lessons, name_in, standing_alone
from nous.summary.outcome import Judgement, judge
from nous.summary.rules import orders
from nous.summary.statements import Statement, shortened
from nous.summary.threads import open_threads
from nous.transcript.model import Entry, Kind, Transcript

_LONGEST = 400
"""Characters of a request."""

_LONGEST_ANSWER = _LONGEST_VERDICT = 240

_LONGEST_LINE = 900
"""Characters of any line. An answer that asks lists what there is to choose from."""

_OPENING = 12
"""Statements of a message that are looked at; what follows belongs to a pasted document."""

_SUBSTANCE = 4
"""Words of a report that says what was done."""

_ENDS = (".", "!", "?", ":", ";", ",")
_WORD = re.compile(r"[\w'-]+")
_MOST_REPORTS = 5
_MOST_COMMITS = 5
_SHORT = frozenset({Outcome.PARTIAL, Outcome.UNRESOLVED})


class ExtractiveSummarizer:
    """The summarizer that is always there: no model, no state, no error."""

    def summarize(self, segments: Sequence[Passage], existing_summary: AnchoredSummary | None) -> AnchoredSummary:
        return anchored_from(transcript_of(segments), existing_summary)


def anchored_from(transcript: Transcript, previous: AnchoredSummary | None = None) -> AnchoredSummary:
    """*previous* with what *transcript* adds, which may be the new turns or the session from its beginning.

    Where nothing was said, *previous* stays as it is but for its `iteration`.
    """
    before = previous or AnchoredSummary.empty()
    evidence = Evidence(transcript)
    if not (evidence.said or evidence.actions):
        return replace(before, iteration=before.iteration + 1)
    judgement = judge(evidence)
    new = AnchoredSummary.of(
        {
            "intent": _listed(_asked(evidence)),
            "decisions": _listed(_decided(evidence)),
            "files_touched": _listed(_files(evidence)),
            "pending_tasks": _listed(_pending(evidence, judgement)),
            "current_state": _listed(_state(evidence, judgement)),
        },
        iteration=before.iteration + 1,
    )
    return kept(before, new)[0]


def _asked(evidence: Evidence) -> Iterator[str]:
    """What the user said in each turn, but for courtesies: corrections and names matter as much as requests."""
    for _, said in groupby(evidence.requests, key=lambda one: one.turn):
        told = [one for one in takewhile(_is_human, said) if not (looks_secret(one.text) or _only_agrees(one))]
        if told:
            yield _in_short(told[:_OPENING])


def _is_human(one: Statement) -> bool:
    """Whether a person wrote it, and no program in a person's place."""
    return not one.text.startswith(("{", "<"))


def _only_agrees(one: Statement) -> bool:
    """Whether it says yes to what was said before, and nothing beside."""
    if one.is_question or name_in(one.text) or not words().opens("courtesy", one.text):
        return False
    common = words().sets["stopwords"] | words().sets["general"] | words().sets["courtesy"]
    return len(set(_WORD.findall(one.text.lower())) - common) <= 1


def _in_short(said: Sequence[Statement]) -> str:
    """As many of *said* as there is room for, those that ask for something first, in their order."""
    asking = sorted(said, key=lambda one: not (one.is_question or words().opens("wish", one.text)))
    lengths = accumulate(len(one.text) + 1 for one in asking)
    chosen = {id(one) for one, length in zip(asking, lengths, strict=True) if length <= _LONGEST} or {id(asking[0])}
    return " ".join(one.text for one in said if id(one) in chosen)


def _decided(evidence: Evidence) -> Iterator[str]:
    """The user's verdicts, rules, likings and choices by turn, and then what was learned, with the reason."""
    sources = (orders, preferences, choices)
    told = [(fact.turns, fact.text) for source in sources for fact in source(evidence)]
    told += [((entry.turn,), _verdict(entry, evidence)) for entry in evidence.transcript if _decides(entry)]
    yield from (text for _, text in sorted(told, key=lambda each: each[0]))
    if not evidence.is_conversation:
        yield from (standing_alone(one.text) for one in lessons(evidence.said))


def _decides(entry: Entry) -> bool:
    """Whether the user approved, rejected or answered something. A rejection without a reason counts as well."""
    return entry.kind is Kind.DECISION and entry.text.startswith(("Approved", "Rejected", "Answered"))


def _verdict(entry: Entry, evidence: Evidence) -> str:
    text = " ".join(_from_here(entry.text, evidence).split())
    return f"The user {text[:1].lower()}{shortened(text[1:], _LONGEST_VERDICT)}"


def _files(evidence: Evidence) -> Iterator[str]:
    """The files that were written to, in order."""
    actions = actions_of(evidence.transcript)
    for call in evidence.changes:
        yield from (_from_here(path, evidence) for path in written_files(actions[call.id]))


def _from_here(text: str, evidence: Evidence) -> str:
    """*text* with paths below the working directory as they are seen from there."""
    here = (evidence.transcript.header.cwd or "").rstrip("/")
    return text.replace(f"{here}/", "") if here else text


def _pending(evidence: Evidence, judgement: Judgement) -> Iterator[str]:
    """What was left open; if something is missing and nobody said what, the last request."""
    threads = [thread for thread in open_threads(evidence, judgement) if thread != judgement.rationale]
    yield from threads
    asked = list(_asked(evidence))
    if judgement.outcome in _SHORT and asked and not threads:
        yield asked[-1]


def _state(evidence: Evidence, judgement: Judgement) -> Iterator[str]:
    """How it ended and why, and what was last reported, answered, tested and committed."""
    yield f"{judgement.outcome.capitalize()}. {judgement.rationale}"
    reports = [one for one in evidence.reports if len(one.text.split()) >= _SUBSTANCE][-_MOST_REPORTS:]
    for one in reports:
        if one.text.rstrip(".") not in judgement.rationale:
            yield f"Reported in turn {one.turn}: {one.text}"
    is_told = reports and reports[-1].turn >= evidence.last_request and judgement.outcome not in _SHORT
    if evidence.answer and not is_told:
        waits = any(one.is_question for one in evidence.answer)
        yield f"Last answer: {shortened(_run_together(evidence.answer), _LONGEST_LINE if waits else _LONGEST_ANSWER)}"
    if evidence.tests:
        run = evidence.tests[-1]
        yield f"Last test run: `{run.command}` {'passed' if run.passed else 'failed'}."
    for subject, _ in evidence.commits[-_MOST_COMMITS:]:
        yield f"Committed “{subject}”."


def _run_together(said: Iterable[Statement]) -> str:
    return " ".join(one.text if one.text.endswith(_ENDS) else f"{one.text};" for one in said).rstrip(";")


def _listed(said: Iterable[str]) -> str:
    """*said* as bullets, none twice and none with a secret."""
    bullets = (f"- {shortened(' '.join(one.split()), _LONGEST_LINE)}" for one in said if not looks_secret(one))
    return "\n".join(dict.fromkeys(bullets))
