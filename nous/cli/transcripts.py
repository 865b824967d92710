"""Commands that show sessions as nous reads them: transcript, excerpt, formats, summary."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import click
import orjson

from nous.app.container import build
from nous.cli.framework import App
from nous.cli.input_files import named, warn_of_damage
from nous.cli.lookup import checked_session, elsewhere, session_of, with_session
from nous.cli.output import counted, print_json, say
from nous.domain.anchored_summary import StoredAnchoredSummary
from nous.domain.errors import BadInput, NotFound
from nous.domain.events import episode_id
from nous.domain.scope import Scope
from nous.excerpt import BUDGET, Excerpt, Manifest, ManifestEntry, Unit, Windows, windows
from nous.excerpt.strategies import names
from nous.text.sanitize import shortened
from nous.text.token_estimate import estimate
from nous.transcript import Kind, build_summarizer_input, group_into_turns, known_readers, read_transcript
from nous.transcript.format_survey import Row, Survey, survey
from nous.transcript.load import refusal
from nous.transcript.parsing.turns import EXTRAS
from nous.transcript.render.terminal import legible, render, transcript_as_json

_SHOWN_IDS = 3


@click.command()
@click.argument("path", metavar="PATH|SESSION")
@click.option(
    "--budget",
    default=BUDGET,
    type=click.IntRange(min=1),
    show_default=True,
    metavar="N",
    help="Size of the excerpt, with marks and labels.",
)
@click.option(
    "--unit", type=click.Choice(["chars", "tokens"]), default="chars", show_default=True, help="Unit of the budget."
)
@click.option(
    "--windows", "most", type=click.IntRange(min=1), metavar="N", help="Show a long session in up to N windows."
)
@click.option("--strategy", default="default", show_default=True, metavar="S", help=f"One of {', '.join(names())}.")
@click.option("--format", "name", metavar="F", help="Read it as this format instead of detecting it.")
@click.option("--manifest", is_flag=True, help="Print what was kept, cut and dropped, and why, instead of the text.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print text and manifest as JSON: an object, or a list of windows."
)
def excerpt(
    path: str, budget: int, unit: Unit, most: int | None, *, strategy: str, name: str | None, **form: bool
) -> None:
    """Show the excerpt of a session that fits a budget, in order, with a mark for every gap.

    PATH may be packed with gzip, or - for standard input. SESSION is the id of a session that qbit keeps. A budget of
    tokens is met by an estimate. A session longer than four budgets fills several windows. Settings apply to workers
    only, not to this command.
    """
    transcript = read_transcript(sys.stdin.buffer if path == "-" else path, format=name)
    if not transcript.entries:
        raise BadInput(f"{named(path)} {refusal(transcript)}")
    warn_of_damage(transcript, path)
    found = windows(transcript, budget, most=most or 1, strategy=strategy, unit=unit)
    for note in _notes(found, most):
        click.echo(f"nous: {note}", err=True)
    excerpts = [window.excerpt for window in found.windows]
    if form["as_json"]:
        values = [_as_value(each) for each in excerpts]
        click.echo(orjson.dumps(values if most else values[0], option=orjson.OPT_INDENT_2))
    elif form["manifest"]:
        click.echo("\n".join(_accounts(excerpts)))
    else:
        click.echo("\n\n".join(each.text for each in excerpts))


def _notes(found: Windows, most: int | None) -> Iterator[str]:
    """Yield notes on the excerpt that a reader cannot see in it."""
    if most and found.wanted > len(found.windows):
        yield f"it would fill {found.wanted} windows; in {len(found.windows)}, less of it is kept"


def _as_value(found: Excerpt) -> dict[str, object]:
    """Return *found* as JSON: its text, length, digest and manifest."""
    return {"text": found.text, "chars": found.chars, "digest": found.digest, "manifest": _plain(found.manifest)}


def _plain(manifest: Manifest) -> dict[str, object]:
    records = {name: [record._asdict() for record in getattr(manifest, name)] for name in ("kept", "cut", "dropped")}
    return {"strategy": manifest.strategy, "budget": manifest.budget, "unit": manifest.unit, **records}


def _accounts(excerpts: Sequence[Excerpt]) -> Iterator[str]:
    for number, found in enumerate(excerpts, start=1):
        part = f"part {number} of {len(excerpts)}: " if len(excerpts) > 1 else ""
        yield from (f"{part}{line}" if not at else line for at, line in enumerate(_account(found)))


def _account(found: Excerpt) -> Iterator[str]:
    manifest = found.manifest
    length = f"{found.chars} characters" if manifest.unit == "chars" else f"about {estimate(found.text)} tokens"
    yield f"{length} for a budget of {manifest.budget} {manifest.unit}, by the strategy {manifest.strategy}"
    yield f"  {'what':<11} {'shown':>7} {'of':>10}  {'why':<34} entries"
    for heading, records in (("kept", manifest.kept), ("cut", manifest.cut), ("dropped", manifest.dropped)):
        yield f"{heading}: {len(records)}"
        yield from (_line(record) for record in records)


def _line(record: ManifestEntry) -> str:
    shown = f"{record.shown:>7} of {record.chars:>7}"
    return f"  {record.role:<11} {shown}  {record.reason:<34} {_ids(record.entries)}"


def _ids(entries: Sequence[str]) -> str:
    more = f" and {len(entries) - _SHOWN_IDS} more" if len(entries) > _SHOWN_IDS else ""
    return f"{', '.join(entries[:_SHOWN_IDS])}{more}"


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
@click.option("--format", "name", metavar="F", help="Read it as this format instead of detecting it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, which nous can read again.")
@click.option("--turns", is_flag=True, help="Print each turn as search sees it: words, and one line of calls.")
@click.option("--summarizer", is_flag=True, help="Print the input of summarizers, in the form of qbit.")
@click.option(
    "--style",
    type=click.Choice(["current", "2025", "paired"]),
    default="current",
    help="Style of that text: today's, that of 2025, or with results that name the request they answer.",
)
@click.option(
    "--with",
    "include",
    multiple=True,
    type=click.Choice(sorted(EXTRAS)),
    help="Also show entries that are otherwise skipped.",
)
@click.option(
    "--base", type=click.Path(path_type=Path), help="Directory of sessions, to find one by id. [VT_TRANSCRIPT_DIR]"
)
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
    """Show a session: its turns, calls, errors and decisions, and what was skipped.

    PATH may be packed with gzip or Zstandard, or - for standard input. SESSION is the id of a session that qbit keeps.
    `nous dev formats` lists the formats.
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


