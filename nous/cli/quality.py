"""Measure the pipeline against gold, and compare it with a baseline (`nous dev quality`)."""

from pathlib import Path

import click

from nous.app.quality import measures_of
from nous.app.quality.baseline import REGRESSED, Baseline, compared, load_baseline, save_baseline
from nous.app.quality.gold import Gold
from nous.cli.framework import FAILED, App, json_option
from nous.cli.output import note, render_table, with_progress
from nous.domain.errors import NotFound


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--baseline", metavar="FILE", type=click.Path(path_type=Path), help="Default: baseline.json in FOLDER.")
@click.option("--update", is_flag=True, help="Write the baseline instead of comparing with it.")
@json_option
@click.pass_obj
def quality(app: App, folder: Path, *, baseline: Path | None, update: bool, as_json: bool) -> None:
    """Measure summaries, facts, search and excerpts against the gold in FOLDER.

    If a model is set, it is asked about every session, and measured. Exit 1 if a measure is worse than in the baseline
    by more than five points and more than two items.
    """
    gold, by, path = (
        Gold.load(folder),
        app.settings.background_model or "extractive",
        baseline or folder / "baseline.json",
    )
    known: Baseline = {}
    try:
        known = load_baseline(path)
    except NotFound:
        if baseline and not update:
            raise
    measures = measures_of(gold, app.settings, with_progress)
    rows = compared(measures, {} if update else known.get(by, {}))
    render_table(rows, ("measure", "value", "n", "target", "baseline", "verdict"), as_json=as_json, empty="")
    if update:
        save_baseline(path, by, measures)
    elif not known.get(by):
        note(f"nothing is compared: {path} has no figures of {by}; --update writes them")
    regressed = [row for row in rows if row["verdict"] == REGRESSED]
    for row in regressed:
        now = "is not measured now" if row["value"] is None else f"is {row['value']:.3f}"
        note(f"regressed: {row['measure']} was {row['baseline']:.3f}, and {now}")
    if known.get(by) and not (update or regressed):
        note(f"no measure has regressed from {path}")
    click.get_current_context().exit(FAILED if regressed else 0)
