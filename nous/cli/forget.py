"""`nous forget`: erase a session, a fact or a scope from every store."""

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from uuid import UUID

import click
import orjson
from click.exceptions import Exit

from nous.app.container import Container, build
from nous.app.services import eraser
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
from nous.services.erasure import ErasureReceipt
from nous.services.erasure_targets import EraseFact, EraseScope, EraseSession, ErasureRequest
from nous.store.base import NO_VECTORS
from nous.text.sanitize import shortened

_MOST = 5
"""Sessions and facts that are listed; further ones are only counted."""


def going(act: ErasureRequest, container: Container) -> Iterator[str]:
    """Yield lines on what *act* would erase: titles of sessions, texts of facts, and counts."""
    match act:
        case EraseSession():
            sessions: Sequence[str] = [act.name]
        case EraseScope():
            sessions = sessions_of(container, act.scope)
        case _:
            sessions = ()
    yield from _some("session", [_session(name, act, container) for name in sessions[:_MOST]], of=len(sessions))
    rows = container.memory.facts.read(act.scope, embedder=NO_VECTORS).rows
    erased = act.rewritten(rows)
    is_all = isinstance(act, EraseScope)
    gone = [row.fact for row in rows if isinstance(row, Learned) and (is_all or row.fact.id in erased.gone)]
    yield from _some("fact", [shortened(fact.text, 100) for fact in gone[:_MOST]], of=len(gone))
    if erased.retold:
        yield f"kept in the words of other sessions that said it too: {counted(len(erased.retold), 'fact')}"


def _session(name: str, act: ErasureRequest, container: Container) -> str:
    episode = container.memory.episodes.get(act.scope, episode_id(act.scope, name))
    return f"{name}  {shortened(episode.summary.title, 70) if episode else 'without an episode'}"


def _some(noun: str, shown: Sequence[str], *, of: int) -> Iterator[str]:
    if of:
        yield f"{counted(of, noun)}:"
        yield from (f"  {each}" for each in shown)
        yield from ["  ..."] * (of > len(shown))


_MOST_REVIVED = 5
"""Revived facts that are listed; the receipt has the ids of all."""


