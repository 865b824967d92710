"""`nous search-turns`: search the turns of one session."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from urllib.parse import unquote

import click

from nous.app.container import build
from nous.app.memory import embedder
from nous.cli.framework import App
from nous.cli.lookup import episode_of
from nous.cli.output import print_json, say
from nous.domain.errors import BadInput, NotFound
from nous.domain.scope import Scope
from nous.retrieval.query import asked
from nous.retrieval.turns import TurnHit, TurnPlace, in_one_row, recall_turns
from nous.text.sanitize import one_line, shortened
from nous.transcript import group_into_turns, parse_transcript, read_transcript
from nous.transcript.load import located, split_sessions
from nous.transcript.render.turns import TurnText

_LONGEST = 300
"""Characters of a turn that are shown at most."""


@click.command()
@click.argument("query")
@click.argument("source", metavar="PATH|SESSION")
@click.option("--scope", default="default", help="The session's scope: project, agent/project or tenant/agent/project.")
@click.option("--limit", default=5, type=click.IntRange(min=1), show_default=True, help="Show at most this many turns.")
@click.option(
    "--since-turn",
    type=click.IntRange(min=0),
    metavar="N",
    help="Leave out turn N and later, which are still in context.",
)
@click.option("--format", "name", metavar="F", help="Read it as this format instead of detecting it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def recall(
    app: App,
    query: str,
    source: str,
    *,
    scope: str,
    limit: int,
    since_turn: int | None,
    name: str | None,
    as_json: bool,
) -> None:
    """Search the turns of a session by words, by meaning and by the files they touched.

    PATH may be packed, or - for standard input. SESSION is the id, or an id prefix, of a session that was published
    from a file, or the id of one that qbit keeps. `--since-turn` leaves out the turns that the caller still sees; turns
    that a compaction has removed are found. In a file of several sessions, all are searched.
    """
    if not query.strip():
        raise BadInput("the query is empty: say what to look for")
    turns, places = in_one_row(_sessions(source if source == "-" else _located(source, scope, app), name))
    if not turns:
        raise BadInput(f"{source} has no turns to search: no message in it was answered")
    if since_turn is not None and len({place.session for place in places.values()}) > 1:
        raise BadInput(f"--since-turn counts the turns of one session, and {source} holds several")
    first, last = turns[0].number, turns[-1].number
    if since_turn is not None and since_turn <= first:
        raise BadInput(f"--since-turn {since_turn} leaves no turn to search: the first is turn {first}")
    embed = embedder(app.settings).embed
    question = asked(query, embed)
    in_context = range(last + 1 if since_turn is None else since_turn, last + 1)
    hits = recall_turns(question, turns, embed=embed, in_context=in_context, limit=limit)
    if question.lacks:
        say(f"nous: found by words and files alone: {question.lacks}", err=True)
    if as_json:
        print_json([{**asdict(hit), **places[hit.turn]._asdict()} for hit in hits])
    else:
        say("\n".join(_turn_text(hit, places[hit.turn]) for hit in hits) or "nothing was found")


def _sessions(source: str | Path, name: str | None) -> Iterator[tuple[str | None, Sequence[TurnText]]]:
    """Yield the turns of each session in *source*, with its id if there are several.

    Raises:
        NotFound, BadInput: as `read_transcript` does.
    """
    if source == "-":
        yield None, group_into_turns(read_transcript(sys.stdin.buffer, format=name))
        return
    path = Path(source)
    parts = tuple(split_sessions(path)) if path.is_file() else ()
    for part in parts:
        yield part.id, group_into_turns(parse_transcript(part.content, format=name))
    if not parts:
        yield None, group_into_turns(read_transcript(path, format=name))


def _located(source: str, scope: str, app: App) -> Path:
    """Return the file *source*, or the file of the session *source*. Raises as `located` does."""
    try:
        return located(source)
    except (NotFound, BadInput) as error:
        no_file = error
    try:
        episode = episode_of(source, build(app.settings), Scope.parse(scope))
    except NotFound as error:
        raise NotFound(f"{no_file}; {error}") from None
    if episode.dataref is None or not episode.dataref.startswith("file://"):
        raise NotFound(f"session {episode.session_id} came without a file: give the path of its transcript")
    path = located(Path(unquote(episode.dataref.removeprefix("file://"), errors="surrogateescape")))
    say(f"nous: session {episode.session_id}, from {one_line(str(path))}", err=True)
    return path


def _turn_text(hit: TurnHit, place: TurnPlace) -> str:
    session = f"session {place.session} " if place.session else ""
    return f"{session}turn {place.turn}  by {'; by '.join(hit.found_by)}\n  {shortened(hit.text, _LONGEST)}"
