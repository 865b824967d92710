"""`nous forget` erases a session, a fact or a scope, `nous redact` the secrets of a scope."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from uuid import UUID

import click

from nous.app.container import Container
from nous.app.services import embed_missing, eraser, stored_redactor
from nous.cli.framework import App, dry_run_option, json_option, option_of_scope, yes_option
from nous.cli.lookup import elsewhere, knowledge_of, one_of
from nous.cli.output import counted, fitted, make_sure, note, render, say, table
from nous.domain.episode import episode_id
from nous.domain.errors import NotFound
from nous.domain.fact import Learned
from nous.domain.scope import Scope, checked_name
from nous.services.erasure import EraseFact, EraseScope, EraseSession, ErasureReceipt, ErasureRequest
from nous.services.memory import episodes_given, some_of
from nous.services.redaction import RedactionReceipt
from nous.store.base import NO_VECTORS

_MOST = 5  # facts that are listed; further ones are only counted


@click.command()
@click.option("--session", help="Forget the session with this id and the facts that only it said.")
@click.option("--fact", help="Forget the fact with this id or id prefix. It is not learned again in the same words.")
@option_of_scope("Scope of it: project, agent/project or tenant/agent/project. Alone: forget all of it.")
@dry_run_option
@yes_option
@json_option
@click.pass_obj
def forget(
    app: App, *, session: str | None, fact: str | None, scope: Scope | None, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Erase a session, a fact or a scope from every store.

    This cannot be undone, so you see what goes and are asked first. A forgotten session, or one of a forgotten scope,
    can only be published again with nous publish --again. A new session may bring back its facts, except those that you
    forgot with --fact. If this breaks off, run it again. JSON is the receipt.
    """
    if session is not None and fact is not None:
        raise click.UsageError("--session and --fact were both given: forget one, then the other.")
    if session is None and fact is None and scope is None:
        raise click.UsageError("Say what to forget: --session ID, --fact ID, or a --scope alone.")
    container = app.container
    act = _act(container, scope or app.scope, session, fact)
    others = _others_with_that_id(act, container)
    try:
        receipt = eraser(container).rehearse(act)
    except NotFound as error:
        raise NotFound(f"{error}{others or elsewhere(container, act.scope)}") from None
    if others:
        note(f"this is about the session {act.name} alone{others}")
    lines = [] if yes and not dry_run else [*_going(act, container), *_removed(receipt, container)]
    if not dry_run:
        if not yes:
            say("\n".join(lines), err=True)
            make_sure(f"Forget {_named(receipt)} for good?", otherwise="nothing was forgotten")
        receipt = eraser(container).erase(act)
        lines = _removed(receipt, container)
    render({**asdict(receipt), "scope": str(receipt.scope)}, result_lines(receipt, lines), as_json=as_json)


def _act(container: Container, scope: Scope, session: str | None, fact: str | None) -> ErasureRequest:
    if session is not None:
        return EraseSession(scope=scope, name=checked_name(session, "the id of a session"))
    return EraseScope(scope=scope) if fact is None else EraseFact(scope=scope, id=_id_of(fact, container, scope))


def _others_with_that_id(act: ErasureRequest, container: Container) -> str:
    """Say to whose episodes a producer gave the id of the session to forget; empty if to none."""
    given = episodes_given(container.memory, act.name, act.scope) if isinstance(act, EraseSession) else ()
    others = some_of([each.session_id for each in given if each.session_id != act.name])
    return others and f"; its producer gave that id to the episode of another session, which stays: {others}"


def _id_of(name: str, container: Container, scope: Scope) -> UUID:
    """Return the id *name*, maybe of a forgotten fact, or of the one fact that begins with it."""
    try:
        return UUID(name)
    except ValueError:
        with knowledge_of(container, scope) as knowledge:
            return one_of(name, knowledge, container, scope).fact.id


def _going(act: ErasureRequest, container: Container) -> Iterator[str]:
    if isinstance(act, EraseSession):
        known = container.memory.episodes.get(act.scope, episode_id(act.scope, act.name))
        yield f"session {act.name}: {known.summary.title if known else 'without an episode'}"
    rows = container.memory.facts.read(act.scope, embedder=NO_VECTORS).rows
    erased = act.rewritten(rows)
    is_all = isinstance(act, EraseScope)
    gone = [row.fact.text for row in rows if isinstance(row, Learned) and (is_all or row.fact.id in erased.gone)]
    if gone:
        yield f"{counted(len(gone), 'fact')}:"
        yield from (f"  {fitted(each, beside=2)}" for each in gone[:_MOST])
        yield from ["  ..."] * (len(gone) > _MOST)
    if erased.retold:
        yield f"kept in the words of other sessions that said it too: {counted(len(erased.retold), 'fact')}"


