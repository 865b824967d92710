"""`nous forget`: remove what was learned of somebody or something, everywhere."""

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from uuid import UUID

import click
import orjson
from click.exceptions import Exit

from nous.app import World, build, forgetter
from nous.cli.framework import DECLINED, App
from nous.cli.lookup import (
    checked_session,
    elsewhere,
    knowledge_of,
    one_of,
    session_of,
    sessions_of,
    with_fact,
    with_session,
)
from nous.cli.output import counted, say, table
from nous.domain.errors import BadInput, NotFound
from nous.domain.events import episode_id
from nous.domain.fact import Learned
from nous.domain.scope import Scope
from nous.services.erasure import Receipt
from nous.services.erasure_targets import Act, Everything, Known, Session
from nous.store.base import NO_VECTORS
from nous.text.sanitize import shortened

_MOST = 5
"""Sessions and facts that are named; of the others the number is told."""


def going(act: Act, world: World) -> Iterator[str]:
    """The sessions that *act* would remove by their titles, the facts by their texts, and how many of each."""
    match act:
        case Session():
            sessions: Sequence[str] = [act.name]
        case Everything():
            sessions = sessions_of(world, act.scope)
        case _:
            sessions = ()
    yield from _some("session", [_session(name, act, world) for name in sessions[:_MOST]], of=len(sessions))
    rows = world.kit.facts.read(act.scope, embedder=NO_VECTORS).rows
    erased = act.rewritten(rows)
    is_all = isinstance(act, Everything)
    gone = [row.fact for row in rows if isinstance(row, Learned) and (is_all or row.fact.id in erased.gone)]
    yield from _some("fact", [shortened(fact.text, 100) for fact in gone[:_MOST]], of=len(gone))
    if erased.retold:
        yield f"what others have said too stays, in their words: {counted(len(erased.retold), 'fact')}"


def _session(name: str, act: Act, world: World) -> str:
    episode = world.kit.episodes.get(act.scope, episode_id(act.scope, name))
    return f"{name}  {shortened(episode.summary.title, 70) if episode else 'without an episode'}"


def _some(noun: str, shown: Sequence[str], *, of: int) -> Iterator[str]:
    if of:
        yield f"{counted(of, noun)}:"
        yield from (f"  {each}" for each in shown)
        yield from ["  ..."] * (of > len(shown))


_MOST_REVIVED = 5
"""Revived facts that are told; the receipt has the ids of all."""


@click.command()
@click.option(
    "--session",
    help="Forget a session by its id, or without --yes by the beginning of it, and what it alone has said.",
)
@click.option(
    "--fact",
    help="Forget a fact by its id or the beginning of it; what was said of it is not learned again in those words.",
)
@click.option("--scope", help="Where it is: project, agent/project or tenant/agent/project. Alone: forget all of it.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
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
    """Remove a session, a fact or a scope from every store: it cannot be undone, so it shows what goes, and asks.

    Publishing a session again that was forgotten, or whose scope was, is refused until it is asked for: nous publish
    --again. A new session may tell what it has said, but for facts that were forgotten by --fact. Workers may run
    meanwhile. If this breaks off, run it again.
    """
    if session is not None and fact is not None:
        raise click.UsageError("--session and --fact were both given: forget one, then the other.")
    if session is None and fact is None and scope is None:
        raise click.UsageError("Say what to forget: --session ID, --fact ID, or a --scope alone.")
    world, where = build(app.settings), Scope.parse("default" if scope is None else scope)
    act, expected = _rehearsed(_act(world, where, session, fact), world, is_shown=dry_run or not yes)
    lines = () if yes and not dry_run else tuple(going(act, world))
    with _writable(receipt):
        if not (dry_run or yes):
            _make_sure(expected, lines, world)
        done = expected if dry_run else forgetter(world).forget(act)
    try:
        if receipt:
            _write(done, receipt)
    finally:
        _tell(done, lines if dry_run else (), world)


def _act(world: World, scope: Scope, session: str | None, fact: str | None) -> Act:
    if session is not None:
        return Session(scope=scope, name=checked_session(session))
    return Everything(scope=scope) if fact is None else Known(scope=scope, id=_id_of(fact, world, scope))


def _rehearsed(act: Act, world: World, *, is_shown: bool) -> tuple[Act, Receipt]:
    """*act*, and what it would remove; where nobody is called so, of the one session whose id begins so.

    That is refused unless what is meant *is shown* before anything goes.
    """
    try:
        return act, forgetter(world).rehearse(act)
    except NotFound as error:
        meant = session_of(act.name, world, act.scope) if isinstance(act, Session) else act.name
        if not isinstance(act, Session) or meant == act.name:
            raise NotFound(f"{error}{_lives(act, world) or elsewhere(world, act.scope)}") from None
    if not is_shown:
        raise BadInput(f"{act.name!r} is the beginning of a session: with --yes, say --session {meant}")
    return _rehearsed(replace(act, name=meant), world, is_shown=True)


def _lives(act: Act, world: World) -> str:
    """In which scopes there is what *act* would forget; empty if there is none, or a scope is what it would forget."""
    match act:
        case Session(name=name):
            return with_session(name, world)
        case Known(name=name):
            return with_fact(name, world)
        case _:
            return ""


def _id_of(name: str, world: World, scope: Scope) -> UUID:
    """The id that *name* is, be it of a fact that was forgotten before, or else the one that begins with it."""
    try:
        return UUID(name)
    except ValueError:
        with knowledge_of(world, scope) as knowledge:
            return one_of(name, knowledge, world, scope).fact.id


def _make_sure(expected: Receipt, lines: Sequence[str], world: World) -> None:
    """Show what would be removed, and ask. Raises `Exit` where the answer is no."""
    for line in (*lines, _as_table(expected), *_revived(expected, world)):
        say(line, err=True)
    if not sys.stdin.isatty():
        raise BadInput("say --yes: there is no terminal to ask on")
    if not click.confirm(f"Forget {_named(expected)} for good?", err=True):
        say("nous: nothing was forgotten", err=True)
        raise Exit(DECLINED)


def _tell(receipt: Receipt, lines: Sequence[str], world: World) -> None:
    verb = "would be forgotten" if receipt.is_rehearsal else "is forgotten"
    say(f"{_named(receipt)} {verb}")
    if receipt.first_at:
        say(f"it was forgotten before, on {receipt.first_at:%Y-%m-%d %H:%M}")
    for line in (*lines, _as_table(receipt), *_revived(receipt, world)):
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
