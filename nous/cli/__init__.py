"""Define the `nous` and `nous dev` command groups: lazily loaded commands, global options.

A command's module is imported only when that command runs, so `nous --help` stays fast.
"""

import os
from pathlib import Path

import click

from nous.cli.framework import EXIT_CODES, App, CommandEntry, Frame

COMMANDS = (
    CommandEntry("demo", "nous.cli.demo:demo", "Turn bundled sessions into episodes and facts."),
    CommandEntry("up", "nous.cli.processes:up", "Run the server and every worker on this machine."),
    CommandEntry("down", "nous.cli.server:down", "Stop the embedded server. Its data stays."),
    CommandEntry("publish", "nous.cli.publish:publish", "Submit sessions that have ended."),
    CommandEntry("search", "nous.cli.search:search", "Search episodes and facts."),
    CommandEntry("context", "nous.cli.search:context", "Print notes for a new session."),
    CommandEntry("show", "nous.cli.memory:show", "Show the memory of one session: episode, facts, open threads."),
    CommandEntry("status", "nous.cli.status:status", "Say whether all is well, or where one session is."),
    CommandEntry("episodes", "nous.cli.memory:episodes", "List the episodes of sessions."),
    CommandEntry("facts", "nous.cli.memory:facts", "List facts and their sources. `facts learn` adds facts."),
    CommandEntry("provenance", "nous.cli.memory:why", "Show how a fact became known, and from which turns."),
    CommandEntry("scopes", "nous.cli.memory:scopes", "List scopes with their number of episodes and facts."),
    CommandEntry("forget", "nous.cli.forget:forget", "Erase a session, a fact or a scope everywhere, with a receipt."),
    CommandEntry("redact", "nous.cli.forget:redact", "Redact secrets that a scope has stored already."),
    CommandEntry("watch", "nous.cli.watch:watch", "Submit ended sessions from folders."),
    CommandEntry("heartbeat", "nous.cli.sessions:touch", "Send a heartbeat of a session. It ends once it is idle."),
    CommandEntry("sessions", "nous.cli.sessions:sessions", "List sessions that are open, closing or abandoned."),
    CommandEntry("record-decision", "nous.cli.sessions:decide", "Record a decision made in a session."),
    CommandEntry("worker", "nous.cli.processes:worker", "Run one or more workers in this process."),
    CommandEntry("dead-letters", "nous.cli.dead_letters:dead", "List, show, redrive or drop dead letters."),
    CommandEntry("dev", "nous.cli:dev", "Commands for operators and developers of nous."),
)
"""Commands that `nous --help` lists: daily ones first."""

DEVELOPER_COMMANDS = (
    CommandEntry("transcript", "nous.cli.transcripts:transcript", "Show a session file as nous reads it."),
    CommandEntry("formats", "nous.cli.transcripts:formats", "List the formats that nous reads, or survey a folder."),
    CommandEntry("excerpt", "nous.cli.transcripts:excerpt", "Show the excerpt of a session that fits a budget."),
    CommandEntry("search-turns", "nous.cli.transcripts:search_turns", "Search the turns of one session."),
    CommandEntry("reprocess", "nous.cli.rebuild:reprocess", "Regenerate episodes with the configured model."),
    CommandEntry("reembed", "nous.cli.rebuild:reembed", "Queue missing vectors of the configured embedder."),
    CommandEntry("reindex", "nous.cli.rebuild:reindex", "Rebuild the index of facts from the log."),
    CommandEntry("calibrate", "nous.cli.rebuild:calibrate", "Measure the merge threshold of the configured embedder."),
    CommandEntry("session-summary", "nous.cli.sessions:anchored", "Print the anchored summary of a session."),
    CommandEntry("metrics", "nous.cli.status:metrics", "Print the counters in Prometheus text format."),
    CommandEntry("export", "nous.cli.export_import:export_", "Write episodes and facts as JSON lines."),
    CommandEntry("import", "nous.cli.export_import:import_", "Read the output of `nous export`."),
    CommandEntry("config", "nous.cli.server:config", "Show the effective settings and their origins."),
    CommandEntry("rq-dashboard", "nous.cli.server:rq_dashboard", "Serve rq-dashboard for the configured server."),
)
"""Commands of `nous dev`. They work without `dev`, too."""

RENAMED = {
    "why": "provenance",
    "touch": "heartbeat",
    "decide": "record-decision",
    "anchored": "session-summary",
    "dead": "dead-letters",
    "recall": "search-turns",
}
"""Earlier names of commands. They keep working; no help lists them."""

_EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())

_HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


@click.group(
    cls=Frame,
    table=COMMANDS,
    unlisted=DEVELOPER_COMMANDS,
    renamed=RENAMED,
    epilog=_EPILOG,
    context_settings=_HELP_OPTIONS,
)
@click.option(
    "--config", type=click.Path(path_type=Path, dir_okay=False), help="Read settings from this TOML file. [NOUS_CONFIG]"
)
@click.option("--debug", is_flag=True, envvar="NOUS_DEBUG", help="Show tracebacks of errors. [NOUS_DEBUG]")
@click.version_option(package_name="nous", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context, config: Path | None, *, debug: bool) -> None:  # noqa: ARG001 (`Frame` looks at debug)
    """Turn the sessions of agents into memory: episodes and facts.

    Each is stored once and can be traced to its source.
    """
    # Idle BLAS threads spin: ten times the CPU when all cores are busy. numpy reads the variable on import only.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    ctx.obj = app = App(config_path=config)
    ctx.call_on_close(app.close)


@click.group(cls=Frame, table=DEVELOPER_COMMANDS, renamed=RENAMED, context_settings=_HELP_OPTIONS)
def dev() -> None:
    """Look into transcripts, settings and counters, and move or rebuild what is stored."""
