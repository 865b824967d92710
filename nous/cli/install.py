"""`nous install`: add the hook to the settings of agents, or take it out again."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from nous.cli.framework import App, dry_run_option, exit_code
from nous.cli.output import note, say
from nous.domain.errors import BadInput, NousError
from nous.hosts import host_named, hosts
from nous.hosts.base import Host
from nous.hosts.install import FileChange, Installer
from nous.services.workspace import working_directory, workspace_of


def installer_of(app: App) -> Installer:
    # The interpreter below a virtual environment outlives it, and is all that the hook needs.
    python = getattr(sys, "_base_executable", None) or sys.executable
    return Installer(home=app.settings.data_dir.resolve(), python=python, server=(sys.executable, "-m", "nous", "mcp"))


@click.command()
@click.argument("names", nargs=-1, metavar="[HOST...]")
@click.option("--detect", is_flag=True, help="Every host that this user has.")
@click.option("--project", "in_project", is_flag=True, help="Only for this directory's project, not for the user.")
@click.option("--mcp", is_flag=True, help="Add the MCP server of nous, too.")
@click.option("--uninstall", is_flag=True, help="Take out all that was added.")
@dry_run_option
@click.pass_obj
def install(
    app: App, names: Sequence[str], *, detect: bool, in_project: bool, mcp: bool, uninstall: bool, dry_run: bool
) -> None:
    """Add a hook to the settings of each HOST, such as claude-code or codex.

    From then on, `nous up` gets its sessions when they end, and each new session starts with notes from earlier ones.
    Comments, order and other hooks stay. --dry-run shows the changes as a diff. --uninstall brings back each file as it
    was.
    """
    chosen = _chosen(names, detect=detect or uninstall)
    installer, failures = installer_of(app), list[NousError]()
    directory = working_directory()
    project = workspace_of(Path(directory)).root if in_project and directory else None
    if not dry_run and not uninstall:
        installer.prepare()
    for host in chosen:
        try:
            changes = (
                installer.removal(host, project=project)
                if uninstall
                else installer.installation(host, project=project, mcp=mcp)
            )
            _carry_out(installer, host, changes, is_dry=dry_run)
        except NousError as error:
            failures.append(error)
            note(str(error))
            continue
        if changes and host.left_to_do and not (uninstall or dry_run):
            note(host.left_to_do)
    if not (uninstall or dry_run or failures):
        note("`nous up` publishes their sessions; while it does not run, they wait")
    click.get_current_context().exit(exit_code(failures[0]) if failures else 0)


def _chosen(names: Sequence[str], *, detect: bool) -> list[Host]:
    there = {name: host for name, host in sorted(hosts().items()) if host.folder.is_dir()}
    if not names and not detect:
        found = f"; this user has {', '.join(there)}" if there else ""
        raise BadInput(f"name a host, or say --detect: there are {', '.join(sorted(hosts()))}{found}")
    if not names and not there:
        raise BadInput(f"this user has none of the hosts {', '.join(sorted(hosts()))}")
    return [host_named(name) for name in names] or list(there.values())


def _carry_out(installer: Installer, host: Host, changes: Sequence[FileChange], *, is_dry: bool) -> None:
    if not changes:
        say(f"{host.title}: nothing to change")
    for change in changes:
        if is_dry:
            say(change.diff())
            continue
        try:
            installer.apply(change)
        except OSError as error:
            raise BadInput(f"{change.path} cannot be written: {error.strerror}") from error
        say(f"{host.title}: {'removed' if change.after is None else 'changed'} {change.path}")
