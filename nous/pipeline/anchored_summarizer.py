"""Compute a session's updated rolling summary from new entries: by LLM, else by heuristics."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

import structlog

from nous.domain.anchored_summary import (
    LABELS,
    AnchoredSummary,
    AnchoredSummarySection,
    StoredAnchoredSummary,
    label_of,
)
from nous.domain.episode import Tier, Tokens
from nous.domain.errors import BadInput
from nous.domain.events import SessionEnded, SessionEvent
from nous.domain.scope import CacheSubject
from nous.domain.session_state import not_ahead
from nous.domain.summary_input import Segment, SummaryInput
from nous.excerpt import Windows
from nous.llm.base import FAILURES, Failure, Model, Question
from nous.llm.state import UsageCounters
from nous.llm.structured_output import ask
from nous.summary.anchored import FailureKind, SummarizerError
from nous.summary.anchored.heuristic import anchored_from
from nous.summary.anchored.retention import kept, lines_of
from nous.summary.heuristic.record import SessionRecord
from nous.summary.llm.json_recovery import object_in, summary_in
from nous.summary.llm.prompt import PromptTemplate, fenced
from nous.summary.llm.response import text_of
from nous.summary.llm.source_index import SourceIndex
from nous.summary.llm.vetting import QuoteVetting, Sorting, Vetting
from nous.text.sentences import TICKS
from nous.transcript.model import Transcript

_NAME = "anchored_summary"
_PROSE = frozenset({"intent", "current_state"})  # sections that may be running text; the others are lists by convention
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,9}[.)])\s")
# Marks that a text could imitate the headings and the end of the notes with.
_STRUCTURE = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]|</?)")

_ASKED = {
    "intent": "What the user wants of the session, with every constraint. One per item.",
    "decisions": "What was decided or learned, each with its reason.",
    "files_touched": "Paths of files that were written, one per item.",
    "pending_tasks": "What is left to do.",
    "current_state": "Where the work stands now.",
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredSummarizer:
    """Maintain the anchored summaries of sessions; without *model*, all are heuristic.

    *excerpts* returns the windows of a transcript that a model reads. If the model fails, the summary is made without
    it, since a compaction does not wait, and the next update shows the model what it has missed.
    """

    excerpts: Callable[[Transcript], Windows]
    prompt: PromptTemplate
    clock: Callable[[], datetime]
    model: Model | None = None
    counters: UsageCounters | None = None

    def next(
        self,
        transcript: Transcript,
        previous: StoredAnchoredSummary | None,
        *,
        event: SessionEvent,
        matter: CacheSubject,
    ) -> StoredAnchoredSummary | None:
        """Return the summary of *transcript* that replaces *previous*; None if nothing is new."""
        if previous and (transcript.digest == previous.digest or transcript.bytes <= previous.bytes):
            return None  # a shorter transcript is an older one
        ended_at = event.ended_at if isinstance(event, SessionEnded) else None
        bare = StoredAnchoredSummary(
            scope=event.scope,
            agent_id=event.agent_id,
            session_id=event.session_id,
            summary=previous.summary if previous else AnchoredSummary.empty(),
            digest=transcript.digest,
            entries=len(transcript.entries),
            bytes=transcript.bytes,
            event_id=event.id,
            at=not_ahead(transcript.ended_at or ended_at or event.time, self.clock()),
            tier=Tier.EXTRACTIVE,
            seen_by_model=previous.seen_by_model if previous else 0,
        )
        if self.model and self.counters:
            try:
                return self._by_model(bare, transcript, self.model, self.counters, matter)
            except SummarizerError as error:
                log.warning("anchored_summary.model_fallback", failure=error.kind, reason=str(error))
                bare = replace(bare, made_do=str(error))
        news = _from(transcript, previous.entries if previous else 0)
        return replace(bare, summary=vetted(anchored_from(news, bare.summary), QuoteVetting(news), known=bare.summary))

    def _by_model(
        self,
        bare: StoredAnchoredSummary,
        transcript: Transcript,
        model: Model,
        counters: UsageCounters,
        matter: CacheSubject,
    ) -> StoredAnchoredSummary:
        """Update with all unseen entries, by window, as one iteration. Raises `SummarizerError`."""
        summary, tokens = bare.summary, Tokens()
        for window in self.excerpts(_from(transcript, bare.seen_by_model)).windows:
            question = self._question(window.excerpt.segments, summary, matter)
            try:
                said = ask(model, question, _read, counters=counters)
            except FAILURES as error:
                kind = Failure.TRANSPORT if error.failure is Failure.QUOTA else error.failure
                raise SummarizerError(FailureKind(kind), str(error)) from error
            vetting = Vetting(SourceIndex(SummaryInput(windows=(tuple(window.excerpt.segments),))))
            summary, put_back = kept(summary, vetted(AnchoredSummary(said.value), vetting, known=summary))
            if put_back:
                log.warning("anchored_summary.lines_restored", model=model.id, lines=len(put_back))
            tokens += said.tokens
        return replace(
            bare,
            summary=replace(_with_files(summary, transcript), iteration=bare.summary.iteration + 1),
            tier=Tier.LLM,
            model=model.id,
            prompt_version=self.prompt.version,
            tokens=tokens,
            seen_by_model=bare.entries,
        )

    def _question(self, segments: Sequence[Segment], summary: AnchoredSummary, matter: CacheSubject) -> Question:
        return Question(
            matter=matter,
            system=self.prompt.system,
            user=self.prompt.filled(transcript=user_message(summary, segments)),
            name=_NAME,
            schema=schema(),
            most_tokens=self.prompt.most_tokens,
        )


def vetted(summary: AnchoredSummary, vetting: Sorting, *, known: AnchoredSummary) -> AnchoredSummary:
    """Return *summary* without lines that *vetting* holds back and *known* does not have."""
    before = set(known.to_prompt_text().splitlines())

    def sound(content: str) -> str:
        lines = content.splitlines()
        return "\n".join(
            each for each in lines if each in before or not (vetting.objection(each) or vetting.doubt(each))
        )

    sections = tuple(replace(section, content=sound(section.content)) for section in summary.sections)
    return replace(summary, sections=sections, token_estimate=0)


def _read(text: str, /, *, is_whole: bool, coerce: bool) -> tuple[AnchoredSummarySection, ...]:
    del is_whole, coerce  # truncated JSON does not close and fails to parse, and nothing is coerced
    return read_sections(object_in(summary_in(text)))


def _with_files(summary: AnchoredSummary, transcript: Transcript) -> AnchoredSummary:
    """Return *summary* with all files that the session wrote to, which needs no model."""
    files = "\n".join(f"- {path}" for path in SessionRecord(transcript).files)
    return kept(AnchoredSummary.of({"files_touched": files}), summary)[0]


def _from(transcript: Transcript, start: int) -> Transcript:
    return replace(transcript, entries=transcript.entries[start:])


def schema() -> dict[str, Any]:
    texts = {"type": "array", "items": {"type": "string"}}
    sections = {id_: {**texts, "description": asked} for id_, asked in _ASKED.items()}
    return {"type": "object", "properties": sections, "required": list(sections), "additionalProperties": False}


def read_sections(value: Mapping[str, Any]) -> tuple[AnchoredSummarySection, ...]:
    """Return the sections; a missing one is blank. Raises `BadInput`, worded for the model."""
    if not any(value.get(id_) for id_ in LABELS):
        raise BadInput(f"The answer says nothing in any of its sections; write {', '.join(LABELS)}.")
    return tuple(AnchoredSummarySection(id_, label_of(id_), _content(id_, value.get(id_))) for id_ in LABELS)


def user_message(previous: AnchoredSummary | None, segments: Sequence[Segment]) -> str:
    """Return the summary so far and the news, each in a fence it cannot close."""
    so_far = fenced([Segment(previous.to_prompt_text() if previous else "")], name="notes")
    return f"The summary so far:\n{so_far}\n\nNew since then:\n{fenced(segments)}"


def _content(id_: str, said: object) -> str:
    """Return *said* as Markdown: a prose section's only text as it is, anything else as bullets."""
    items = cast("list[object]", said) if isinstance(said, list) else [said]
    texts = [_STRUCTURE.sub("", text) for each in items if (text := text_of(each))]
    if id_ in _PROSE and len(texts) == 1:
        return texts[0]
    lines = texts if len(texts) > 1 else [line for text in texts for line in lines_of(text)]
    return "\n".join(line if _BULLET.match(line) or TICKS in line else _bullet(line) for line in lines)


def _bullet(text: str) -> str:
    return f"- {text.strip()}".replace("\n", "\n  ")