_MOST_REASONS = 12
_MOST_REFUSED = 20


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def formats(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """List the supported formats, or read the files at each PATH and count their content.

    Folders are read with all their subfolders, but hidden files and folders are left out. Nothing is published. A file
    that `nous publish` would refuse is refused. For each format you see the number of files, their entries, what was
    skipped and why, and the reading speed (CPU time).
    """
    if not paths:
        known = sorted(known_readers())
        click.echo(orjson.dumps(known) if as_json else "\n".join(known))
        return
    found = survey(paths)
    if as_json:
        click.echo(_as_json(found))
    else:
        for line in _table(found):
            click.echo(line)


def _table(found: Survey) -> Iterator[str]:
    yield f"{'format':<20}{'files':>6}{'MB':>8}{'MB/s':>7}{'entries':>9}{'problems':>10}"
    for name, row in sorted(found.rows.items()):
        megabytes, speed = f"{row.bytes / 1e6:.2f}", f"{row.megabytes_per_second:.0f}"
        yield f"{name:<20}{row.files:>6}{megabytes:>8}{speed:>7}{row.entries.total():>9}{row.problems:>10}"
        yield f"  entries: {_counted(row.entries)}"
        yield f"  passed over: {_counted(row.skipped) or 'nothing'}"
    files = sum(row.files for row in found.rows.values())
    yield f"{counted(files, 'file')} read, {len(found.refused)} refused"
    for path, reason in islice(found.refused.items(), _MOST_REFUSED):
        yield f"  {path}: {reason}"
    if len(found.refused) > _MOST_REFUSED:
        yield f"  and {len(found.refused) - _MOST_REFUSED} more, which --json lists"


def _counted(counts: Counter[Kind] | Counter[str]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(times for _, times in ordered[_MOST_REASONS:])
    shown = [f"{what} {times}" for what, times in ordered[:_MOST_REASONS]]
    return ", ".join([*shown, *([f"{len(ordered) - _MOST_REASONS} other reasons {rest}"] if rest else [])])


def _as_json(found: Survey) -> bytes:
    return orjson.dumps(
        {
            "formats": {name: _row(row) for name, row in sorted(found.rows.items())},
            "refused": {legible(str(path)): reason for path, reason in found.refused.items()},
        },
        option=orjson.OPT_INDENT_2,
    )


def _row(row: Row) -> Mapping[str, object]:
    return {
        "files": row.files,
        "bytes": row.bytes,
        "seconds": row.seconds,
        "entries": {str(kind): times for kind, times in row.entries.items()},
        "skipped": dict(row.skipped),
        "problems": row.problems,
    }


@click.command()
@click.argument("session")
@click.option("--scope", default="default", help="project, agent/project or tenant/agent/project")
@click.option("--agent", default="default", help="The id of the agent whose session it is.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, including what it was made from.")
@click.pass_obj
def anchored(app: App, session: str, *, scope: str, agent: str, as_json: bool) -> None:
    """Print the anchored (rolling) summary of SESSION, and the decisions recorded in it.

    You see it as a model would read it. SESSION is an id or an id prefix. A session has one once it was published as
    compacting: nous publish PATH --compacting.
    """
    checked_session(session)
    checked_session(agent, "the id of an agent")
    container, within = build(app.settings), Scope.parse(scope)
    context = container.context

    def anchor_of(where: Scope, name: str) -> StoredAnchoredSummary | None:
        return context.anchored_summaries.anchored_summary(where, agent_id=agent, session_id=name)

    found = anchor_of(within, session)
    if found is None:
        session = session_of(session, container, within)
        found = anchor_of(within, session)
    if found is None:
        raise NotFound(
            f"session {session!r} of agent {agent!r} in {scope} has no anchored summary; it gets one from workers once "
            f"it is published as it compacts: nous publish PATH --session {session} --compacting"
            f"{with_session(session, container, anchor_of) or elsewhere(container, within)}"
        )
    decisions = context.decisions.get_episode_decisions(episode_id(within, session), scope=within)
    if as_json:
        print_json({**asdict(found), "decisions": [asdict(each) for each in decisions]})
        return
    say(found.summary.to_prompt_text())
    if decisions:
        say("\n" + "\n".join(f"decided: {shortened(each.description, 140)}" for each in decisions))
    say(f"\n{_made(found)}", err=True)


def _made(anchor: StoredAnchoredSummary) -> str:
    by = anchor.model or "the session's own words"
    why = f" ({shortened(anchor.made_do, 120)})" if anchor.made_do else ""
    made = f"iteration {anchor.summary.iteration}, of {anchor.entries} entries, by {by}{why}"
    return f"nous: session {anchor.session_id}, {made}"
