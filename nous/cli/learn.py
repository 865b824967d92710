"""`nous facts learn`: learn candidate facts and print a verdict for each."""

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any, BinaryIO, cast
from uuid import uuid4, uuid5

import click
import orjson
from pydantic import TypeAdapter, ValidationError

from nous.app.container import Container, build
from nous.bus.base import Conflict
from nous.bus.tombstones import WasForgotten, form_name, session_name
from nous.cli.framework import BAD_INPUT, App
from nous.cli.input_files import opened
from nous.cli.lookup import knowledge_of
from nous.cli.output import counted, say
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact, Outcome, Summary, Trust
from nous.domain.errors import BadInput, Retryable
from nous.domain.event_codec import checked_name
from nous.domain.events import NAMESPACE, EpisodeSummarized, Event, FactsUnembedded
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.embedding.base import MissingEmbedder
from nous.knowledge.candidate_filter import checked, mark_of
from nous.knowledge.decision import FactDecision
from nous.knowledge.events import announcements
from nous.knowledge.normalize import exact_form
from nous.summary.llm.response_repair import is_date
from nous.text.sanitize import one_line, shortened
from workers.fact_extractor import NAME

_REFUSALS = 1000

_SUMMARY_BY_HAND = Summary(
    title="Told by hand",
    summary="",
    key_points=(),
    outcome=Outcome.INFORMATIONAL,
    outcome_rationale="It was told by hand.",
    topics=(),
)


class Teacher:
    """Ingests facts into one scope in the name of one session.

    Raises:
        BadInput: the session's name is invalid.
    """

    def __init__(self, container: Container, scope: Scope, session: str) -> None:
        self._container = container
        self._scope = scope
        self._session = checked_name(session, "the id of a session")
        self._clock = container.context.clock

    def let_back(self, candidates: Iterable[CandidateFact]) -> None:
        """Lift the suppression of forgotten *candidates*, and of the session."""
        lift = self._container.tombstones.lift
        for each in candidates:
            lift(self._scope, session_name(self._scope, self._session))
            lift(self._scope, form_name(mark_of(self._scope, exact_form(each.text))))

    def teach(self, candidates: Sequence[CandidateFact]) -> Sequence[FactDecision]:
        """Judge and store *candidates*, all or none; skip those that are forgotten meanwhile.

        Raises:
            WasForgotten: the session was forgotten.
            Retryable: other writers kept changing the scope.
        """
        cause = self._cause(candidates)
        source = Source(
            episode_id=cause.episode_id, event_id=cause.id, session_id=self._session, turns=(), said_at=self._clock()
        )
        for _ in range(_REFUSALS):
            self._check_session()
            learned = self._container.context.fact_learner.ingest(candidates, scope=self._scope, source=source)
            if not learned.append.rows:
                return learned.fact_decisions
            at = self._clock()
            events: list[Event] = [*announcements(cause, learned.fact_decisions, by=NAME, at=at)]
            if learned.waits:
                events.append(FactsUnembedded.after(cause, by=NAME, index=len(events), at=at))
            effects = Effects(writes=(learned.append,), events=tuple(events))
            if not isinstance(self._container.bus.apply(effects), Conflict):
                return learned.fact_decisions
        raise Retryable(f"other writers keep changing the facts of {self._scope}; try again")

    def _check_session(self) -> None:
        tombstone = self._container.tombstones.find(self._scope, session_name(self._scope, self._session))
        if tombstone:
            raise WasForgotten(
                f"session {self._session} of scope {self._scope} was forgotten on {tombstone.at:%Y-%m-%d %H:%M}; "
                "use --again to accept it"
            )

    def _cause(self, candidates: Sequence[CandidateFact]) -> EpisodeSummarized:
        """Return the event that causes the facts, with an id derived from session and words.

        Facts entered by hand count as an episode of their own. The same words of the same session are one cause.
        """
        words = "\n".join(exact_form(candidate.text) for candidate in candidates)
        event_id = uuid5(NAMESPACE, f"told\n{self._scope}\n{self._session}\n{words}")
        return EpisodeSummarized(
            id=event_id,
            time=self._clock(),
            source="nous/facts-learn",
            scope=self._scope,
            agent_id="default",
            session_id=self._session,
            trace_id=event_id,
            episode_id=uuid5(NAMESPACE, f"told\n{self._scope}\n{self._session}"),
            version="",
            summary=_SUMMARY_BY_HAND,
        )


_SHOULD_BE = {
    "dataclass_type": "should be a text or an object",
    "missing": "is missing",
    "tuple_type": "should be a list of numbers",
    "int_parsing": "should be a whole number",
}
"""Plain words for pydantic's Python terms, by type of error."""


def candidate(said: object) -> CandidateFact:
    """Return *said*, an object with the fields of a `CandidateFact`, as a valid candidate.

    Unknown fields are ignored.

    Raises:
        BadInput: it cannot be learned, or a field is misspelt.
    """
    for name in cast("dict[str, Any]", said) if isinstance(said, dict) else ():
        meant = () if name in _fields() else get_close_matches(name, _fields(), n=1, cutoff=0.75)
        if meant:
            raise BadInput(f"{name}: is no field of a fact; {meant[0]} is")
    try:
        found = _adapter().validate_python(said)
    except ValidationError as error:
        raise BadInput(_in_plain_words(error)) from None
    if found.event_date is not None and not is_date(found.event_date):
        date = shortened(found.event_date, 40)
        raise BadInput(f"event_date: {date!r} is no day, month or year in ISO 8601: 2026-03-01, 2026-03 or 2026")
    return checked(found)


@cache
def _adapter() -> TypeAdapter[CandidateFact]:
    """Return the validator of candidates, which is slow to build."""
    return TypeAdapter(CandidateFact)


