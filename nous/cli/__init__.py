"""The command line. A command's module is imported when the command is run, so `nous --help` needs none of them."""

import os
from pathlib import Path

import click

from nous.cli.framework import EXIT_CODES, App, Command, Frame

COMMANDS = (
    Command("demo", "nous.cli.demo:demo", "Turn bundled real sessions into episodes and facts."),
    Command("up", "nous.cli.processes:up", "Run everything on this machine: the server and every worker."),
    Command("down", "nous.cli.processes:down", "Stop the embedded server; its data stays."),
    Command("worker", "nous.cli.processes:worker", "Run one or more workers in this process."),
    Command("publish", "nous.cli.publish:publish", "Hand over sessions that have ended."),
    Command("watch", "nous.cli.watch:watch", "Hand over sessions in folders that never said goodbye."),
    Command("touch", "nous.cli.sessions:touch", "Say that a session has moved on; once it is idle, it is ended."),
    Command("sessions", "nous.cli.sessions:sessions", "List sessions that run, or that nobody could finish yet."),
    Command("decide", "nous.cli.sessions:decide", "Keep what was decided in a session that still runs."),
    Command("status", "nous.cli.status:status", "Show streams, queues, workers and the accounts, or one session."),
    Command("episodes", "nous.cli.memory:episodes", "List what sessions have left behind."),
    Command(
        "anchored", "nous.cli.transcripts:anchored", "Print what carries a session across compactions and resumes."
    ),
    Command("facts", "nous.cli.memory:facts", "List what is known and from where; `facts learn` adds to it."),
    Command("scopes", "nous.cli.memory:scopes", "List the scopes, with how much is known in each."),
    Command("reprocess", "nous.cli.rebuild:reprocess", "Have episodes made anew by the model that is set now."),
    Command("search", "nous.cli.search:search", "Search episodes and facts."),
    Command("recall", "nous.cli.search:recall", "Find the turns of one session that answer a query."),
    Command("why", "nous.cli.memory:why", "Show how a fact is known: who said it, where, and what was made of it."),
    Command("context", "nous.cli.search:context", "Print what a new session should know, as notes."),
    Command("export", "nous.cli.export_import:export_", "Write episodes and facts as JSON lines."),
    Command("import", "nous.cli.export_import:import_", "Read what `nous export` wrote."),
    Command("reembed", "nous.cli.rebuild:reembed", "Have workers embed what has no vector by the embedder set now."),
    Command("reindex", "nous.cli.rebuild:reindex", "Build the index of facts anew from the log."),
    Command("calibrate", "nous.cli.rebuild:calibrate", "Measure when two facts are one, for the embedder set now."),
    Command("transcript", "nous.cli.transcripts:transcript", "Show a session file as nous reads it."),
    Command(
        "formats", "nous.cli.transcripts:formats", "List the formats that are read, or survey a folder of sessions."
    ),
    Command("excerpt", "nous.cli.transcripts:excerpt", "Show what survives of a session under a budget."),
    Command("metrics", "nous.cli.metrics:metrics", "Print the counters as Prometheus reads them from a file."),
    Command("dead", "nous.cli.dead_letters:dead", "List, show, redrive or drop events that could not be handled."),
    Command("forget", "nous.cli.forget:forget", "Remove a session, a fact or a scope everywhere, with a receipt."),
    Command("config", "nous.cli.processes:config", "Show the effective settings and where each comes from."),
    Command("rq-dashboard", "nous.cli.processes:rq_dashboard", "Serve rq-dashboard for the configured server."),
)

_EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())


@click.group(cls=Frame, table=COMMANDS, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read settings from this TOML file. [NOUS_CONFIG]",
)
@click.option("--debug", is_flag=True, envvar="NOUS_DEBUG", help="Show tracebacks of errors. [NOUS_DEBUG]")
@click.version_option(package_name="nous", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context, config: Path | None, *, debug: bool) -> None:
    """Turn the sessions of agents into memory: episodes and facts, each once, each traceable to its source."""
    # Of several threads, BLAS lets those spin that wait: ten times the CPU, where all cores are busy. numpy asks once.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    ctx.obj = App(config_path=config, debug=debug)