@click.command()
@click.option(
    "--session",
    help="Forget the session with this id and the facts that only it said. Without --yes, an id prefix is enough.",
)
@click.option(
    "--fact",
    help="Forget the fact with this id or id prefix. It is not learned again in the same words.",
)
@click.option("--scope", help="Scope of it: project, agent/project or tenant/agent/project. Alone: forget all of it.")
@click.option("--dry-run", is_flag=True, help="Show what would be erased. Erase nothing.")
@click.option(
    "--receipt", type=click.Path(path_type=Path, dir_okay=False), help="Write the receipt to this file, as JSON."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
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
    """Erase a session, a fact or a scope from every store.

    This cannot be undone, so you see what goes and are asked first. A forgotten session, or one of a forgotten scope,
    can only be published again with nous publish --again. A new session may bring back its facts, except those that you
    forgot with --fact. Workers may keep running. If this breaks off, run it again.
    """
    if session is not None and fact is not None:
        raise click.UsageError("--session and --fact were both given: forget one, then the other.")
    if session is None and fact is None and scope is None:
        raise click.UsageError("Say what to forget: --session ID, --fact ID, or a --scope alone.")
    container, where = build(app.settings), Scope.parse("default" if scope is None else scope)
    act, expected = _rehearsed(_act(container, where, session, fact), container, is_shown=dry_run or not yes)
    lines = () if yes and not dry_run else tuple(going(act, container))
    with _writable(receipt):
        if not (dry_run or yes):
            _make_sure(expected, lines, container)
        done = expected if dry_run else eraser(container).erase(act)
    try:
        if receipt:
            _write(done, receipt)
    finally:
        _print_result(done, lines if dry_run else (), container)


def _act(container: Container, scope: Scope, session: str | None, fact: str | None) -> ErasureRequest:
    if session is not None:
        return EraseSession(scope=scope, name=checked_session(session))
    return EraseScope(scope=scope) if fact is None else EraseFact(scope=scope, id=_id_of(fact, container, scope))


def _rehearsed(act: ErasureRequest, container: Container, *, is_shown: bool) -> tuple[ErasureRequest, ErasureReceipt]:
    """Return *act* and what it would erase; the name of a session may be an id prefix.

    An exact match comes first. A prefix must fit one session only.

    Raises:
        NotFound: there is nothing of that name.
        BadInput: the name is a prefix, and what would be erased is not shown first (*is_shown*).
    """
    try:
        return act, eraser(container).rehearse(act)
    except NotFound as error:
        meant = session_of(act.name, container, act.scope) if isinstance(act, EraseSession) else act.name
        if not isinstance(act, EraseSession) or meant == act.name:
            raise NotFound(f"{error}{_lives(act, container) or elsewhere(container, act.scope)}") from None
    if not is_shown:
        raise BadInput(f"{act.name!r} is the beginning of a session: with --yes, say --session {meant}")
    return _rehearsed(replace(act, name=meant), container, is_shown=True)


def _lives(act: ErasureRequest, container: Container) -> str:
    """Return a hint about scopes that hold the target of *act*; empty if there are none.

    It is also empty if the target is a scope.
    """
    match act:
        case EraseSession(name=name):
            return with_session(name, container)
        case EraseFact(name=name):
            return with_fact(name, container)
        case _:
            return ""


def _id_of(name: str, container: Container, scope: Scope) -> UUID:
    """Return the id that *name* is, or the id of the one fact that begins with it.

    A full id may be that of a fact that was forgotten before.
    """
    try:
        return UUID(name)
    except ValueError:
        with knowledge_of(container, scope) as knowledge:
            return one_of(name, knowledge, container, scope).fact.id


def _make_sure(expected: ErasureReceipt, lines: Sequence[str], container: Container) -> None:
    """Show what would be erased, and ask for confirmation.

    Raises:
        BadInput: there is no terminal to ask on.
        Exit: the answer is no.
    """
    for line in (*lines, _as_table(expected), *_revived(expected, container)):
        say(line, err=True)
    if not sys.stdin.isatty():
        raise BadInput("say --yes: there is no terminal to ask on")
    if not click.confirm(f"Forget {_named(expected)} for good?", err=True):
        say("nous: nothing was forgotten", err=True)
        raise Exit(DECLINED)


def _print_result(receipt: ErasureReceipt, lines: Sequence[str], container: Container) -> None:
    verb = "would be forgotten" if receipt.is_rehearsal else "is forgotten"
    say(f"{_named(receipt)} {verb}")
    if receipt.first_at:
        say(f"it was forgotten before, on {receipt.first_at:%Y-%m-%d %H:%M}")
    for line in (*lines, _as_table(receipt), *_revived(receipt, container)):
        say(line)
    for each in receipt.stays:
        say(f"not removed: {each}")
    if receipt.unreadable:
        say(f"not removed: {receipt.unreadable} stream entries whose session is unknown")


def _named(receipt: ErasureReceipt) -> str:
    where = "" if receipt.name == str(receipt.scope) else f" of {receipt.scope}"
    return f"{receipt.what} {receipt.name}{where}"


def _as_table(receipt: ErasureReceipt) -> str:
    heads = ("store", "to remove" if receipt.is_rehearsal else "removed")
    return table(heads, [(store, f"{count:,}") for store, count in receipt.removed.items()] or [("none", "0")])


def _revived(receipt: ErasureReceipt, container: Container) -> Iterator[str]:
    """Yield lines on older facts that are current again, since their successors are erased."""
    if not receipt.revived:
        return
    count, shown = len(receipt.revived), receipt.revived[:_MOST_REVIVED]
    yield f"{counted(count, 'older fact')} {'becomes' if count == 1 else 'become'} current again:"
    with knowledge_of(container, receipt.scope) as knowledge:
        known = [(each, knowledge.get(each)) for each in shown]
    for fact_id, fact in known:
        yield f"  {fact_id}" + (f"  {shortened(fact.fact.text, 90)}" if fact else "")
    if count > len(shown):
        yield "  ..."


@contextmanager
def _writable(path: Path | None) -> Generator[None]:
    """Check that the receipt can be written before anything is erased.

    If the command fails, a file that this created is deleted again.
    """
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


def _write(receipt: ErasureReceipt, path: Path) -> None:
    content = asdict(receipt) | {"scope": str(receipt.scope)}
    try:
        path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z) + b"\n")
    except OSError as error:
        although = "" if receipt.is_rehearsal else "; it is forgotten all the same"
        raise BadInput(f"{path} cannot be written: {error.strerror}{although}") from error