def _removed(receipt: ErasureReceipt, container: Container) -> Sequence[str]:
    column = "to_remove" if receipt.is_rehearsal else "removed"
    counts = [{"store": store, column: count} for store, count in receipt.removed.items()]
    lines = [table(counts or [{"store": "none", column: 0}], ("store", column))]
    if count := len(receipt.revived):
        lines.append(f"{counted(count, 'older fact')} {'becomes' if count == 1 else 'become'} current again:")
        with knowledge_of(container, receipt.scope) as knowledge:
            known = [knowledge.get(each) for each in receipt.revived]
        lines += [f"  {each.fact.id}  {fitted(each.fact.text, beside=40)}" for each in known if each]
    return lines


def result_lines(receipt: ErasureReceipt, lines: Sequence[str]) -> Iterator[str]:
    yield f"{_named(receipt)} {'would be' if receipt.is_rehearsal else 'is'} forgotten"
    if receipt.first_at:
        yield f"it was forgotten before, on {receipt.first_at:%Y-%m-%d %H:%M}"
    yield from lines
    yield from (f"not removed: {each}" for each in receipt.stays)
    if receipt.unreadable:
        entries = counted(receipt.unreadable, "stream entry", "stream entries")
        yield f"not removed: {entries} that cannot be read, of an unknown session"


def _named(receipt: ErasureReceipt) -> str:
    where = "" if receipt.name == str(receipt.scope) else f" of {receipt.scope}"
    return f"{receipt.what} {receipt.name}{where}"


@click.command()
@option_of_scope("Scope to redact: project, agent/project or tenant/agent/project.", required=True)
@dry_run_option
@yes_option
@json_option
@click.pass_obj
def redact(app: App, *, scope: Scope, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Redact secrets and private parts that a scope has stored already.

    Use it after an update from a release that kept them. They are replaced in episodes, summaries, summary inputs,
    decisions and facts; cached answers of the model are dropped. Ids and sources stay. Workers may keep running. This
    cannot be undone, so you see what changes and are asked first. If it breaks off, run it again. JSON is the receipt.
    """
    container = app.container
    redactor = stored_redactor(container)
    receipt = redactor.redact(scope, dry_run=dry_run or not yes)
    if receipt.changed and not (dry_run or yes):
        say("\n".join(_redacted(receipt)), err=True)
        make_sure(f"Redact scope {scope} for good?", otherwise="nothing was redacted")
        receipt = redactor.redact(scope)
    if not receipt.looked_at.total():
        raise NotFound(f"there is no scope {scope}, nor anything of it{elsewhere(container, scope)}")
    record = {each.name: getattr(receipt, each.name) for each in fields(receipt)}  # `asdict` breaks counters
    render({**record, "scope": str(scope)}, _redacted(receipt), as_json=as_json)
    if not dry_run and any(queued := embed_missing(container, scope)):
        facts, episodes = queued
        note(f"queued for new vectors: {counted(facts, 'fact')}, {counted(episodes, 'episode')}")


def _redacted(receipt: RedactionReceipt) -> Iterator[str]:
    verdict = "would be redacted" if receipt.is_rehearsal else "is redacted"
    yield f"scope {receipt.scope} {verdict if receipt.changed else 'has nothing to redact'}"
    rows = [{"store": each, "looked_at": n, "changed": receipt.changed[each]} for each, n in receipt.looked_at.items()]
    yield table(rows, ("store", "looked_at", "changed"))
    if receipt.secrets:
        yield table([{"rule": rule, "found": n} for rule, n in sorted(receipt.secrets.items())], ("rule", "found"))
    yield "left: uploads, which workers redact when they read them"
    yield "left: stream entries, which are trimmed after retention.events, or with their sessions: nous forget"
    if not receipt.is_off_disk:
        yield "left: what the server's files still hold; have the operator run BGREWRITEAOF and BGSAVE"
