"""`nous facts learn`: candidate facts in, a verdict for each out."""

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, cast
from uuid import uuid4

import click
import orjson

from nous.cli.candidate import candidate
from nous.cli.frame import BAD_INPUT, App
from nous.cli.knowing import knowledge_of
from nous.cli.reading import opened
from nous.cli.show import counted, say
from nous.cli.teaching import Teacher
from nous.embed.absent import Absent
from nous.episode import CandidateFact, Trust
from nous.errors import BadInput
from nous.learning.finding import Finding
from nous.learning.normalise import exact_form
from nous.readable import one_line, shortened
from nous.scope import Scope
from nous.wiring import World, build

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
