"""`nous forget`: erase a session, a fact or a scope from every store."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from uuid import UUID

import click
import orjson

from nous.app.container import Container
from nous.app.services import eraser
from nous.cli.framework import App, dry_run_option, option_of_scope, yes_option
from nous.cli.lookup import elsewhere, has_fact, knowledge_of, one_of, session_of, sessions_of
from nous.cli.output import counted, fitted, make_sure, say, table
from nous.domain.errors import BadInput, NotFound
from nous.domain.event_codec import checked_name
from nous.domain.events import episode_id
from nous.domain.fact import Learned
from nous.domain.scope import Scope
from nous.services.erasure import ErasureReceipt
from nous.services.erasure_targets import EraseFact, EraseScope, EraseSession, ErasureRequest
from nous.store.base import NO_VECTORS

_MOST = 5
"""Sessions and facts that are listed; further ones are only counted."""


@click.command()
@click.option(
    "--session",
    help="Forget the session with this id and the facts that only it said. Without --yes, an id prefix is enough.",
)
@click.option("--fact", help="Forget the fact with this id or id prefix. It is not learned again in the same words.")
@option_of_scope("Scope of it: project, agent/project or tenant/agent/project. Alone: forget all of it.")
@dry_run_option
@click.option(
    "--receipt", type=click.Path(path_type=Path, dir_okay=False), help="Write the receipt to this file, as JSON."
)
@yes_option
@click.pass_obj
def forget(
    app: App,
    *,
    session: str | None,
    fact: str | None,
    scope: Scope | None,
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
    container = app.container
    act = _act(container, scope or Scope(), session, fact)
    act, done = _rehearsed(act, container, is_shown=dry_run or not yes)
    lines = () if yes and not dry_run else (*_going(act, container), *_removed(done, container))
    if lines and not dry_run:
        say("\n".join(lines), err=True)
        make_sure(f"Forget {_named(done)} for good?", otherwise="nothing was forgotten")
    if not dry_run:
        if receipt:
            _write(receipt, "; nothing was forgotten")
        done = eraser(container).erase(act)
        lines = _removed(done, container)
    try:
        if receipt:
            _write(receipt, "" if dry_run else "; it is forgotten all the same", done)
    finally:
        _print_result(done, lines)


def _act(container: Container, scope: Scope, session: str | None, fact: str | None) -> ErasureRequest:
    if session is not None:
        return EraseSession(scope=scope, name=checked_name(session, "the id of a session"))
    return EraseScope(scope=scope) if fact is None else EraseFact(scope=scope, id=_id_of(fact, container, scope))


def _id_of(name: str, container: Container, scope: Scope) -> UUID:
    """Return the id that *name* is, or the id of the one fact that begins with it.

    A full id may be that of a fact that was forgotten before.
    """
    try:
        return UUID(name)
    except ValueError:
        with knowledge_of(container, scope) as knowledge:
            return one_of(name, knowledge, container, scope).fact.id


def _rehearsed(act: ErasureRequest, container: Container, *, is_shown: bool) -> tuple[ErasureRequest, ErasureReceipt]:
    """Return *act* and what it would erase; the name of a session may be an id prefix.

    An exact match comes first. A prefix must fit one session only, and what goes must be shown first (*is_shown*).
    """
    try:
        return act, eraser(container).rehearse(act)
    except NotFound as error:
        meant = session_of(act.name, container, act.scope) if isinstance(act, EraseSession) else act.name
        if not isinstance(act, EraseSession) or meant == act.name:
            hint = elsewhere(container, act.scope, lambda where: _is_in(act, container, where))
            raise NotFound(f"{error}{hint}") from None
    if not is_shown:
        raise BadInput(f"{act.name!r} is the beginning of a session: with --yes, say --session {meant}")
    return _rehearsed(replace(act, name=meant), container, is_shown=True)


def _is_in(act: ErasureRequest, container: Container, scope: Scope) -> bool:
    match act:
        case EraseSession(name=name):
            return container.memory.episodes.get(scope, episode_id(scope, name)) is not None
        case EraseFact(name=name):
            return has_fact(name, container, scope)
        case _:
            return False


def _going(act: ErasureRequest, container: Container) -> Iterator[str]:
    """Yield lines on what *act* would erase: titles of sessions, texts of facts, and counts."""
    sessions: Sequence[str] = [act.name] if isinstance(act, EraseSession) else ()
    if isinstance(act, EraseScope):
        sessions = sessions_of(container, act.scope)
    yield from _some("session", [_session(name, act, container) for name in sessions[:_MOST]], of=len(sessions))
    rows = container.memory.facts.read(act.scope, embedder=NO_VECTORS).rows
    erased = act.rewritten(rows)
    is_all = isinstance(act, EraseScope)
    gone = [row.fact.text for row in rows if isinstance(row, Learned) and (is_all or row.fact.id in erased.gone)]
    yield from _some("fact", gone[:_MOST], of=len(gone))
    if erased.retold:
        yield f"kept in the words of other sessions that said it too: {counted(len(erased.retold), 'fact')}"


def _session(name: str, act: ErasureRequest, container: Container) -> str:
    episode = container.memory.episodes.get(act.scope, episode_id(act.scope, name))
    return f"{name}: {episode.summary.title if episode else 'without an episode'}"


def _some(noun: str, shown: Sequence[str], *, of: int) -> Iterator[str]:
    if of:
        yield f"{counted(of, noun)}:"
        yield from (f"  {fitted(each, beside=2)}" for each in shown)
        yield from ["  ..."] * (of > len(shown))


def _removed(receipt: ErasureReceipt, container: Container) -> Sequence[str]:
    """Return lines on what is removed, and on older facts that are current again."""
    column = "to_remove" if receipt.is_rehearsal else "removed"
    counts = [{"store": store, column: count} for store, count in receipt.removed.items()]
    lines = [table(counts or [{"store": "none", column: 0}], ("store", column))]
    if count := len(receipt.revived):
        lines.append(f"{counted(count, 'older fact')} {'becomes' if count == 1 else 'become'} current again:")
        with knowledge_of(container, receipt.scope) as knowledge:
            known = [knowledge.get(each) for each in receipt.revived]
        lines += [f"  {each.fact.id}  {fitted(each.fact.text, beside=40)}" for each in known if each]
    return lines


def _print_result(receipt: ErasureReceipt, lines: Sequence[str]) -> None:
    say(f"{_named(receipt)} {'would be' if receipt.is_rehearsal else 'is'} forgotten")
    if receipt.first_at:
        say(f"it was forgotten before, on {receipt.first_at:%Y-%m-%d %H:%M}")
    for line in lines:
        say(line)
    for each in receipt.stays:
        say(f"not removed: {each}")
    if receipt.unreadable:
        say(f"not removed: {receipt.unreadable} stream entries whose session is unknown")


def _named(receipt: ErasureReceipt) -> str:
    where = "" if receipt.name == str(receipt.scope) else f" of {receipt.scope}"
    return f"{receipt.what} {receipt.name}{where}"


def _write(path: Path, otherwise: str, receipt: ErasureReceipt | None = None) -> None:
    """Write *receipt*; without one, check that it can be. A refusal ends in *otherwise*."""
    content = b""
    if receipt:
        fields = {**asdict(receipt), "scope": str(receipt.scope)}
        content = orjson.dumps(fields, option=orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE)
    try:
        with path.open("wb" if receipt else "ab") as file:
            file.write(content)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}{otherwise}") from error
