"""`nous forget`: remove what was learned of somebody or something, everywhere."""

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from uuid import UUID

import click
import orjson

from nous.cli.frame import App
from nous.cli.knowing import knowledge_of, one_of
from nous.cli.show import counted, say, shortened, table
from nous.errors import BadInput
from nous.runtime.forget import Receipt
from nous.runtime.forgetting import Act, Everything, Known, Session
from nous.scope import Scope
from nous.wiring import World, build, forgetter

_MOST_REVIVED = 5
"""Revived facts that are told; the receipt has the ids of all."""


@click.command()
@click.option("--session", help="Forget a session, and what it alone has said.")
@click.option(
    "--fact",
    help="Forget a fact by its id or the beginning of it; what was said of it is not learned again in those words.",
)
@click.option("--scope", help="Where it is: project, agent/project or tenant/agent/project. Alone: forget all of it.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed.")
@click.option("--receipt", type=click.Path(path_type=Path, dir_okay=False), help="Write the receipt there, as JSON.")
@click.option("--yes", is_flag=True, help="Do not ask whether that is meant.")
@click.pass_obj
def forget(
    app: App,
    *,
    session: str | None,
    fact: str | None,
    scope: str | None,
    dry_run: bool,
    receipt: Path | None,
    yes: bool,
) -> None:
    """Remove a session, a fact or a scope from every store: it cannot be undone.

    Publishing a session again that was forgotten, or whose scope was, is refused until it is asked for: nous publish
    --again. A new session may tell what it has said, but for facts that were forgotten by --fact. Workers may run
    meanwhile. If this breaks off, run it again.
    """
    if session is not None and fact is not None:
        raise click.UsageError("--session and --fact were both given: forget one, then the other.")
    if session is None and fact is None and scope is None:
        raise click.UsageError("Say what to forget: --session ID, --fact ID, or a --scope alone.")
    world, where = build(app.settings), Scope.parse("default" if scope is None else scope)
    act = _act(world, where, session, fact)
    forgets = forgetter(world)
    expected = forgets.rehearse(act)
    with _writable(receipt):
        if not dry_run:
            _make_sure(expected, world, yes=yes)
        done = expected if dry_run else forgets.forget(act)
    try:
        if receipt:
            _write(done, receipt)
    finally:
        _tell(done, world)


def _act(world: World, scope: Scope, session: str | None, fact: str | None) -> Act:
    if session is not None:
        return Session(scope=scope, name=session)
    return Everything(scope=scope) if fact is None else Known(scope=scope, id=_id_of(fact, world, scope))


def _id_of(name: str, world: World, scope: Scope) -> UUID:
    """The id that *name* is, be it of a fact that was forgotten before, or else the one that begins with it."""
    try:
        return UUID(name)
    except ValueError:
        with knowledge_of(world, scope) as knowledge:
            return one_of(name, knowledge, scope).fact.id


def _make_sure(expected: Receipt, world: World, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise BadInput("say --yes: there is no terminal to ask on")
    say(_as_table(expected), err=True)
    for line in _revived(expected, world):
        say(line, err=True)
    click.confirm(f"Forget {_named(expected)} for good?", abort=True, err=True)


def _tell(receipt: Receipt, world: World) -> None:
    verb = "would be forgotten" if receipt.is_rehearsal else "is forgotten"
    say(f"{_named(receipt)} {verb}")
    if receipt.first_at:
        say(f"it was forgotten before, on {receipt.first_at:%Y-%m-%d %H:%M}")
    say(_as_table(receipt))
    for line in _revived(receipt, world):
        say(line)
    for each in receipt.stays:
        say(f"not removed: {each}")
    if receipt.unreadable:
        say(f"not removed: {receipt.unreadable} entries of streams of which nobody can tell whose they are")


def _named(receipt: Receipt) -> str:
    where = "" if receipt.name == str(receipt.scope) else f" of {receipt.scope}"
    return f"{receipt.what} {receipt.name}{where}"


def _as_table(receipt: Receipt) -> str:
    heads = ("store", "to remove" if receipt.is_rehearsal else "removed")
    return table(heads, [(store, f"{count:,}") for store, count in receipt.removed.items()] or [("none", "0")])


def _revived(receipt: Receipt, world: World) -> Iterator[str]:
    """The facts that are current again, which had given way to what is forgotten."""
    if not receipt.revived:
        return
    count, shown = len(receipt.revived), receipt.revived[:_MOST_REVIVED]
    yield f"{counted(count, 'older fact')} {'becomes' if count == 1 else 'become'} current again:"
    with knowledge_of(world, receipt.scope) as knowledge:
        known = [(each, knowledge.get(each)) for each in shown]
    for fact_id, fact in known:
        yield f"  {fact_id}" + (f"  {shortened(fact.fact.text, 90)}" if fact else "")
    if count > len(shown):
        yield "  ..."


@contextmanager
def _writable(path: Path | None) -> Generator[None]:
    """Make sure that a receipt can be written before there is one to write; none is left where nothing came of it."""
    if path is None:
        yield
        return
    is_new = not path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}; nothing was forgotten") from error
    try:
        yield
    except BaseException:
        if is_new:
            path.unlink(missing_ok=True)
        raise


def _write(receipt: Receipt, path: Path) -> None:
    content = asdict(receipt) | {"scope": str(receipt.scope)}
    try:
        path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z) + b"\n")
    except OSError as error:
        although = "" if receipt.is_rehearsal else "; it is forgotten all the same"
        raise BadInput(f"{path} cannot be written: {error.strerror}{although}") from error
