"""`nous scopes`: list scopes with their directories."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import click

from nous.cli.framework import App, json_option
from nous.cli.lookup import ALL, current_count
from nous.cli.output import note, render_table
from nous.domain.fact import Learned
from nous.domain.scope import Scope
from nous.services.workspace import NotesFolder, working_directory, workspace_of
from nous.store.base import NO_VECTORS


@click.command()
@json_option
@click.pass_obj
def scopes(app: App, *, as_json: bool) -> None:
    """List scopes: sessions with an episode, current facts, and directories.

    A scope is the memory of one user or project, as --scope names it. Without it, a command uses the scope of the
    working directory. Nothing is read or merged across scopes.
    """
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
