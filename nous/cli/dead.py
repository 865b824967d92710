"""`nous dead`: what was set aside, and what to do about it."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import click

from nous.bus.ledger import Letter
from nous.cli.frame import BAD_INPUT, App
from nous.cli.show import print_json, say, table
from nous.errors import BadInput, NotFound
from nous.readable import one_line
from nous.wiring import World, build


@click.group()
def dead() -> None:
    """List, show, redrive or drop events that could not be handled, or that this release does not know (parked)."""


@dead.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_(app: App, *, as_json: bool) -> None:
    """List what was set aside, oldest first."""
    letters = build(app.settings).dead.letters()
    if as_json:
        print_json([asdict(letter) for letter in letters])
    elif not letters:
        say("nothing is dead, nothing is parked")
    else:
        heads = ("id", "what", "worker", "session", "attempts", "reason")
        say(table(heads, map(_row, letters)))


@dead.command()
@click.argument("letter_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(app: App, letter_id: str, *, as_json: bool) -> None:
    """Show one letter in full."""
    letter = build(app.settings).dead.find(letter_id)
    if as_json:
        print_json(asdict(letter))
    else:
        fields = ((name, one_line(str(value))) for name, value in asdict(letter).items() if value is not None)
        say("\n".join(f"{name:<10} {value}" for name, value in fields))


@dead.command()
@click.argument("letter_ids", nargs=-1, metavar="[ID...]")
@click.option("--all", "everything", is_flag=True, help="Redrive whatever is set aside.")
@click.pass_obj
def redrive(app: App, letter_ids: Sequence[str], *, everything: bool) -> None:
    """Try again, under the same identity and with earlier errors forgotten; workers take it up at their next sweep."""
    world = build(app.settings)
    failed = False
    for letter in _chosen(world, letter_ids, everything=everything):
        try:
            done = _redriven(letter, world)
        except NotFound as error:
            failed = True
            say(f"nous: {error}", err=True)
        else:
            say(f"{letter.id} {'is pending again' if done else 'was redriven before'}")
    click.get_current_context().exit(BAD_INPUT if failed else 0)


@dead.command()
@click.argument("letter_ids", nargs=-1, metavar="[ID...]")
@click.option("--all", "everything", is_flag=True, help="Drop whatever is set aside.")
@click.pass_obj
def drop(app: App, letter_ids: Sequence[str], *, everything: bool) -> None:
    """Forget letters for good. Their events stay counted as dead or parked."""
    world = build(app.settings)
    for letter in _chosen(world, letter_ids, everything=everything):
        say(f"{letter.id} {'is dropped' if world.dead.drop(letter) else 'was gone'}")


def _redriven(letter: Letter, world: World) -> bool:
    if not letter.is_readable:
        raise NotFound(f"letter {letter.id} is {letter.reason}; drop the letter")
    return world.dead.redrive(letter, world.subscription(letter.group))


def _row(letter: Letter) -> tuple[str, ...]:
    session = letter.session_id or "-"
    return letter.id, letter.grave, letter.group or "-", session, str(letter.attempts), letter.reason


def _chosen(world: World, letter_ids: Sequence[str], *, everything: bool) -> Iterable[Letter]:
    if everything == bool(letter_ids):
        raise BadInput("name the letters, or say --all: `nous dead list` shows them")
    return world.dead.letters() if everything else [world.dead.find(each) for each in letter_ids]
