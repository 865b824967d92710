"""`nous excerpt`: what survives of a session under a budget."""

import sys
from collections.abc import Iterator, Sequence

import click
import orjson

from nous.cli.reading import named, warn_of_damage
from nous.errors import BadInput
from nous.excerpt import BUDGET, Excerpt, Manifest, Record, Unit, Windows, windows
from nous.excerpt.strategies import names
from nous.tokens import estimate
from nous.transcript import read_transcript
from nous.transcript.refusal import refusal

_SHOWN_IDS = 3


@click.command()
@click.argument("path", metavar="PATH|SESSION")
@click.option(
    "--budget",
    default=BUDGET,
    type=click.IntRange(min=1),
    show_default=True,
    metavar="N",
    help="Marks and labels counted.",
)
@click.option("--unit", type=click.Choice(["chars", "tokens"]), default="chars", show_default=True)
@click.option(
    "--windows", "most", type=click.IntRange(min=1), metavar="N", help="See a long session in up to N windows."
)
@click.option("--strategy", default="default", show_default=True, metavar="S", help=f"One of {', '.join(names())}.")
@click.option("--format", "name", metavar="F", help="Read it as this format instead of looking what it is.")
@click.option("--manifest", is_flag=True, help="Print what was kept, cut and dropped, and why, instead of the text.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print text and manifest as JSON: an object, or a list of windows."
)
def excerpt(
    path: str, budget: int, unit: Unit, most: int | None, *, strategy: str, name: str | None, **form: bool
) -> None:
    """Show what survives of a session under a budget, in order, with a mark for every gap.

    PATH may be packed with gzip, or - for standard input; SESSION is the id of a session that qbit keeps. A budget of
    tokens is kept by an estimate. A session that says more than four budgets fills several windows. Settings are for
    workers, and not looked at here.
    """
    transcript = read_transcript(sys.stdin.buffer if path == "-" else path, format=name)
    if not transcript.entries:
        raise BadInput(f"{named(path)} {refusal(transcript)}")
    warn_of_damage(transcript, path)
    found = windows(transcript, budget, most=most or 1, strategy=strategy, unit=unit)
    for note in _notes(found, most):
        click.echo(f"nous: {note}", err=True)
    excerpts = [window.excerpt for window in found.windows]
    if form["as_json"]:
        values = [_as_value(each) for each in excerpts]
        click.echo(orjson.dumps(values if most else values[0], option=orjson.OPT_INDENT_2))
    elif form["manifest"]:
        click.echo("\n".join(_accounts(excerpts)))
    else:
        click.echo("\n\n".join(each.text for each in excerpts))


def _notes(found: Windows, most: int | None) -> Iterator[str]:
    """What whoever reads the excerpt has to know and cannot see in it."""
    if most and found.wanted > len(found.windows):
        yield f"it would fill {found.wanted} windows; in {len(found.windows)}, less of it is kept"


def _as_value(found: Excerpt) -> dict[str, object]:
    """*found* as JSON: its text, length, digest and manifest."""
    return {"text": found.text, "chars": found.chars, "digest": found.digest, "manifest": _plain(found.manifest)}


def _plain(manifest: Manifest) -> dict[str, object]:
    records = {name: [record._asdict() for record in getattr(manifest, name)] for name in ("kept", "cut", "dropped")}
    return {"strategy": manifest.strategy, "budget": manifest.budget, "unit": manifest.unit, **records}


def _accounts(excerpts: Sequence[Excerpt]) -> Iterator[str]:
    for number, found in enumerate(excerpts, start=1):
        part = f"part {number} of {len(excerpts)}: " if len(excerpts) > 1 else ""
        yield from (f"{part}{line}" if not at else line for at, line in enumerate(_account(found)))


def _account(found: Excerpt) -> Iterator[str]:
    manifest = found.manifest
    length = f"{found.chars} characters" if manifest.unit == "chars" else f"about {estimate(found.text)} tokens"
    yield f"{length} for a budget of {manifest.budget} {manifest.unit}, by the strategy {manifest.strategy}"
    yield f"  {'what':<11} {'shown':>7} {'of':>10}  {'score':>7}  {'why':<34} entries"
    for heading, records in (("kept", manifest.kept), ("cut", manifest.cut), ("dropped", manifest.dropped)):
        yield f"{heading}: {len(records)}"
        yield from (_line(record) for record in records)


def _line(record: Record) -> str:
    score = f"{record.score:g}" if record.score else "-"
    shown = f"{record.shown:>7} of {record.chars:>7}"
    return f"  {record.role:<11} {shown}  {score:>7}  {record.reason:<34} {_ids(record.entries)}"


def _ids(entries: Sequence[str]) -> str:
    more = f" and {len(entries) - _SHOWN_IDS} more" if len(entries) > _SHOWN_IDS else ""
    return f"{', '.join(entries[:_SHOWN_IDS])}{more}"
