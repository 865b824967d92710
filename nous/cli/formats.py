"""`nous formats`: which formats are read, and what would be read of files at hand."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import click
import orjson

from nous.cli.show import counted
from nous.transcript import Kind, known_readers
from nous.transcript.survey import Row, Survey, survey
from nous.transcript.view.as_json import legible

_MOST_REASONS = 12
_MOST_REFUSED = 20


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path(path_type=Path, exists=True))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def formats(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """List the formats that are read; or read the files at each PATH and below, and count what is in them.

    Nothing is published; hidden files and folders are left out, and what `nous publish` would refuse is refused. Of
    each format the table says how many files there are, what entries they hold, what was passed over and why, and how
    fast they were read (CPU time).
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
