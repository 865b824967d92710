"""`nous transcript`: what a session file says."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from nous.cli.reading import warn_of_damage
from nous.transcript import build_summarizer_input, group_into_turns, read_transcript
from nous.transcript.model import Kind
from nous.transcript.reading.finishing import EXTRAS
from nous.transcript.view.as_json import transcript_as_json
from nous.transcript.view.render import render

_COLOURS: Mapping[str, Callable[[str], str]] = {
    "heading": partial(click.style, bold=True),
    "faint": partial(click.style, dim=True),
    Kind.USER: partial(click.style, fg="cyan", bold=True),
    Kind.TOOL_CALL: partial(click.style, dim=True),
    Kind.ERROR: partial(click.style, fg="red"),
    Kind.DECISION: partial(click.style, fg="yellow"),
    Kind.SUMMARY: partial(click.style, fg="magenta"),
}


@click.command()
@click.argument("source", metavar="PATH|SESSION")
@click.option("--format", "name", metavar="F", help="Read it as this format instead of looking what it is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, which can be read again.")
@click.option("--turns", is_flag=True, help="Print each turn as it is searched: words, and one line of calls.")
@click.option("--summarizer", is_flag=True, help="Print the text that summarizers are given, in the form of qbit.")
@click.option(
    "--style",
    type=click.Choice(["current", "2025", "paired"]),
    default="current",
    help="The spelling of that text: of today, of 2025, or with results that name the request they answer.",
)
@click.option(
    "--with", "include", multiple=True, type=click.Choice(sorted(EXTRAS)), help="Show also what is passed over."
)
@click.option("--base", type=click.Path(path_type=Path), help="Where sessions are looked up by id. [VT_TRANSCRIPT_DIR]")
def transcript(
    source: str,
    name: str | None,
    base: Path | None,
    include: tuple[str, ...],
    style: str,
    *,
    as_json: bool,
    turns: bool,
    summarizer: bool,
) -> None:
    """Show a session: its turns, calls, errors and decisions, and what was passed over.

    PATH may be packed with gzip or Zstandard, or - for standard input; SESSION is the id of a session that qbit keeps.
    `nous formats` lists the formats.
    """
    stream = sys.stdin.buffer if source == "-" else source
    warn = partial(warn_of_damage, source=source)
    if summarizer:
        how: Any = {"style": "2025" if style == "2025" else "current", "paired": style == "paired", "look": warn}
        text = build_summarizer_input(stream, base=base, format=name, **how)
        click.echo(text, nl=False)
        return
    found = read_transcript(stream, format=name, base=base, include=include)
    warn(found)
    if as_json:
        click.echo(transcript_as_json(found), nl=False)
    elif turns:
        click.echo("\n\n---\n\n".join(turn.text for turn in group_into_turns(found)))
    else:
        for line in render(found, paint=_paint):
            click.echo(line)


def _paint(text: str, role: str) -> str:
    return _COLOURS[role](text) if role in _COLOURS else text
