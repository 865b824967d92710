"""Print, excerpt or search the turns of a transcript; list transcript formats."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, BinaryIO

import click

from nous.cli.framework import App, format_option, json_option, limit_option
from nous.cli.output import fitted, note, render, table
from nous.domain.errors import BadInput
from nous.excerpt import Excerpt
from nous.excerpt.strategies import names
from nous.text.token_estimate import estimate
from nous.transcript import Transcript, build_summarizer_input, group_into_turns, known_readers, read_transcript
from nous.transcript.load import damage, refusal
from nous.transcript.parsing.turns import EXTRAS
from nous.transcript.render.terminal import render as view
from nous.transcript.render.terminal import transcript_as_json

_NUMBER = click.IntRange(min=1)
_FATES = ("kept", "cut", "dropped")
_ITEM = {"fate": "fate", "role": "what", "shown": "shown", "chars": "of", "reason": "why", "entries": "entries"}


def _stream_of(source: str) -> str | BinaryIO:
    return sys.stdin.buffer if source == "-" else source


def _warn_of_damage(transcript: Transcript, source: str) -> None:
    if reason := damage(transcript.skipped):
        note(f"{'standard input' if source == '-' else source}: {reason}; what comes before the damage is shown")


@click.command()
@click.argument("path", metavar="PATH|SESSION")
@click.option("--budget", type=_NUMBER, metavar="N", help="Size, marks included.  [default: that of workers]")
@click.option("--unit", type=click.Choice(["chars", "tokens"]), help="Its unit.  [default: that of workers]")
@click.option("--windows", "most", type=_NUMBER, metavar="N", help="Show a long session in up to N windows.")
@click.option("--strategy", metavar="S", help=f"One of {', '.join(names())}.  [default: that of workers]")
@format_option
@click.option("--manifest", is_flag=True, help="Print what was kept, cut and dropped, and why, instead of the text.")
@json_option
@click.make_pass_decorator(App, ensure=True)
def excerpt(app: App, path: str, most: int | None, **how: Any) -> None:
    """Show the excerpt of a session that fits a budget, in order, with a mark for every gap.

    PATH may be packed with gzip, or - for standard input. SESSION is the id of a session that qbit keeps. Options
    replace the settings of workers. JSON has the text and the manifest: one object, or a list of windows.
    """
    from nous.app.from_settings import excerpts  # noqa: PLC0415 (the other commands here need no settings)

    transcript = read_transcript(_stream_of(path), format=how["format_"])
    if not transcript.entries:
        raise BadInput(f"{'standard input' if path == '-' else path} {refusal(transcript)}")
    _warn_of_damage(transcript, path)
    given = {name: how[name] for name in ("budget", "unit", "strategy") if how[name]}
    found = excerpts(app.settings)(transcript, most=most or 1, **given)
    if most and found.wanted > len(found.windows):
        note(f"it would fill {found.wanted} windows; in {len(found.windows)}, less of it is kept")
    parts = [window.excerpt for window in found.windows]
    objects = [_as_object(each) for each in parts]
    texts = _accounts(parts) if how["manifest"] else ("\n\n[next window]\n\n".join(each.text for each in parts),)
    render(objects if most else objects[0], texts, as_json=how["as_json"])


def _as_object(found: Excerpt) -> dict[str, object]:
    manifest = found.manifest
    records = {name: [record._asdict() for record in getattr(manifest, name)] for name in _FATES}
    budget = {"strategy": manifest.strategy, "budget": manifest.budget, "unit": manifest.unit}
    return {"text": found.text, "chars": found.chars, "digest": found.digest, "manifest": {**budget, **records}}


def _accounts(excerpts: Sequence[Excerpt]) -> Iterator[str]:
    for number, found in enumerate(excerpts, start=1):
        manifest = found.manifest
        part = f"part {number} of {len(excerpts)}: " if len(excerpts) > 1 else ""
        length = f"{found.chars} characters" if manifest.unit == "chars" else f"about {estimate(found.text)} tokens"
        yield f"{part}{length} for a budget of {manifest.budget} {manifest.unit}, by the strategy {manifest.strategy}"
        yield table(({"fate": fate, **each._asdict()} for fate in _FATES for each in getattr(manifest, fate)), _ITEM)


_STYLES = "Style of that text: today's, that of 2025, or with results that name the request they answer."


@click.command()
@click.argument("source", metavar="PATH|SESSION")
@format_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@click.option("--summarizer", is_flag=True, help="Print the input of summarizers, in the form of qbit.")
@click.option("--style", type=click.Choice(["current", "2025", "paired"]), default="current", help=_STYLES)
@click.option("--with", "include", multiple=True, type=click.Choice(sorted(EXTRAS)), help="Show entries of this kind.")
def transcript(source: str, format_: str | None, include: tuple[str, ...], style: str, **form: bool) -> None:
    """Show a session: its turns, calls, errors and decisions, and what was skipped.

    PATH may be packed with gzip or Zstandard, or - for standard input. SESSION is the id of a session that qbit keeps.
    `nous dev formats` lists the formats.
    """
    warn = partial(_warn_of_damage, source=source)
    if form["summarizer"]:
        how: Any = {"style": "2025" if style == "2025" else "current", "paired": style == "paired", "look": warn}
        click.echo(build_summarizer_input(_stream_of(source), format=format_, **how), nl=False)
        return
    found = read_transcript(_stream_of(source), format=format_, include=include)
    warn(found)
    if form["as_json"]:
        click.echo(transcript_as_json(found), nl=False)
    else:
        for line in view(found):
            click.echo(line)


@click.command()
@json_option
def formats(*, as_json: bool) -> None:
    """List the supported formats."""
    known = sorted(known_readers())
    render(known, known, as_json=as_json)


@click.command()
@click.argument("query")
@click.argument("source", metavar="PATH|SESSION")
@limit_option(5)
@click.option("--since-turn", type=int, metavar="N", help="Leave out turn N and later, which are still in context.")
@format_option
@json_option
@click.pass_obj
def search_turns(app: App, query: str, source: str, *, limit: int, since_turn: int | None, **form: Any) -> None:
    """Search the turns of a session by words, by meaning and by the files they touched.

    PATH may be packed, or - for standard input. SESSION is the id of a session that qbit keeps.
    """
    from nous.app.memory import embedder  # noqa: PLC0415 (the other commands here need no settings)
    from nous.retrieval.query import asked  # noqa: PLC0415
    from nous.retrieval.turns import recall_turns  # noqa: PLC0415

    if not query.strip():
        raise BadInput("the query is empty: say what to look for")
    turns = group_into_turns(read_transcript(_stream_of(source), format=form["format_"]))
    if not turns:
        raise BadInput(f"{source} has no turns to search: no message in it was answered")
    last = turns[-1].number
    embed = embedder(app.settings).embed
    question = asked(query, embed)
    in_context = range(last + 1 if since_turn is None else since_turn, last + 1)
    hits = recall_turns(question, turns, embed=embed, in_context=in_context, limit=limit)
    if question.lacks:
        note(f"found by words and files alone: {question.lacks}")
    lines = (f"turn {hit.turn}  by {'; by '.join(hit.found_by)}\n  {fitted(hit.text, beside=2)}" for hit in hits)
    render(map(asdict, hits), lines, as_json=form["as_json"], empty="nothing was found")
