"""`nous excerpt`: what survives of a session under a budget."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click
import orjson

from nous.excerpt import BUDGET, Excerpt, Record, fit
from nous.excerpt.strategies import names
from nous.transcript import read_transcript

_SHOWN_IDS = 3


@click.command()
@click.argument("path", metavar="PATH|SESSION")
@click.option("--budget", default=BUDGET, show_default=True, metavar="N", help="Characters, marks and labels counted.")
@click.option("--strategy", default="default", show_default=True, metavar="S", help=f"One of {', '.join(names())}.")
@click.option("--format", "name", metavar="F", help="Read it as this format instead of looking what it is.")
@click.option("--manifest", is_flag=True, help="Print what was kept, cut and dropped, and why, instead of the text.")
@click.option("--json", "as_json", is_flag=True, help="Print text and manifest as one JSON object.")
def excerpt(path: str, budget: int, strategy: str, name: str | None, *, manifest: bool, as_json: bool) -> None:
    """Show what survives of a session under a budget, in order, with a mark for every gap.

    PATH may be packed with gzip, or - for standard input; SESSION is the id of a session that qbit keeps.
    """
    transcript = read_transcript(sys.stdin.buffer if path == "-" else path, format=name)
    found = fit(transcript, budget, strategy=strategy)
    if as_json:
        click.echo(as_one_object(found))
    elif manifest:
        for line in _account(found):
            click.echo(line)
    else:
        click.echo(found.text)


def as_one_object(found: Excerpt) -> bytes:
    """*found* as JSON: its text, length, digest and manifest."""
    return orjson.dumps(
        {"text": found.text, "chars": found.chars, "digest": found.digest, "manifest": asdict(found.manifest)},
        option=orjson.OPT_INDENT_2,
    )


def _account(found: Excerpt) -> Iterator[str]:
    kept, cut, dropped = found.manifest.kept, found.manifest.cut, found.manifest.dropped
    yield f"{found.chars} of {found.manifest.budget} characters by the strategy {found.manifest.strategy}"
    for heading, records in (("kept", kept), ("cut", cut), ("dropped", dropped)):
        yield f"{heading}: {len(records)}"
        yield from (_line(record) for record in records)


def _line(record: Record) -> str:
    return f"  {record.role:<10} {record.shown:>7} of {record.chars:>7}  {record.reason:<34} {_ids(record.entries)}"


def _ids(entries: Sequence[str]) -> str:
    more = f" and {len(entries) - _SHOWN_IDS} more" if len(entries) > _SHOWN_IDS else ""
    return f"{', '.join(entries[:_SHOWN_IDS])}{more}"
