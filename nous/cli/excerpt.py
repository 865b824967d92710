"""`nous excerpt`: what survives of a session under a budget."""

import sys
from collections.abc import Iterator, Sequence

import click
import orjson

from nous.excerpt import BUDGET, Excerpt, Manifest, Record, Unit, windows
from nous.excerpt.strategies import names
from nous.transcript import read_transcript

_SHOWN_IDS = 3


@click.command()
@click.argument("path", metavar="PATH|SESSION")
@click.option("--budget", default=BUDGET, show_default=True, metavar="N", help="Marks and labels counted.")
@click.option("--unit", type=click.Choice(["chars", "tokens"]), default="chars", show_default=True)
@click.option(
    "--windows", "most", type=click.IntRange(min=1), metavar="N", help="See a long session in up to N windows."
)
@click.option("--strategy", default="default", show_default=True, metavar="S", help=f"One of {', '.join(names())}.")
@click.option("--format", "name", metavar="F", help="Read it as this format instead of looking what it is.")
@click.option("--manifest", is_flag=True, help="Print what was kept, cut and dropped, and why, instead of the text.")
@click.option("--json", "as_json", is_flag=True, help="Print text and manifest as a JSON object, one for each window.")
def excerpt(
    path: str, budget: int, unit: Unit, most: int | None, *, strategy: str, name: str | None, **form: bool
) -> None:
    """Show what survives of a session under a budget, in order, with a mark for every gap.

    PATH may be packed with gzip, or - for standard input; SESSION is the id of a session that qbit keeps. A budget of
    tokens is kept by an estimate. Settings are for workers, and not looked at here.
    """
    transcript = read_transcript(sys.stdin.buffer if path == "-" else path, format=name)
    found = windows(transcript, budget, most=most or 1, strategy=strategy, unit=unit)
    for number, window in enumerate(found.windows):
        if number:
            click.echo()
        click.echo(_shown(window.excerpt, **form))


def _shown(found: Excerpt, *, manifest: bool, as_json: bool) -> str | bytes:
    if as_json:
        return as_one_object(found)
    return "\n".join(_account(found)) if manifest else found.text


def as_one_object(found: Excerpt) -> bytes:
    """*found* as JSON: its text, length, digest and manifest."""
    return orjson.dumps(
        {"text": found.text, "chars": found.chars, "digest": found.digest, "manifest": _plain(found.manifest)},
        option=orjson.OPT_INDENT_2,
    )


def _plain(manifest: Manifest) -> dict[str, object]:
    records = {name: [record._asdict() for record in getattr(manifest, name)] for name in ("kept", "cut", "dropped")}
    return {"strategy": manifest.strategy, "budget": manifest.budget, "unit": manifest.unit, **records}


def _account(found: Excerpt) -> Iterator[str]:
    kept, cut, dropped = found.manifest.kept, found.manifest.cut, found.manifest.dropped
    manifest = found.manifest
    budget = f"a budget of {manifest.budget} {manifest.unit}"
    yield f"{found.chars} characters for {budget}, by the strategy {manifest.strategy}"
    for heading, records in (("kept", kept), ("cut", cut), ("dropped", dropped)):
        yield f"{heading}: {len(records)}"
        yield from (_line(record) for record in records)


def _line(record: Record) -> str:
    score = f"{record.score:g}" if record.score else "-"
    shown = f"{record.shown:>7} of {record.chars:>7}"
    return f"  {record.role:<10} {shown}  {score:>7}  {record.reason:<34} {_ids(record.entries)}"


def _ids(entries: Sequence[str]) -> str:
    more = f" and {len(entries) - _SHOWN_IDS} more" if len(entries) > _SHOWN_IDS else ""
    return f"{', '.join(entries[:_SHOWN_IDS])}{more}"
