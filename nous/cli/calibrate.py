"""`nous calibrate`: when two facts are one, measured for the embedder that is set."""

from dataclasses import asdict

import click

from nous.cli.frame import App
from nous.cli.show import print_json, table
from nous.learning.calibration import Calibration, shipped
from nous.learning.calibration import calibrate as measure
from nous.wiring import build


@click.command()
@click.option("--dry-run", is_flag=True, help="Only measure.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every step.")
@click.pass_obj
def calibrate(app: App, *, dry_run: bool, as_json: bool) -> None:
    """Measure from which cosine on one of two texts may say more than the other, for the embedder that is set.

    The pairs it is measured on come with nous. The threshold is kept with the embedder's name, and used by whatever is
    started from then on; an embedder without one merges only texts of equal content.
    """
    world = build(app.settings)
    embedder = world.kit.embedder
    found = measure(shipped(), embedder.embed, embedder_id=embedder.id)
    if not dry_run:
        world.calibrations.keep(found.embedder_id, found.one_sided)
    if as_json:
        print_json(asdict(found))
        return
    click.echo(_steps(found))
    click.echo(f"\n{_verdict(found)}")
    if not dry_run:
        click.echo("Kept; workers that run take it up when they are started again.")


def _steps(found: Calibration) -> str:
    rows = [(f"{step.threshold:.3f}", str(step.merged), str(step.false_merges)) for step in found.table]
    return table(("cosine from", "merged", "falsely"), rows)


def _verdict(found: Calibration) -> str:
    share = f"{found.false_merges} of {found.pairs} pairs are merged falsely, and {found.recall:.2f} of the right ones"
    if found.one_sided is None:
        return f"{found.embedder_id}: no threshold is safe, so only texts of equal content are merged. {share}."
    return f"{found.embedder_id}: from {found.one_sided:.3f} on one text may say more. With it {share}."
