"""`nous scopes`: list scopes with their directories, or move the memory of one into another."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click
import orjson

from nous.app.container import Container
from nous.app.services import eraser
from nous.cli.export_import import add_rows, announce, keep
from nous.cli.framework import App, CommandEntry, Frame, dry_run_option, json_option, yes_option
from nous.cli.lookup import ALL, current_count
from nous.cli.output import counted, make_sure, note, render_table, say
from nous.domain.episode import Episode, episode_id
from nous.domain.errors import BadInput, NotFound
from nous.domain.fact import Learned, Row, occurrences
from nous.domain.scope import Scope
from nous.knowledge.decision import fact_id
from nous.services.erasure_targets import EraseScope
from nous.services.notes_folder import NotesFolder
from nous.services.workspace import working_directory, workspace_of
from nous.store.base import NO_VECTORS
from nous.store.export_format import ExportedRecords, exported, line, read

COMMANDS = (CommandEntry("move", "nous.cli.scopes:move", "Move the memory of one scope into another."),)


@click.group(cls=Frame, table=COMMANDS, invoke_without_command=True)
@json_option
@click.pass_context
def scopes(ctx: click.Context, *, as_json: bool) -> None:
    """List scopes: sessions with an episode, current facts, and the directories of which each is the scope.

    A scope is the memory of one user or project, as --scope names it. Without it, a command uses the scope of the
    working directory. Nothing is read or merged across scopes.
    """
    if ctx.invoked_subcommand:
        return
    app = ctx.ensure_object(App)
    memory, known = app.container.memory, defaultdict[Scope, list[str]](list)
    for folder, scope in NotesFolder(app.settings.data_dir / "context").roots().items():
        known[scope].append(folder)
    found: list[dict[str, Any]] = []
    for scope in memory.episodes.scopes():
        rows = memory.facts.read(scope, embedder=NO_VECTORS).rows
        last = max((row.fact.learned_at for row in rows if isinstance(row, Learned)), default=None)
        counts = {"sessions": len(memory.episodes.recent(scope, ALL)), "facts": current_count(rows)}
        found.append({"scope": str(scope), **counts, "last_learned": last, "directories": known.get(scope, [])})
    empty = "there is no scope yet: nous publish creates one"
    shown = ("sessions", "facts", "last_learned", "scope")
    if not as_json:
        found = [{**row, "directories": ", ".join(row["directories"])} for row in found]
        note(_here(app))
    render_table(found, (*shown, *(("directories",) if known else ())), as_json=as_json, empty=empty)


def _here(app: App) -> str:
    directory = working_directory()
    rule = "the setting scope" if app.settings.scope else workspace_of(Path(directory or "/")).rule
    return f"this directory has the scope {app.scope}, by {rule}"


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@dry_run_option
@yes_option
@click.pass_obj
def move(app: App, source: str, target: str, *, dry_run: bool, yes: bool) -> None:
    """Move the episodes and facts of the scope FROM into the scope TO, and erase FROM.

    Ids of episodes and facts change, since they belong to a scope. Left out are earlier editions of episodes, summaries
    of sessions that go on, and the inputs from which a model could regenerate an episode. If this breaks off, run it
    again: nothing is stored twice.
    """
    old, new = Scope.parse(source), Scope.parse(target)
    if old == new:
        raise BadInput(f"{old} would be moved into itself")
    container = app.container
    episodes, rows = moved(container, old, new)
    if not episodes and not rows:
        raise NotFound(f"there is nothing in {old}; `nous scopes` lists all scopes")
    facts = sum(isinstance(row, Learned) for row in rows)
    what = f"{counted(len(episodes), 'episode')} and {counted(facts, 'fact')} from {old} to {new}"
    if dry_run:
        say(f"would move {what}")
        return
    if not yes:
        make_sure(f"Move {what}, and erase {old}?", otherwise="nothing was moved")
    kept = sum(keep(container, episode) for episode in episodes)
    announce(container, episodes)
    added, _ = add_rows(container, new, rows) if rows else (Counter[type](), None)
    eraser(container).erase(EraseScope(scope=old))
    say(f"moved {what}; {kept} and {added[Learned]} were new there")


def moved(container: Container, old: Scope, new: Scope) -> tuple[Sequence[Episode], Sequence[Row]]:
    """Return the episodes and rows of *old* as they would be in *new*, with the ids that they would have there."""
    memory = container.memory
    episodes = memory.episodes.recent(old, limit=ALL)
    rows = [*exported(memory.facts.read(old, embedder=NO_VECTORS).rows)]
    sources = [each.source for each in occurrences(rows)]
    sessions = {each.session_id for each in (*episodes, *sources)}
    ids = {str(episode_id(old, name)): str(episode_id(new, name)) for name in sessions}
    for row in rows:
        if isinstance(row, Learned):
            own = episode_id(new, row.fact.source.session_id)
            ids[str(row.fact.id)] = str(fact_id(own, row.fact.text))
    records = [_in_scope(record, old, new, ids) for record in (*reversed(episodes), *rows)]
    return [each for each in records if isinstance(each, Episode)], [
        each for each in records if not isinstance(each, Episode)
    ]


def _in_scope(record: Episode | Row, old: Scope, new: Scope, ids: Mapping[str, str]) -> Episode | Row:
    """Return *record* with other ids and scope: in its JSON, each is a text or object of its own."""
    written = orjson.loads(line(ExportedRecords(old, record)))
    scopes = {"tenant": old.tenant, "agent": old.agent, "project": old.project}
    replaced = {"tenant": new.tenant, "agent": new.agent, "project": new.project}

    def put(value: Any) -> Any:
        if value == scopes:
            return replaced
        if isinstance(value, dict):
            return {key: put(inner) for key, inner in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [put(inner) for inner in cast("list[Any]", value)]
        return ids.get(value, value) if isinstance(value, str) else value

    return read(orjson.dumps({**put(written), "scope": str(new)})).record
