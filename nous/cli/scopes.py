"""`nous scopes`: list scopes with their directories, or move the memory of one into another."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import click

from nous.app.services import eraser
from nous.bus.base import Conflict, Priority
from nous.bus.erasure import session_name
from nous.cli.framework import App, CommandEntry, Frame, dry_run_option, json_option, yes_option
from nous.cli.lookup import ALL, current_count
from nous.cli.output import counted, make_sure, note, render_table, say
from nous.domain.errors import BadInput, NotFound
from nous.domain.fact import Learned
from nous.domain.scope import Scope
from nous.services.erasure import EraseScope
from nous.services.scope_move import content_for, storing
from nous.services.workspace import NotesFolder, working_directory, workspace_of
from nous.store.base import NO_VECTORS

COMMANDS = (CommandEntry("move", "nous.cli.scopes:move", "Move the memory of one scope into another."),)


@click.group(cls=Frame, table=COMMANDS, invoke_without_command=True)
@json_option
@click.pass_context
def scopes(ctx: click.Context, *, as_json: bool) -> None:
    """List scopes: sessions with an episode, current facts, and directories.

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

    TO must not have facts yet. Ids of episodes and facts change, since they belong to a scope. Left out are earlier
    editions of episodes, summaries of sessions that go on, and the inputs from which a model could regenerate an
    episode. If this breaks off, run it again.
    """
    old, new = Scope.parse(source), Scope.parse(target)
    if old == new:
        raise BadInput(f"{old} would be moved into itself")
    container = app.container
    content = content_for(container.memory, old, new)
    if not content.episodes and not content.rows:
        raise NotFound(f"there is nothing in {old}; `nous scopes` lists all scopes")
    effects = storing(content, container.memory, at=container.clock())
    facts = sum(isinstance(row, Learned) for row in content.rows)
    what = f"{counted(len(content.episodes), 'episode')} and {counted(facts, 'fact')} from {old} to {new}"
    if dry_run:
        say(f"would move {what}")
        return
    if not yes:
        make_sure(f"Move {what}, and erase {old}?", otherwise="nothing was moved")
    while effects.writes:
        if isinstance(container.bus.apply(effects, priority=Priority.BULK), Conflict):
            raise BadInput(f"something of {old} was forgotten in {new}, or {new} has just changed: {old} stays")
        content = content_for(container.memory, old, new)  # workers may have committed something meanwhile
        effects = storing(content, container.memory, at=container.clock())
    eraser(container).erase(EraseScope(scope=old))
    for session in content.sessions:  # they were moved, not forgotten: one may come back
        container.tombstones.lift(old, session_name(old, session))
    say(f"moved {what}")
