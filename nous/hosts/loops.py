"""Build the loops that take in what hooks have spooled, and keep notes ready for them."""

from collections.abc import Iterator

from nous.app.container import Container
from nous.app.services import producer_of, watcher
from nous.hosts import hosts
from nous.hosts.drain import SpoolDrain
from nous.hosts.install import Installer
from nous.hosts.notes import NotesRefresher
from nous.hosts.spool import Spool
from nous.services.folder_watch import FolderWatcher, SweepLog

_SPOOL_INTERVAL = 1.0  # seconds; a look at an empty folder takes some microseconds
_NOTES_INTERVAL = 2.0


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


def notes_refresher(container: Container) -> NotesRefresher:
    return NotesRefresher(container, interval=_NOTES_INTERVAL)
