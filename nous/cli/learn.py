"""`nous facts learn`: candidate facts in, a verdict for each out."""

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

from nous.app import World, build
from nous.bus.base import Refused
from nous.bus.tombstones import WasForgotten, form_name, session_name
from nous.cli.framework import BAD_INPUT, App, opened
from nous.cli.lookup import knowledge_of
from nous.cli.output import counted, say
from nous.domain.effects import Effects
from nous.domain.episode import CandidateFact, Outcome, Summary, Trust
from nous.domain.errors import BadInput, Retryable
from nous.domain.event_codec import checked_name
from nous.domain.events import NAMESPACE, EpisodeSummarized, Event, FactsUnembedded
from nous.domain.fact import Source
from nous.domain.scope import Scope
from nous.embedding.base import Absent
from nous.facts.candidate_filter import checked, mark_of
from nous.facts.decision import Finding
from nous.facts.events import announcements
from nous.facts.normalize import exact_form
from nous.summary.llm.response_repair import is_date
from nous.text.sanitize import one_line, shortened
from workers.fact_extractor import NAME

_REFUSALS = 1000

_TOLD = Summary(
    title="Told by hand",
    summary="",
    key_points=(),
    outcome=Outcome.INFORMATIONAL,
    outcome_rationale="It was told by hand.",
    topics=(),
)


class Teacher:
    """Teaches one scope, as one session. Raises `BadInput` where no session can be called so."""

    def __init__(self, world: World, scope: Scope, session: str) -> None:
        self._world = world
        self._scope = scope
        self._session = checked_name(session, "the id of a session")
        self._clock = world.kit.clock

    def let_back(self, candidates: Iterable[CandidateFact]) -> None:
        """Let back what was forgotten of *candidates*, and the session if it was."""
        lift = self._world.tombstones.lift
        for each in candidates:
            lift(self._scope, session_name(self._scope, self._session))
            lift(self._scope, form_name(mark_of(self._scope, exact_form(each.text))))

    def teach(self, candidates: Sequence[CandidateFact]) -> Sequence[Finding]:
        """Judge and store *candidates*, all or none of them; what is forgotten meanwhile is passed over.

        Raises:
            WasForgotten: the session was.
            Retryable: others taught the same scope all the time.
        """
        cause = self._cause(candidates)
        source = Source(
            episode_id=cause.episode_id, event_id=cause.id, session_id=self._session, turns=(), said_at=self._clock()
        )
        for _ in range(_REFUSALS):
            self._check_session()
            lesson = self._world.kit.learner.teach(candidates, scope=self._scope, source=source)
            if not lesson.append.rows:
                return lesson.findings
            at = self._clock()
            events: list[Event] = [*announcements(cause, lesson.findings, by=NAME, at=at)]
            if lesson.waits:
                events.append(FactsUnembedded.after(cause, by=NAME, index=len(events), at=at))
            effects = Effects(writes=(lesson.append,), events=tuple(events))
            if not isinstance(self._world.bus.apply(effects), Refused):
                return lesson.findings
        raise Retryable(f"{self._scope} is being taught by others without a pause; try again")

    def _check_session(self) -> None:
        grave = self._world.tombstones.find(self._scope, session_name(self._scope, self._session))
        if grave:
            raise WasForgotten(
                f"session {self._session} of scope {self._scope} was forgotten on {grave.at:%Y-%m-%d %H:%M}; "
                "--again lets it back"
            )

    def _cause(self, candidates: Sequence[CandidateFact]) -> EpisodeSummarized:
        """What is told counts as an episode of its own. The same words of the same session are one cause."""
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
            summary=_TOLD,
        )


_SHOULD_BE = {
    "dataclass_type": "should be a text or an object",
    "missing": "is missing",
    "tuple_type": "should be a list of numbers",
    "int_parsing": "should be a whole number",
}
"""What a line has to be, where pydantic says it in Python's words, by its kinds of errors."""


def candidate(said: object) -> CandidateFact:
    """*said*, an object with the fields of a `CandidateFact`, as it is learned. Fields that a fact has not are let be.

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
        told = shortened(found.event_date, 40)
        raise BadInput(f"event_date: {told!r} is no day, month or year in ISO 8601: 2026-03-01, 2026-03 or 2026")
    return checked(found)


@cache
def _adapter() -> TypeAdapter[CandidateFact]:
    """It is slow to build."""
    return TypeAdapter(CandidateFact)


@cache
def _fields() -> tuple[str, ...]:
    return tuple(CandidateFact.__dataclass_fields__)


def _in_plain_words(error: ValidationError) -> str:
    """The first thing that is wrong with a line, and where in it."""
    first = error.errors(include_input=False, include_url=False)[0]
    place, kind = ".".join(map(str, first["loc"])), first["type"]
    return f"{place or 'the line'}: {_SHOULD_BE.get(kind, first['msg']).replace('Input should', 'should')}"


_AT_ONCE = 64
_FORM = """"The API is on port 8080" in quotes, or {"text": "...", "subject": "..."}"""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the input: a candidate, or what is wrong with it."""

    number: int
    candidate: CandidateFact | None
    complaint: str = ""


