"""`nous recall`: the turns of one session that answer a query."""

import sys
from dataclasses import asdict

import click

from nous.cli.frame import App
from nous.cli.show import print_json, shortened
from nous.recall.query import asked
from nous.recall.turns import TurnHit, recall_turns
from nous.transcript import group_into_turns, read_transcript
from nous.wiring import embedder

_SHOWN = 300


@click.command()
@click.argument("query")
@click.argument("source", metavar="PATH|SESSION")
@click.option("--limit", default=5, type=click.IntRange(min=1), show_default=True, help="At most so many turns.")
@click.option("--since-turn", type=click.IntRange(min=0), metavar="N", help="Turn N and later are still in context.")
@click.option("--format", "name", metavar="F", help="Read it as this format instead of looking what it is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def recall(
    app: App, query: str, source: str, *, limit: int, since_turn: int | None, name: str | None, as_json: bool
) -> None:
    """Find the turns of a session that answer a query: by words, by meaning and by the files they touched.

    PATH may be packed, or - for standard input; SESSION is the id of a session that qbit keeps. What `--since-turn`
    names is left out, as whoever asks still sees it; what a compaction has taken from view is found.
    """
    turns = group_into_turns(read_transcript(sys.stdin.buffer if source == "-" else source, format=name))
    last = turns[-1].number if turns else 0
    embed = embedder(app.settings).embed
    question = asked(query, embed)
    in_context = range(last + 1 if since_turn is None else since_turn, last + 1)
    hits = recall_turns(question, turns, embed=embed, in_context=in_context, limit=limit)
    if question.lacks:
        click.echo(f"nous: found by words and files alone: {question.lacks}", err=True)
    if as_json:
        print_json([asdict(hit) for hit in hits])
    else:
        click.echo("\n".join(map(_told, hits)) or "nothing was found")


def _told(hit: TurnHit) -> str:
    return f"turn {hit.turn}  by {'; by '.join(hit.found_by)}\n  {shortened(hit.text, _SHOWN)}"
