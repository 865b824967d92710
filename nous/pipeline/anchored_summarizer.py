"""A session's anchored summary made anew, by a model where there is one, and without where it fails."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from nous.domain.anchored_summary import Anchor, AnchoredSummary, AnchoredSummarySection
from nous.domain.episode import Tier, Tokens
from nous.domain.events import SessionEnded, SessionEvent
from nous.domain.scope import Matter
from nous.domain.session_state import not_ahead
from nous.domain.summary_input import Passage
from nous.excerpt import Windows
from nous.llm.base import (
    AnswerUnusable,
    Failure,
    Model,
    ModelMisconfigured,
    ModelPaused,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    Question,
)
from nous.llm.state import Tally
from nous.llm.structured_output import Reading, ask
from nous.summary.anchored import response
from nous.summary.anchored.base import SummarizerError, Trouble
from nous.summary.anchored.heuristic import anchored_from
from nous.summary.anchored.retention import kept
from nous.summary.heuristic.record import SessionRecord
from nous.summary.llm.json_recovery import object_in, summary_in
from nous.summary.llm.prompt import Prompt
from nous.transcript.model import Transcript

_NAME = "anchored_summary"
_TROUBLE = {
    Failure.TIMEOUT: Trouble.TIMEOUT,
    Failure.TRANSPORT: Trouble.TRANSPORT,
    Failure.QUOTA: Trouble.TRANSPORT,
    Failure.PARSE: Trouble.PARSE,
    Failure.OTHER: Trouble.OTHER,
}
_FAILED = (ModelTimeout, ModelUnreachable, ModelPaused, ModelRefused, ModelMisconfigured, AnswerUnusable)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """A summary made anew by a model, what that has cost, and how many lines it had left out and were put back."""

    summary: AnchoredSummary
    tokens: Tokens
    put_back: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummarizer:
    """A `Summarizer` that asks a model about *matter*."""

    model: Model
    prompt: Prompt
    tally: Tally
    matter: Matter

    def summarize(self, segments: Sequence[Passage], existing_summary: AnchoredSummary | None) -> AnchoredSummary:
        return self.renew(segments, existing_summary).summary

    def renew(self, segments: Sequence[Passage], existing_summary: AnchoredSummary | None) -> Renewal:
        """As `summarize`, with what it took. What the model leaves out of the existing summary is put back.

        Raises:
            SummarizerError: as `summarize` does.
        """
        before = existing_summary or AnchoredSummary.empty()
        question = Question(
            matter=self.matter,
            system=self.prompt.system,
            user=self.prompt.filled(transcript=response.told(existing_summary, segments)),
            name=_NAME,
            schema=response.schema(),
            most_tokens=self.prompt.most_tokens,
        )
        try:
            said = ask(self.model, question, _reading({one.id for one in before.sections}), tally=self.tally)
        except _FAILED as error:
            raise SummarizerError(_TROUBLE[error.failure], str(error)) from error
        new = AnchoredSummary(said.value, iteration=before.iteration + 1)
        summary, put_back = kept(before, new)
        if put_back:
            log.warning("what the model left out was put back", model=self.model.id, lines=len(put_back))
        return Renewal(summary=summary, tokens=said.tokens, put_back=len(put_back))


def _reading(known: Collection[str]) -> Reading[tuple[AnchoredSummarySection, ...]]:
    """How an answer is read: its sections, as far as they are *known*; others were not asked for."""

    def read(text: str, /, *, is_whole: bool, coerce: bool) -> tuple[AnchoredSummarySection, ...]:
        del is_whole, coerce  # what is not whole does not close, and nothing is coerced
        return tuple(section for section in response.read(object_in(summary_in(text))) if section.id in known)

    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchorer:
    """Makes anchors of transcripts. *excerpts* is what a model sees of what is new; without *model* nobody is asked.

    A compaction does not wait: where the model fails, the summary is made without it, and what the model has missed is
    shown to it the next time.
    """

    excerpts: Callable[[Transcript], Windows]
    prompt: Prompt
    clock: Callable[[], datetime]
    model: Model | None = None
    tally: Tally | None = None

    def next(
        self, transcript: Transcript, previous: Anchor | None, *, event: SessionEvent, matter: Matter
    ) -> Anchor | None:
        """The anchor of *transcript* that takes the place of *previous*; None where nothing is new.

        A transcript that is shorter than what the previous one was made from is an older one, and brings nothing new.
        """
        if previous and (transcript.digest == previous.digest or transcript.bytes <= previous.bytes):
            return None
        bare = Anchor(
            scope=event.scope,
            agent_id=event.agent_id,
            session_id=event.session_id,
            summary=previous.summary if previous else AnchoredSummary.empty(),
            digest=transcript.digest,
            entries=len(transcript.entries),
            bytes=transcript.bytes,
            event_id=event.id,
            at=_said_at(event, transcript, self.clock()),
            tier=Tier.EXTRACTIVE,
            seen_by_model=previous.seen_by_model if previous else 0,
        )
        if self.model is None or self.tally is None:
            return self._by_itself(bare, transcript, start=previous.entries if previous else 0)
        summarizer = ModelSummarizer(
            model=self.model,
            prompt=self.prompt,
            tally=self.tally,
            matter=matter,
        )
        try:
            return self._by_model(bare, transcript, summarizer)
        except SummarizerError as error:
            log.warning("the anchored summary is made without the model", failure=error.kind, reason=str(error))
            made = self._by_itself(bare, transcript, start=previous.entries if previous else 0)
            return replace(made, made_do=str(error))

    def _by_itself(self, bare: Anchor, transcript: Transcript, *, start: int) -> Anchor:
        return replace(bare, summary=anchored_from(_from(transcript, start), bare.summary))

    def _by_model(self, bare: Anchor, transcript: Transcript, summarizer: ModelSummarizer) -> Anchor:
        """What the model makes of all that it has not seen, a window after the other; they count as one iteration."""
        summary, tokens, put_back = bare.summary, Tokens(), 0
        for window in self.excerpts(_from(transcript, bare.seen_by_model)).windows:
            renewal = summarizer.renew(window.excerpt.passages, summary)
            summary, tokens, put_back = renewal.summary, tokens + renewal.tokens, put_back + renewal.put_back
        return replace(
            bare,
            summary=replace(_with_files(summary, transcript), iteration=bare.summary.iteration + 1),
            tier=Tier.LLM,
            model=summarizer.model.id,
            prompt_version=self.prompt.version,
            tokens=tokens,
            put_back=put_back,
            seen_by_model=bare.entries,
        )


def _said_at(event: SessionEvent, transcript: Transcript, now: datetime) -> datetime:
    """When the last of *transcript* was said; where it tells no times, when the session was published."""
    ended_at = event.ended_at if isinstance(event, SessionEnded) else None
    return not_ahead(transcript.ended_at or ended_at or event.time, now)


def _with_files(summary: AnchoredSummary, transcript: Transcript) -> AnchoredSummary:
    """*summary* with every file that the session wrote to: that is known without a model."""
    files = "\n".join(f"- {path}" for path in SessionRecord(transcript).files)
    return kept(AnchoredSummary.of({"files_touched": files}), summary)[0]


def _from(transcript: Transcript, start: int) -> Transcript:
    """*transcript* from its entry number *start* on, counted from 0."""
    return replace(transcript, entries=transcript.entries[start:])