@cache
def _fields() -> tuple[str, ...]:
    return tuple(CandidateFact.__dataclass_fields__)


def _in_plain_words(error: ValidationError) -> str:
    """Describe the first problem of a line, and the field that has it."""
    first = error.errors(include_input=False, include_url=False)[0]
    place, kind = ".".join(map(str, first["loc"])), first["type"]
    return f"{place or 'the line'}: {_SHOULD_BE.get(kind, first['msg']).replace('Input should', 'should')}"


_AT_ONCE = 64
_FORM = """"The API is on port 8080" in quotes, or {"text": "...", "subject": "..."}"""


@dataclass(frozen=True, slots=True)
class CandidateLine:
    """Line of the input: a candidate, or a complaint about the line."""

    number: int
    candidate: CandidateFact | None
    complaint: str = ""


@click.command()
@click.argument("source", default="-", metavar="[FILE]")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--session", help="Id of the session that says so. Facts that it repeats add nothing.")
@click.option("--again", is_flag=True, help="Learn forgotten facts again, and accept a forgotten session.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@click.pass_context
def learn(ctx: click.Context, source: str, *, scope: str, session: str | None, again: bool, as_json: bool) -> None:
    """Learn candidate facts from FILE or standard input, and print a verdict for each.

    A line is a JSON string, or an object with `text` and, if known, category, subject, confidence, turns and
    event_date. The verdict is new, known, richer, supersedes, duplicate (a possible one: see `facts duplicates`) or
    linked. It comes with the reason, the id of the fact that now says it, and the other fact's id. A line that cannot
    be used is reported, and the others are learned.
    """
    app: App = ctx.obj
    has_complaints = has_input = False
    if source == "-" and sys.stdin.isatty():
        say(f"nous: reading facts from this terminal, one a line, until Ctrl-D: {_FORM}", err=True)
    with opened(source) as stream:
        container, within = build(app.settings), Scope.parse(scope)
        teacher = Teacher(container, within, f"cli-{uuid4().hex[:8]}" if session is None else session)
        for batch in _batches(_lines(stream), _AT_ONCE):
            has_input = True
            if again:
                teacher.let_back([line.candidate for line in batch if line.candidate])
            lines = _wanted(batch, container.context.suppressed(within))
            for line in lines:
                if line.complaint:
                    has_complaints = True
                    say(one_line(f"nous: line {line.number}: {line.complaint}"), err=True)
            candidates = [line.candidate for line in lines if line.candidate]
            for fact_decision in teacher.teach(candidates):
                if as_json:
                    click.echo(orjson.dumps(_as_object(fact_decision), default=str))
                else:
                    say(_in_words(fact_decision))
    for warning in _warnings(container, within, has_input=has_input):
        say(f"nous: {warning}", err=True)
    ctx.exit(BAD_INPUT if has_complaints else 0)


def _warnings(container: Container, scope: Scope, *, has_input: bool) -> Iterator[str]:
    """Yield warnings: no input, or facts without a vector that could not be compared."""
    if not has_input:
        yield "no facts were given"
        return
    with knowledge_of(container, scope) as knowledge:
        count = sum(1 for _ in knowledge.without_vector())
        embedder = knowledge.embedder_id
    if count:
        embedder = container.settings.embedder if embedder == MissingEmbedder.id else embedder
        has = "has" if count == 1 else "have"
        facts = f"{counted(count, 'fact')} of the scope {has} no vector by {embedder}"
        yield f"{facts} and could not be compared: nous reembed"


def _wanted(lines: Sequence[CandidateLine], forgotten: Collection[str]) -> Sequence[CandidateLine]:
    """Return *lines* with a complaint in place of each *forgotten* candidate."""
    return [
        CandidateLine(line.number, None, "text: it was forgotten on request; --again learns it all the same")
        if line.candidate and exact_form(line.candidate.text) in forgotten
        else line
        for line in lines
    ]


def _lines(source: BinaryIO) -> Iterator[CandidateLine]:
    for number, raw in enumerate(source, start=1):
        if raw.strip():
            try:
                yield CandidateLine(number, _candidate(raw))
            except BadInput as error:
                yield CandidateLine(number, None, str(error))


def _candidate(raw: bytes) -> CandidateFact:
    try:
        said: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg}; write {_FORM}") from None
    return candidate(_by_the_user(said))


def _by_the_user(said: Any) -> Any:
    """Return *said* as an object. Input by hand is the user's word, unless it sets `trust`."""
    fields = {"text": said} if isinstance(said, str) else said
    return {"trust": Trust.USER, **cast("dict[str, Any]", fields)} if isinstance(fields, dict) else fields


def _batches(lines: Iterator[CandidateLine], size: int) -> Iterator[list[CandidateLine]]:
    while batch := list(islice(lines, size)):
        yield batch


def _as_object(fact_decision: FactDecision) -> dict[str, Any]:
    similarity = getattr(fact_decision.verdict, "similarity", None)
    return {
        "verdict": fact_decision.verdict.name,
        "reason": fact_decision.verdict.reason,
        "fact_id": fact_decision.fact.id,
        "other_fact_id": fact_decision.other_id,
        "similarity": similarity,
        "text": fact_decision.text,
    }


def _in_words(fact_decision: FactDecision) -> str:
    name, said = fact_decision.verdict.name, shortened(fact_decision.text, 90)
    other = f"  [{fact_decision.other_id}]" if fact_decision.other_id not in {None, fact_decision.fact.id} else ""
    return f"{name:<10} {said}  {fact_decision.fact.id}\n{'':<10} {one_line(fact_decision.verdict.reason)}{other}"
