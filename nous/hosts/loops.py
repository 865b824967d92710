"""Loops beside the workers: take in what hooks spooled, sweep sessions, keep notes ready."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import ClassVar

from typing_extensions import override

from nous.app.container import Container
from nous.app.services import producer_of, watcher
from nous.backoff import PeriodicTask
from nous.context.notes import block
from nous.domain.scope import Scope
from nous.hosts import hosts
from nous.hosts.base import LONGEST_NOTES
from nous.hosts.drain import SpoolDrain
from nous.hosts.install import Installer
from nous.hosts.spool import Spool
from nous.services.folder_watch import FolderWatcher, SweepLog
from nous.services.memory import context_notes
from nous.services.workspace import NotesFolder
from nous.store.fact_cache import Memory

_SPOOL_INTERVAL = 1.0  # seconds; a look at an empty folder takes some microseconds


def spool_of(container: Container) -> Spool:
    return Spool(container.settings.data_dir / "spool")


def spool_drain(container: Container) -> SpoolDrain:
    """Return the loop that publishes what hooks have spooled; `drain` does so once."""
    return SpoolDrain(
        spool_of(container),
        producer=producer_of(container),
        scopes=container.session_scopes,
        hosts=hosts(),
        interval=_SPOOL_INTERVAL,
    )


def session_sweepers(container: Container, installer: Installer) -> Iterator[FolderWatcher]:
    """Yield a sweep of the sessions of each host that has the hook.

    An agent that is killed runs no hook. Sessions from before the installation are left alone.
    """
    for host in hosts().values():
        folder, installed_at = host.folder / host.sessions, installer.installed_at(host)
        if installed_at is None or not host.sessions or not folder.is_dir():
            continue
        yield watcher(container, [folder], told=SweepLog(), after=installed_at)


NOTES_INTERVAL = 2.0  # seconds
_EVERY = 30  # intervals after which notes are rendered even if no worker has committed: a fact was merged by hand, say
_GOES_ON = timedelta(days=2)  # after a compaction; a session that goes on later starts with the notes of its scope

Notes = Mapping[str, str]
"""Notes by the id of the session that they are for; the empty id stands for any session."""


def session_notes(memory: Memory, scope: Scope, now: datetime) -> Notes:
    """Render the notes of a scope, and those of each session in it that was compacted.

    These begin with the anchored summary of the session.
    """
    notes, _ = context_notes(memory, "", scope)
    rendered = {"": block(notes, budget=LONGEST_NOTES)}
    for anchor in memory.anchored_summaries.of_scope(scope):
        if now - anchor.at < _GOES_ON and anchor.session_id.replace("-", "").replace("_", "").isalnum():
            rendered[anchor.session_id] = block(replace(notes, anchor=anchor), budget=LONGEST_NOTES)
    return {session: text for session, text in rendered.items() if text}


@dataclass(eq=False)
class NotesRefresher(PeriodicTask):
    """Renders the notes of each known workspace again after workers have committed."""

    name: ClassVar[str] = "notes_refresher"

    container: Container
    _seen: object = field(init=False, default=None)
    _age: int = field(init=False, default=0)
    _written: dict[Scope, Notes] = field(init=False, default_factory=dict[Scope, Notes])

    @override
    def run_once(self) -> float:
        folder = NotesFolder(self.container.settings.data_dir / "context")
        scopes = set(folder.roots().values())
        now = [self.container.delivery_stats.counters(each) for each in self.container.subscriptions]
        self._age += 1
        if now != self._seen or self._age >= _EVERY:
            self._age, stale = 0, scopes
        else:
            stale = scopes - self._written.keys()
        for scope in stale:
            notes = session_notes(self.container.memory, scope, self.container.clock())
            if notes != self._written.get(scope):
                folder.put(scope, _printed(notes))
                self._written[scope] = notes
        self._seen = now
        return self.interval


def _printed(notes: Notes) -> Mapping[str, bytes]:
    return {
        ".".join(filter(None, (session, host.name))): host.printed(text)
        for host in hosts().values()
        for session, text in notes.items()
    }