@click.command()
@click.argument("source", default="-", metavar="[FILE]")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--session", help="Who says so. The same facts said again by the same session add nothing.")
@click.option("--again", is_flag=True, help="Let back what was forgotten on request, and the session if it was.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@click.pass_context
def learn(ctx: click.Context, source: str, *, scope: str, session: str | None, again: bool, as_json: bool) -> None:
    """Learn candidate facts from FILE or standard input, and print a verdict for each.

    A line is a JSON text, or an object with `text` and, if known, category, subject, confidence, turns and event_date.
    The verdict is new, known, richer, supersedes, duplicate (a possible one: see `facts duplicates`) or linked, with
    the id of the fact that says it now, the reason, and the other fact's id. A line that cannot be used is reported;
    the others are learned all the same.
    """
    app: App = ctx.obj
    has_complaints = is_told = False
    if source == "-" and sys.stdin.isatty():
        say(f"nous: reading facts from this terminal, one a line, until Ctrl-D: {_FORM}", err=True)
    with opened(source) as stream:
        world, within = build(app.settings), Scope.parse(scope)
        teacher = Teacher(world, within, f"cli-{uuid4().hex[:8]}" if session is None else session)
        for batch in _batches(_lines(stream), _AT_ONCE):
            is_told = True
            if again:
                teacher.let_back([line.candidate for line in batch if line.candidate])
            lines = _wanted(batch, world.kit.forgotten(within))
            for line in lines:
                if line.complaint:
                    has_complaints = True
                    say(one_line(f"nous: line {line.number}: {line.complaint}"), err=True)
            candidates = [line.candidate for line in lines if line.candidate]
            for finding in teacher.teach(candidates):
                if as_json:
                    click.echo(orjson.dumps(_as_object(finding), default=str))
                else:
                    say(_in_words(finding))
    for warning in _warnings(world, within, is_told=is_told):
        say(f"nous: {warning}", err=True)
    ctx.exit(BAD_INPUT if has_complaints else 0)


def _warnings(world: World, scope: Scope, *, is_told: bool) -> Iterator[str]:
    """That nothing was told, or of how many facts a verdict could not take account."""
    if not is_told:
        yield "no facts were told"
        return
    with knowledge_of(world, scope) as knowledge:
        count = sum(1 for _ in knowledge.without_vector())
        embedder = knowledge.embedder_id
    if count:
        embedder = world.settings.embedder if embedder == Absent.id else embedder
        has = "has" if count == 1 else "have"
        facts = f"{counted(count, 'fact')} of the scope {has} no vector by {embedder}"
        yield f"{facts} and could not be compared: nous reembed"


def _wanted(lines: Sequence[Line], forgotten: Collection[str]) -> Sequence[Line]:
    """*lines*, with a complaint in place of what was *forgotten*."""
    return [
        Line(line.number, None, "text: it was forgotten on request; --again learns it all the same")
        if line.candidate and exact_form(line.candidate.text) in forgotten
        else line
        for line in lines
    ]


def _lines(source: BinaryIO) -> Iterator[Line]:
    for number, raw in enumerate(source, start=1):
        if raw.strip():
            try:
                yield Line(number, _candidate(raw))
            except BadInput as error:
                yield Line(number, None, str(error))


def _candidate(raw: bytes) -> CandidateFact:
    try:
        said: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg}; write {_FORM}") from None
    return candidate(_by_the_user(said))


def _by_the_user(said: Any) -> Any:
    """*said* as an object; what is told by hand is the user's word, unless it says otherwise."""
    told = {"text": said} if isinstance(said, str) else said
    return {"trust": Trust.USER, **cast("dict[str, Any]", told)} if isinstance(told, dict) else told


def _batches(lines: Iterator[Line], size: int) -> Iterator[list[Line]]:
    while batch := list(islice(lines, size)):
        yield batch


def _as_object(finding: Finding) -> dict[str, Any]:
    similarity = getattr(finding.verdict, "similarity", None)
    return {
        "verdict": finding.verdict.name,
        "reason": finding.verdict.reason,
        "fact_id": finding.fact.id,
        "other_fact_id": finding.other_id,
        "similarity": similarity,
        "text": finding.candidate.text,
    }


def _in_words(finding: Finding) -> str:
    name, said = finding.verdict.name, shortened(finding.candidate.text, 90)
    other = f"  [{finding.other_id}]" if finding.other_id not in {None, finding.fact.id} else ""
    return f"{name:<10} {said}  {finding.fact.id}\n{'':<10} {one_line(finding.verdict.reason)}{other}"
