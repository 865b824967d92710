"""Define the `nous` and `nous dev` groups; a command is imported only when it runs."""

import os
from pathlib import Path

import click

from nous.cli.framework import EXIT_CODES, App, CommandEntry, Frame
from nous.text.language import tables

_TABLES = tables("nous.cli", "commands")
COMMANDS = tuple(CommandEntry(name, *entry) for name, entry in _TABLES["daily"].items())

DEVELOPER_COMMANDS = tuple(CommandEntry(name, *entry) for name, entry in _TABLES["developer"].items())

_EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())

_HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


@click.group(cls=Frame, table=COMMANDS, unlisted=DEVELOPER_COMMANDS, epilog=_EPILOG, context_settings=_HELP_OPTIONS)
@click.option(
    "--config", type=click.Path(path_type=Path, dir_okay=False), help="Read settings from this TOML file. [NOUS_CONFIG]"
)
@click.option("--debug", is_flag=True, envvar="NOUS_DEBUG", help="Show tracebacks of errors. [NOUS_DEBUG]")
@click.version_option(package_name="nous-bus", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context, config: Path | None, *, debug: bool) -> None:  # noqa: ARG001 (`Frame` looks at debug)
    """Turn the sessions of agents into memory: episodes and facts.

    Each is stored once and can be traced to its source.
    """
    # Idle BLAS threads spin: ten times the CPU when all cores are busy. numpy reads the variable on import only.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    ctx.obj = app = App(config_path=config)
    ctx.call_on_close(app.close)


@click.group(cls=Frame, table=DEVELOPER_COMMANDS, context_settings=_HELP_OPTIONS)
def dev() -> None:
    """Look into transcripts, settings and counters, and move or rebuild what is stored."""
